"""Under a policy with a gate: which updates each start of a computation lacked, made again from the trace.

A computation's updates are known from ``start_values``, entry by entry; when they were made, and as what the
shards applied them, from ``updates``. So for every entry that a start read there is a set of computations of
others whose updates its copy does not have, and of these some had made theirs by then.

Where the trace leaves open whether an update is in a set (a computation with several INCs of which the copy
has, or of which there were, some but not all) the entry is left out.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.auditing.groups import SortedGroups
from pskit.auditing.history import NEVER
from pskit.trace.starts import entries

if TYPE_CHECKING:
    from pskit.auditing.case import Case

Array = npt.NDArray[Any]


class Lacking(NamedTuple):
    """What some entries that starts read lacked.

    Attributes
    ----------
    line : (n,) int64
        Lines of ``start_values``, those of which the trace tells it.
    total : (n,) float64
        Sum over the others.
    largest : (n,) float64
        Largest magnitude of a single producer's sum.
    scale : (n,) float64
        Sum of the magnitudes that were added up.
    """

    line: Array
    total: Array
    largest: Array
    scale: Array


class Transit:
    """What each start had not got.

    Parameters
    ----------
    case : Case
        Of a policy with a gate, no client of which died.
    """

    def __init__(self, case: "Case") -> None:
        self._case = case
        s, e = case.columns["starts"], case.columns["start_values"]
        self._by_worker = SortedGroups(s["worker"], s["t"], case.workers)
        order = self._by_worker.order
        self._rank = np.empty(len(order), np.int64)  # of each start among those of its worker
        self._rank[order] = np.arange(len(order)) - self._by_worker.start[self._by_worker.group]
        self._entry = np.unique(entries(dict(e), case.layout), return_inverse=True)[1]
        self._width = int(self._rank.max(initial=-1)) + 2
        key = self._key(self._entry, s["worker"][e["t"] - 1], self._rank[e["t"] - 1])
        self._order = np.argsort(key, kind="stable")
        self._sorted, self._update = key[self._order], e["update"][self._order]
        self._spans()
        self._copies()

    def _key(self, entry: Array, worker: Array | int, rank: Array) -> Array:
        key: Array = (entry * self._case.workers + worker) * self._width + rank
        return key

    def _spans(self) -> None:
        """First and last apply index, and times of sending, of each computation on each shard.

        By shard, and start by worker and t. What adds nothing does not count.
        """
        case, u = self._case, self._case.updates
        s, groups = case.columns["starts"], self._by_worker
        units = np.flatnonzero(u["linf"] != 0)
        shard, worker = u["shard"][units].astype(np.int64), u["worker"][units]
        numbers = SortedGroups(s["worker"], s["seq"], case.workers)
        place = numbers.first(worker, u["seq"][units], after=True) - 1
        known = place >= numbers.start[worker]
        units, shard, place = units[known], shard[known], place[known]
        shape = case.shards, len(s["t"])
        self._first, self._last = np.full(shape, NEVER), np.full(shape, -1)
        self._made_first, self._made_last = np.full(shape, NEVER), np.full(shape, -1)
        for name, least, most in (
            ("apply_index", self._first, self._last),
            ("t_sent", self._made_first, self._made_last),
        ):
            np.minimum.at(least, (shard, place), u[name][units])
            np.maximum.at(most, (shard, place), u[name][units])
        if not case.ended:  # more of the newest one there, and all of those after it, may have been under way
            begun = s["t_start"][groups.order]
            for j in range(case.shards):
                under_way = np.zeros(len(begun), np.bool_)
                for a, b in zip(groups.start, groups.start[1:], strict=False):
                    newest = np.flatnonzero(self._last[j, a:b] >= 0)[-1:].sum()
                    under_way[a + newest : b] = True
                self._last[j, under_way] = self._made_last[j, under_way] = NEVER
                self._made_first[j, under_way] = np.minimum(self._made_first[j], begun)[under_way]
        for a, b in zip(groups.start, groups.start[1:], strict=False):
            for most in (self._last, self._made_last):
                np.maximum.accumulate(most[:, a:b], axis=1, out=most[:, a:b])
            for least in (self._first, self._made_first):
                least[:, a:b] = np.minimum.accumulate(least[:, a:b][:, ::-1], axis=1)[:, ::-1]

    def _copies(self) -> None:
        """Lines of ``start_values`` with a value that was read, and the read that it belongs to."""
        case, r = self._case, self._case.reads
        s, e = case.columns["starts"], case.columns["start_values"]
        rows = case.layout.n_rows
        number = (r["own_upto"].astype(np.int64) - 1) * rows + case.read_rows
        reads = SortedGroups(r["worker"], number, case.workers)
        line = np.flatnonzero(~np.isnan(e["view"]))
        start = e["t"][line].astype(np.int64) - 1
        wanted = s["seq"][start] * rows + case.layout.offsets[e["table"][line]] + e["row"][line]
        place = reads.first(s["worker"][start], wanted)
        there = place < reads.start[s["worker"][start] + 1]
        place = np.where(there, place, 0)
        there &= reads.value[place] == wanted if len(reads.value) else False
        self._line, self._start = line[there], start[there]
        self._read = reads.order[place[there]]

    def unmade(self) -> Lacking:
        """All updates of computations that began before, and that the copies lack: made by then or not."""
        t = self._case.columns["start_values"]["t"][self._line]

        def began(worker: int, shard: Array, seen: Array) -> tuple[Array, Array]:
            number = self._by_worker.first(np.full(len(t), worker), t) - self._by_worker.start[worker]
            return number, np.ones(len(t), np.bool_)

        return self._lacking(began)

    def unseen(self, ties: bool) -> Lacking:
        """Those of them that were made by then, with those of the very moment of the start if ``ties``."""
        s, start = self._case.columns["starts"], self._start
        now = s["t_start"][start]

        def made(worker: int, shard: Array, seen: Array) -> tuple[Array, Array]:
            whole, begun = (
                self._count(bounds, worker, shard, now, ties)
                for bounds in (self._made_last, self._made_first)
            )
            number = np.maximum(whole, seen)
            return number, begun <= number

        return self._lacking(made)

    def tied(self) -> Array:
        """At how many others' updates of its very moment each start was: (starts,) int64."""
        s, u = self._case.columns["starts"], self._case.updates
        units = np.unique(np.stack([u["t_sent"], u["worker"]])[:, u["linf"] != 0], axis=1)
        at = np.searchsorted(units[0], [s["t_start"], s["t_start"] + 1])
        pairs = {tuple(pair) for pair in units.T.tolist()}
        starts = zip(s["t_start"].tolist(), s["worker"].tolist(), strict=True)
        number: Array = at[1] - at[0] - np.array([pair in pairs for pair in starts], np.int64)
        return number

    def _lacking(self, upto: Callable[[int, Array, Array], tuple[Array, Array]]) -> Lacking:
        """Of the updates of each producer up to a number of its computations; and whether that is known."""
        s, r, line, start = self._case.columns["starts"], self._case.reads, self._line, self._start
        shard, version = r["shard"][self._read].astype(np.int64), r["version"][self._read]
        clear = np.ones(len(line), np.bool_)
        total, largest, scale = np.zeros((3, len(line)))
        for worker in range(self._case.workers):
            other = s["worker"][start] != worker
            seen = self._count(self._last, worker, shard, version, False)
            whole = self._count(self._first, worker, shard, version, False) <= seen
            number, known = upto(worker, shard, seen)
            clear &= ~other | (whole & known)
            number = np.where(other & clear, number, seen)  # of these alone the sum is asked for
            begin, end = (self._key(self._entry[line], worker, k) for k in (seen, number))
            sums, size = self._sums(begin, end)
            total += sums
            scale += size
            largest = np.maximum(largest, np.abs(sums))
        return Lacking(line[clear], total[clear], largest[clear], scale[clear])

    def _count(self, bounds: Array, worker: int, shard: Array, value: Array, inclusive: bool) -> Array:
        """How many computations of ``worker`` have a bound below ``value`` (n,), or not above it: (n,)."""
        a, b = self._by_worker.start[worker : worker + 2]
        count = np.zeros(len(shard), np.int64)
        for j in range(self._case.shards):
            here = shard == j
            mine: Array = bounds[j, a:b]
            count[here] = np.searchsorted(mine, value[here], side="right" if inclusive else "left")
        return count

    def _sums(self, begin: Array, end: Array) -> tuple[Array, Array]:
        """Sums of the updates with keys from ``begin`` up to, but excluding, ``end``, and of magnitudes."""
        first, upto = np.searchsorted(self._sorted, begin), np.searchsorted(self._sorted, end)
        size = np.maximum(upto - first, 0)
        owner = np.repeat(np.arange(len(size)), size)
        values = self._update[np.arange(len(owner)) - np.repeat(np.cumsum(size) - size - first, size)]
        sums, magnitudes = (np.bincount(owner, v, minlength=len(size)) for v in (values, np.abs(values)))
        return sums, magnitudes

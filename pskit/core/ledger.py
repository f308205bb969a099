"""What the workers did and what the shards applied, kept apart from the machines for the invariants."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, NoReturn

from pskit.core.layout import Layout, RowIds
from pskit.core.messages import Applied, Values


class InvariantBroken(AssertionError):
    """An invariant does not hold: names it, and what contradicts it."""


def broken(invariant: str, against: str) -> NoReturn:
    """Raise `InvariantBroken`; called only then, since to write ``against`` takes longer than to check."""
    raise InvariantBroken(f"{invariant}: {against}")


class Version(NamedTuple):
    """Value of a row once the first ``upto`` oplogs of its shard are applied."""

    upto: int
    value: Values


class Ledger:
    """What was done: update units by worker, and the order in which each shard applied them.

    Parameters
    ----------
    layout : Layout
    initial : mapping of str to (rows, cols) arrays
    workers : iterable of int

    Attributes
    ----------
    units : dict of int to list of dict
        By worker and sequence number, the sum of the INCs by global row; the last one is open.
    left : set of int
        Workers that have called leave(): all their units are closed.
    order : list of list of int
        By shard, the worker whose oplog was applied as number 0, 1, ...
    """

    def __init__(self, layout: Layout, initial: Mapping[str, Values], workers: Iterable[int]) -> None:
        self.layout = layout
        self.initial = {name: values.copy() for name, values in initial.items()}
        self.units: dict[int, list[dict[int, Values]]] = {w: [{}] for w in workers}
        self.left: set[int] = set()
        self.order: list[list[int]] = [[] for _ in range(layout.shards)]
        self._history = [
            [Version(0, row.copy())] for t in layout.tables for row in self.initial[t.name]
        ]  # by global row; only the versions that differ

    def inc(self, worker: int, rows: RowIds, delta: Values) -> None:
        """``worker`` added ``delta`` (n, cols) to the global ``rows`` (n,) of one table."""
        unit = self.units[worker][-1]
        for row, values in zip(rows.tolist(), delta, strict=True):
            unit[row] = unit[row] + values if row in unit else values.copy()

    def close(self, worker: int, leaving: bool = False) -> None:
        """``worker`` called clock() or leave()."""
        self.units[worker].append({})
        if leaving:
            self.left.add(worker)

    def apply(self, applied: Applied) -> None:
        """A shard applied an oplog; `exactly_once_in_order` must have been checked."""
        self.order[applied.shard].append(applied.oplog.worker)
        for part in applied.oplog.parts:
            for row, delta in zip(part.rows.tolist(), part.delta, strict=True):
                versions = self._history[row]
                versions.append(Version(applied.apply_index + 1, versions[-1].value + delta))

    def included(self, shard: int, version: int) -> Counter[int]:
        """Units of each worker among the first ``version`` oplogs of ``shard``."""
        return Counter(self.order[shard][:version])

    def value(self, row: int, version: int) -> Values:
        """Value (cols,) of a global row after the first ``version`` oplogs of its shard."""
        versions = self._history[row]
        return versions[bisect_left(versions, version + 1, key=lambda v: v.upto) - 1].value

    def total(self, worker: int) -> int | None:
        """Number of units the worker ever makes, or None while it may make more."""
        return len(self.units[worker]) - 1 if worker in self.left else None

    def holds_all_before(self, k: int, included: Counter[int]) -> list[str]:
        """Workers of whom ``included`` lacks an update with tag < ``k``, as readable lines."""
        bad = []
        for worker in self.units:
            total = self.total(worker)
            needed = k if total is None else min(k, total)
            if included[worker] < needed:
                bad.append(f"{included[worker]} of the {needed} units of worker {worker} are in")
        return bad


class ByIncrement(Ledger):
    """The same where every INC is a unit of its own, and so is every tick, which has no rows (VAP).

    ``included[w]`` of a copy is the number of the worker's newest unit in it, plus 1: a shard gets no unit
    without a row of its own but ticks.

    Attributes
    ----------
    tags : dict of int to list of int
        By worker and unit, the clock in which it was made; of closed units.
    """

    def __init__(self, layout: Layout, initial: Mapping[str, Values], workers: Iterable[int]) -> None:
        super().__init__(layout, initial, workers)
        self.tags: dict[int, list[int]] = {w: [] for w in self.units}
        self._clock = dict.fromkeys(self.units, 0)
        self._numbers: list[list[int]] = [[] for _ in range(layout.shards)]

    def inc(self, worker: int, rows: RowIds, delta: Values) -> None:
        super().inc(worker, rows, delta)
        self._close(worker)

    def close(self, worker: int, leaving: bool = False) -> None:
        self._close(worker)
        self._clock[worker] += 1
        if leaving:
            self.left.add(worker)

    def _close(self, worker: int) -> None:
        self.units[worker].append({})
        self.tags[worker].append(self._clock[worker])

    def apply(self, applied: Applied) -> None:
        super().apply(applied)
        self._numbers[applied.shard].append(applied.oplog.seq)

    def included(self, shard: int, version: int) -> Counter[int]:
        newest = zip(self.order[shard][:version], self._numbers[shard], strict=False)
        return Counter({worker: number + 1 for worker, number in newest})

    def tag(self, worker: int, unit: int) -> int | None:
        """Clock in which a unit was made, or None while it is open."""
        tags = self.tags[worker]
        return tags[unit] if unit < len(tags) else None

    def travels(self, worker: int, unit: int, shard: int) -> bool:
        """Whether a closed unit goes to ``shard``."""
        rows = self.units[worker][unit]
        return not rows or any(row % self.layout.shards == shard for row in rows)

    def holds_all_before(self, k: int, included: Counter[int]) -> list[str]:
        bad = []
        for worker, tags in self.tags.items():
            needed = bisect_left(tags, k)
            short = self.total(worker) is None and k > len(tags) - sum(map(bool, self.units[worker]))
            if included[worker] < needed or short:
                said = f"{included[worker]} of the {needed} units below clock {k} of worker {worker} are in"
                bad.append(said)
        return bad

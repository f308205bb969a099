"""What each shard applied, and in which order: the included updates of every version of every row.

A row at *version* v contains the updates that its shard applied as number 0 .. v - 1, no others. Sets of
updates are never built: what a version lacks or has follows from where it stands among a few ascending
numbers.
"""

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.auditing.groups import SortedGroups
from pskit.trace.schema import Columns

Array = npt.NDArray[Any]
NEVER = np.iinfo(np.int64).max


class History:
    """The order of all updates.

    Unit ``u`` of a worker is what it sent at its clock() number ``u``, or on leaving; its tag is the clock
    ``u``. One oplog per shard carries it.

    Parameters
    ----------
    updates, members : mapping of str to array
        Columns; every shard's apply indices 0, 1, 2, ..., every worker's units 0, 1, 2, ... on each shard.
    workers, shards : int
    tick : (n,) bool, optional
        Which updates end a clock; by default all of them, as they leave at clock().

    Attributes
    ----------
    count : (shards,) int64
        Oplogs that each shard applied.
    start : (shards + 1,) int64
        Shard ``j`` has the places ``start[j] .. start[j + 1] - 1`` of what is ordered by application.
    order : (n,) int64
        Line of ``updates`` by shard and apply index.
    t_applied : (n,) int64, ns
        In that order.
    units : (shards, workers) int64
        Oplogs of each worker that each shard applied.
    ticks : (shards, workers) int64
        Those among them that end a clock.
    left : (shards, workers) bool
        Whether the worker has left the shard by the end of the trace.
    needed : (shards, k) int64
        Lowest version of the shard's rows that contains every update with a tag below ``k``.
    below : (shards, k) int64
        Number of updates with a tag below ``k``.
    """

    def __init__(
        self, updates: Columns, members: Columns, workers: int, shards: int, tick: Array | None = None
    ) -> None:
        tick = np.ones(len(updates["shard"]), np.bool_) if tick is None else tick
        self._updates, self.workers, self.shards = updates, workers, shards
        by_shard = SortedGroups(updates["shard"], updates["apply_index"], shards)
        self.order, self.start = by_shard.order, by_shard.start
        self.count: Array = np.diff(self.start)
        self.t_applied = updates["t_applied"][self.order]
        owner = updates["shard"].astype(np.int64) * workers + updates["worker"]
        self.by_owner = SortedGroups(owner, updates["apply_index"], shards * workers)
        self.units = np.diff(self.by_owner.start).reshape(shards, workers)
        self.ticks = np.bincount(owner[tick], minlength=shards * workers).reshape(shards, workers)
        self._tick = tick[self.order]
        self.left = np.zeros((shards, workers), np.bool_)
        self.left[members["shard"], members["worker"]] = True
        self._members = members
        self._count_by_tag()
        self._row_clocks()

    def _count_by_tag(self) -> None:
        shard, tag, index = (self._updates[name] for name in ("shard", "clock", "apply_index"))
        width = int(tag.max(initial=-1)) + 3
        self.needed = np.zeros((self.shards, width), np.int64)
        np.maximum.at(self.needed, (shard, tag + 1), index + 1)
        np.maximum.accumulate(self.needed, axis=1, out=self.needed)
        # Of a worker that is still there more updates may come: no version has them.
        still_there = np.where(self.left, NEVER, self.ticks).min(axis=1)
        self.needed[np.arange(width) > still_there[:, None]] = NEVER
        counts = np.bincount(shard.astype(np.int64) * width + tag + 1, minlength=self.shards * width)
        self.below: Array = np.cumsum(counts.reshape(self.shards, width), axis=1)

    def _row_clocks(self) -> None:
        clock, leaving = [], []
        tag, worker = self._updates["clock"][self.order].astype(np.int64), self._updates["worker"][self.order]
        for j in range(self.shards):
            a, b = self.start[j], self.start[j + 1]
            clock.append(np.searchsorted(self.needed[j], np.arange(b - a + 1), side="right") - 1)
            last = self.left[j, worker[a:b]] & (tag[a:b] + 1 == self.ticks[j, worker[a:b]]) & self._tick[a:b]
            leaving.append(np.concatenate([[NEVER], np.where(last, tag[a:b] + 1, NEVER)]))
        self._row_clock: Array = np.concatenate(clock)
        self._leaving: Array = np.concatenate(leaving)
        self._held_by_the_dead()

    def _held_by_the_dead(self) -> None:
        """A worker that died held the shard's clock at its own until it was taken out."""
        m = self._members
        for i in np.flatnonzero(m["event"] == "lost").tolist():
            j, upto = m["shard"][i], int(m["apply_index"][i])
            units = self.ticks[j, m["worker"][i]]
            first = self.start[j] + j
            before = slice(first, first + upto)
            self._row_clock[before] = np.minimum(self._row_clock[before], units)
            at_once = first + min(upto, int(self.count[j]))
            self._leaving[at_once] = min(self._leaving[at_once], units)

    def lowest_version(self, shard: Array, k: Array) -> Array:
        """Lowest version of rows of ``shard`` (n,) with every update tagged below ``k`` (n,): (n,) int64."""
        lowest: Array = self.needed[shard, np.clip(k, 0, self.needed.shape[1] - 1)]
        return lowest

    def number_below(self, shard: Array, k: Array) -> Array:
        """How many updates with a tag below ``k`` (n,) ``shard`` (n,) applied: (n,) int64."""
        number: Array = self.below[shard, np.clip(k, 0, self.below.shape[1] - 1)]
        return number

    def row_clock(self, shard: Array, version: Array) -> Array:
        """Largest k such that all updates with a tag below k are in ``version`` (n,) of ``shard`` (n,).

        With the updates of every worker in, the workers gone, it is beyond every tag.
        """
        clock: Array = self._row_clock[self.start[shard] + shard + version]
        return clock

    def row_clock_with_leaver(self, shard: Array, version: Array) -> Array:
        """The same for the moment at which a leaver's last update is in and the leaver not yet taken out.

        Copies may be sent at that moment too. Where the newest update in ``version`` is not the last one of
        a worker that leaves, it is `row_clock`.
        """
        leaver = self._leaving[self.start[shard] + shard + version]
        clock: Array = np.minimum(self.row_clock(shard, version), leaver)
        return clock

    def included(self, shard: Array, version: Array, worker: Array) -> Array:
        """How many units of ``worker`` (n,) are in ``version`` (n,) of rows of ``shard`` (n,): (n,) int64."""
        return self.by_owner.count(np.asarray(shard, np.int64) * self.workers + worker, version)

    def newest(self, shard: Array, version: Array, worker: Array) -> Array:
        """Number of the newest unit of ``worker`` (n,) in ``version`` (n,) of ``shard`` (n,), plus 1: (n,).

        Where every unit goes to every shard it is how many are in.
        """
        owner = np.asarray(shard, np.int64) * self.workers + worker
        place = self.by_owner.first(owner, version)
        some = place > self.by_owner.start[owner]
        line = self.by_owner.order[np.where(some, place - 1, 0)] if len(self.order) else place
        number: Array = np.where(some, self._updates["seq"][line] + 1 if len(self.order) else 0, 0)
        return number

    def numbered_below(self, shard: Array, worker: Array, number: Array) -> Array:
        """How many units of ``worker`` (n,) with a number below ``number`` (n,) ``shard`` (n,) applied."""
        return self._by_number.count(np.asarray(shard, np.int64) * self.workers + worker, number)

    @cached_property
    def _by_number(self) -> SortedGroups:
        """Numbers of the units by shard and worker."""
        owners = self.by_owner
        return SortedGroups(owners.group, self._updates["seq"][owners.order], self.shards * self.workers)

    def applied_at(self, shard: Array, index: Array) -> Array:
        """When ``shard`` (n,) applied its number ``index`` (n,); long ago if negative, NEVER if beyond."""
        if not len(self.t_applied):
            return np.where(np.asarray(index) < 0, np.int64(-1), NEVER)
        place = np.clip(self.start[shard] + index, 0, len(self.t_applied) - 1)
        when: Array = np.where(index < self.count[shard], self.t_applied[place], NEVER)
        return np.where(np.asarray(index) < 0, np.int64(-1), when)

    def line_of_unit(self, shard: int, worker: int, unit: int) -> int | None:
        """Line of ``updates`` with this unit of a worker, None where the shard never applied it."""
        group = shard * self.workers + worker
        place = self.by_owner.start[group] + unit
        return int(self.by_owner.order[place]) if place < self.by_owner.start[group + 1] else None

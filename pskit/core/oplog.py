"""Own updates of one worker: the open unit of the current clock, and the units already sent.

Updates belong to a worker, not to its client. INC adds to the open unit at once; `close` at clock()
numbers it and hands it out for sending. A view is a server copy plus the worker's units that the copy
does not contain, re-added one by one in order (pre-summed they would differ in the last bit).
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pskit.core import kernels
from pskit.core.layout import Layout, RowIds
from pskit.core.messages import Part, Values

SHORT = 1024
"""Entries below which a log is not worth tidying."""


class TableLog:
    """Units of one worker for one table, in one growing buffer.

    Unit ``u`` has ascending global rows ``rows[start[u]:start[u + 1]]`` and their sums. The last unit is
    the open one while ``open`` holds its sequence number.
    """

    __slots__ = ("delta", "n_units", "rows", "seq", "start")

    def __init__(self, cols: int, dtype: "np.dtype[np.generic]") -> None:
        self.rows: RowIds = np.empty(64, np.int32)
        self.delta: Values = np.empty((64, cols), dtype)
        self.start = np.zeros(9, np.int64)
        self.seq = np.zeros(8, np.int64)
        self.n_units = 0

    @property
    def used(self) -> int:
        """Number of entries in all units."""
        return int(self.start[self.n_units])

    def add(self, seq: int, rows: RowIds, delta: Values) -> None:
        """Add ``delta`` (n, cols) for ascending ``rows`` (n,) to the unit ``seq``, the newest one."""
        n = self.n_units
        if n and self.seq[n - 1] == seq:
            a, b = int(self.start[n - 1]), int(self.start[n])
            if kernels.add_coalesced(self.rows[a:b], self.delta[a:b], rows, delta) == 0:
                return
            merged = np.union1d(self.rows[a:b], rows).astype(np.int32)
            sums = np.zeros((len(merged), self.delta.shape[1]), self.delta.dtype)
            sums[np.searchsorted(merged, self.rows[a:b])] = self.delta[a:b]
            kernels.add_coalesced(merged, sums, rows, delta)
            self.n_units = n - 1
            rows, delta = merged, sums
        self._append(seq, rows, delta)

    def _append(self, seq: int, rows: RowIds, delta: Values) -> None:
        n = self.n_units
        a = int(self.start[n])
        b = a + len(rows)
        if b > len(self.rows):
            size = max(2 * len(self.rows), b)
            self.rows = np.resize(self.rows, size)
            grown = np.empty((size, self.delta.shape[1]), self.delta.dtype)
            grown[:a] = self.delta[:a]
            self.delta = grown
        if n == len(self.seq):
            self.seq = np.resize(self.seq, 2 * n)
            self.start = np.resize(self.start, 2 * n + 1)
        self.rows[a:b] = rows
        self.delta[a:b] = delta
        self.seq[n] = seq
        self.start[n + 1] = b
        self.n_units = n + 1

    def newest(self, seq: int) -> tuple[RowIds, Values] | None:
        """Copies of the rows and sums of unit ``seq`` if it is the newest one."""
        n = self.n_units
        if not n or self.seq[n - 1] != seq:
            return None
        a, b = int(self.start[n - 1]), int(self.start[n])
        return self.rows[a:b].copy(), self.delta[a:b].copy()

    def drop(self, contained: Callable[[RowIds, npt.NDArray[np.int64]], npt.NDArray[np.bool_]]) -> None:
        """Forget the entries that ``contained(rows, seq)`` says no view will ever need again."""
        n, used = self.n_units, self.used
        seq = np.repeat(self.seq[:n], np.diff(self.start[: n + 1]))
        keep = ~contained(self.rows[:used], seq)
        counts = np.add.reduceat(keep, self.start[:n], dtype=np.int64) if n else np.zeros(0, np.int64)
        kept = np.flatnonzero(keep)
        for a in range(0, len(kept), SHORT):  # in pieces, as fresh memory for all costs more than copying
            some = kept[a : a + SHORT]  # none of which was written over so far, as kept[i] >= i
            self.rows[a : a + len(some)] = self.rows[some]
            self.delta[a : a + len(some)] = self.delta[some]
        units = np.flatnonzero(counts)
        self.n_units = len(units)
        self.seq[: len(units)] = self.seq[units]
        self.start[1 : len(units) + 1] = np.cumsum(counts[units])


class UpdateLog:
    """Own updates of one worker over all tables of ``layout``."""

    __slots__ = ("_limit", "layout", "seq", "tables")

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.tables = [TableLog(t.cols, d) for t, d in zip(layout.tables, layout.dtypes, strict=True)]
        self.seq = 0  # number of the open unit
        self._limit = SHORT

    def inc(self, table: int, rows: RowIds, delta: Values) -> None:
        """Add to the open unit: ascending global ``rows`` (n,) of ``table``, ``delta`` (n, cols)."""
        self.tables[table].add(self.seq, rows, delta)

    def close(self) -> dict[int, tuple[Part, ...]]:
        """End the open unit: its parts, in table order, for each shard that has any."""
        layout = self.layout
        shards: dict[int, tuple[Part, ...]] = {}
        for i, log in enumerate(self.tables):
            unit = log.newest(self.seq)
            if unit is None:
                continue
            rows, delta = unit
            if layout.shards == 1:
                shards[0] = (*shards.get(0, ()), Part(i, rows, delta))
                continue
            owner = rows % layout.shards
            order = np.argsort(owner, kind="stable")
            rows, delta, owner = rows[order], delta[order], owner[order]
            cuts = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(owner)]
            for a, b in pairwise(cuts):
                j = int(owner[a])
                shards[j] = (*shards.get(j, ()), Part(i, rows[a:b], delta[a:b]))
        self.seq += 1
        return shards

    @property
    def long(self) -> bool:
        """Whether it is time to `drop` what the copies contain: at four times what was left the last time."""
        return sum(int(t.start[t.n_units]) for t in self.tables) > self._limit

    def drop(self, contained: Callable[[RowIds, npt.NDArray[np.int64]], npt.NDArray[np.bool_]]) -> None:
        """Forget entries that no view needs any more, see `TableLog.drop`."""
        for log in self.tables:
            log.drop(contained)
        self._limit = max(SHORT, 4 * sum(t.used for t in self.tables))

    def add_to(self, table: int, view: Values, rows: RowIds, own_from: npt.NDArray[np.int32]) -> None:
        """Re-add to ``view`` (n, cols) of ascending ``rows`` (n,) each unit from ``own_from`` (n,) on."""
        log = self.tables[table]
        if log.n_units:
            kernels.add_own(view, rows, own_from, log.start, log.seq, log.n_units, log.rows, log.delta)

    def entries(self) -> Sequence[tuple[int, int, Values]]:
        """All ``(row, seq, delta)`` kept, for checks."""
        out = []
        for log in self.tables:
            for u in range(log.n_units):
                for i in range(int(log.start[u]), int(log.start[u + 1])):
                    out.append((int(log.rows[i]), int(log.seq[u]), log.delta[i]))
        return out

"""Row values: pools of immutable row versions, shared by reference.

A pool is one (capacity, cols) array and a stack of free slots. A slot that was handed out (by a reply
or a push) is never written again: the server copies a row to a fresh slot before its next change. A
client's cache is therefore only a slot number per row, and a push to 64 subscribers copies nothing.

Nobody counts references. The owner of the pools says, between two events, which slots are alive
(`RowPools.collect`); the rest become free.

Where the values lie is the affair of a `Room`: by default in memory of the pool's own.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from pskit.core.layout import Layout, RowIds
from pskit.core.messages import Slots, Values

Room = Callable[[int], Values | None]
"""Memory for one pool: asked for (capacity, cols) values, of which those given before are the first. None: it
has no more, and the pool goes on in memory of its own."""
SPARE_SLOTS = 64
"""Slots of a new pool beyond two for each row."""
MOST_SLOTS = 2**31 - 1
"""Slots are numbered by int32."""


def _numbered(capacity: int) -> int:
    if capacity > MOST_SLOTS:
        raise MemoryError(f"{capacity} versions of rows of one table: at most {MOST_SLOTS} can be told apart")
    return capacity


def first_slots(rows: int) -> int:
    """Slots that a pool begins with, for a table of ``rows``."""
    return 2 * rows + SPARE_SLOTS


class RowPool:
    """Versions of the rows of one table.

    Parameters
    ----------
    cols : int
    dtype : numpy dtype
    capacity : int
        Slots at the start; grows by doubling.
    room : Room, optional
    """

    __slots__ = ("_room", "crowded", "free", "n_free", "values")

    def __init__(
        self, cols: int, dtype: "np.dtype[np.generic]", capacity: int, room: Room | None = None
    ) -> None:
        values = room(_numbered(capacity)) if room is not None else None
        self._room = None if values is None else room
        self.values: Values = np.zeros((_numbered(capacity), cols), dtype) if values is None else values
        self.free = np.arange(capacity - 1, -1, -1, dtype=np.int32)
        self.n_free = capacity
        self.crowded = False

    @property
    def capacity(self) -> int:
        """Number of slots, free or not."""
        return len(self.values)

    def reserve(self, n: int) -> None:
        """Make at least ``n`` slots free, by growing if need be; below an eighth asks for `collect`."""
        if self.n_free < n:
            self._grow(max(self.capacity, n))
        if 8 * (self.n_free - n) < self.capacity:
            self.crowded = True

    def _grow(self, more: int) -> None:
        old = self.capacity
        values = self._room(_numbered(old + more)) if self._room is not None else None
        if values is None:
            self._room = None
            values = np.zeros((_numbered(old + more), self.values.shape[1]), self.values.dtype)
            values[:old] = self.values
        free = np.empty(old + more, np.int32)
        free[:more] = np.arange(old + more - 1, old - 1, -1)  # the new slots lie below the old free ones
        free[more : more + self.n_free] = self.free[: self.n_free]
        self.values, self.free = values, free
        self.n_free += more

    def take(self, n: int) -> Slots:
        """Hand out ``n`` free slots (n,), contents undefined."""
        self.reserve(n)
        self.n_free -= n
        return self.free[self.n_free : self.n_free + n].copy()

    def keep_only(self, alive: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> None:
        """Free every slot whose flag in ``alive`` (capacity,) is False."""
        free = np.flatnonzero(~alive)[::-1].astype(np.int32)
        self.free[: len(free)] = free
        self.n_free = len(free)
        if 2 * self.n_free < self.capacity:
            self._grow(self.capacity)
        self.crowded = False


class RowPools:
    """One pool per table of a layout.

    Parameters
    ----------
    layout : Layout
    rooms : sequence of Room, optional
        One per table.
    """

    __slots__ = ("layout", "pools")

    def __init__(self, layout: Layout, rooms: Sequence[Room | None] = ()) -> None:
        self.layout = layout
        self.pools = tuple(
            RowPool(t.cols, d, first_slots(t.rows), room)
            for t, d, room in zip(
                layout.tables, layout.dtypes, rooms or [None] * len(layout.tables), strict=True
            )
        )

    @property
    def crowded(self) -> bool:
        """Whether some pool wants `collect` to be called before the next event."""
        return any(p.crowded for p in self.pools)

    @property
    def nbytes(self) -> int:
        """Bytes held by all pools."""
        return sum(p.values.nbytes + p.free.nbytes for p in self.pools)

    def collect(self, roots: Iterable[tuple[RowIds, Slots]]) -> None:
        """Free all slots but those named by ``roots``, pairs of global rows (n,) and slots (n,)."""
        alive = [np.zeros(p.capacity, np.bool_) for p in self.pools]
        for rows, slots in roots:
            for table, cut in self.split(rows):
                alive[table][slots[cut]] = True
        for pool, flags in zip(self.pools, alive, strict=True):
            pool.keep_only(flags)

    def split(self, rows: RowIds) -> Sequence[tuple[int, slice]]:
        """Cut ascending global ``rows`` (n,) at table borders: ``(table, slice)`` of non-empty pieces."""
        if len(self.pools) == 1:
            return ((0, slice(0, len(rows))),) if len(rows) else ()
        cuts = np.searchsorted(rows, self.layout.offsets)
        return [(i, slice(int(a), int(b))) for i, (a, b) in enumerate(pairwise(cuts)) if b > a]

"""Updates in transit: made by their producers, and not yet seen by every client that they concern.

All of it is a handful of arrays, so that several processes can share one (`pskit.runtime.live`): nothing is
kept beside them. A unit is what one INC sends to one shard.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.core.kernels import compiled
from pskit.core.layout import Layout, RowIds
from pskit.core.messages import Values

N_UNITS, N_ROWS, N_VALUES, N_DEAD = range(4)
"""Words of the head: units, rows and values in use, and how many of the units are dead."""
HEAD = 8
PRODUCER, SEQ, SHARD, INDEX, COLS, ROW, ROWS, VALUE = range(8)
"""Columns of a unit: who made it, as its number what, for which shard; the shard's apply index, or `MADE`;
the columns of its table; its first row and number of rows; its first value."""
MADE = -1
"""In place of an apply index: not yet applied, so that nobody has seen it."""
DEAD = -1
"""In place of a shard: everybody has seen it."""
MOST_DEAD = 64
"""Dead units, beyond as many as there are others, after which they are cleared away."""

Column = npt.NDArray[np.float64]


class TransitFull(MemoryError):
    """More updates are in transit than there is room for, and the room cannot grow."""


class Room(NamedTuple):
    """The arrays of a `Transit`.

    Attributes
    ----------
    head : (HEAD,) int64
    units : (n, 8) int64
    owed : (n, clients) bool
        Who has not seen it yet: everybody, until it is applied.
    rows : (n_rows,) int32
        Global rows, ascending within each unit.
    values : (n_values,) float64
    """

    head: npt.NDArray[np.int64]
    units: npt.NDArray[np.int64]
    owed: npt.NDArray[np.bool_]
    rows: RowIds
    values: Column

    @classmethod
    def shapes(cls, clients: int, units: int, rows: int, values: int) -> dict[str, tuple[Any, type]]:
        """Shape and dtype of each array, for so many units, rows and values at a time."""
        return {
            "head": ((HEAD,), np.int64),
            "units": ((units, 8), np.int64),
            "owed": ((units, clients), np.bool_),
            "rows": ((rows,), np.int32),
            "values": ((values,), np.float64),
        }

    @classmethod
    def make(cls, clients: int, units: int = 64, rows: int = 1024, values: int = 1024) -> "Room":
        """Room of its own."""
        return cls(**{k: np.zeros(*how) for k, how in cls.shapes(clients, units, rows, values).items()})


class Transit:
    """What is in transit.

    Parameters
    ----------
    layout : Layout
    clients : int
    room : Room, optional
        Shared arrays of a fixed size; by default they are its own and grow.
    """

    def __init__(self, layout: Layout, clients: int, room: Room | None = None) -> None:
        self._layout, self._clients = layout, clients
        self._grows = room is None
        self.room = room or Room.make(clients)
        self._cols = np.array([t.cols for t in layout.tables], np.int64)[layout.table_of_row]

    def __len__(self) -> int:
        return int(self.room.head[N_UNITS] - self.room.head[N_DEAD])

    def made(self, producer: int, seq: int, shard: int, rows: RowIds, delta: Values) -> None:
        """``producer`` made its unit ``seq``, an INC of ``delta`` (n, cols) to ``rows`` (n,) of one table.

        Raises
        ------
        TransitFull
            When shared arrays are too small.
        """
        n, cols = delta.shape
        u, row, value = self._reserve(n, n * cols)
        room, head = self.room, self.room.head
        room.units[u] = producer, seq, shard, MADE, cols, row, n, value
        room.owed[u] = True
        room.rows[row : row + n] = rows
        room.values[value : value + n * cols] = delta.ravel()
        head[:3] = u + 1, row + n, value + n * cols

    def applied(
        self, producer: int, seq: int, shard: int, index: int, clients: npt.NDArray[np.bool_]
    ) -> None:
        """``shard`` applied a unit as its number ``index``; ``clients`` (clients,) have copies without it."""
        _apply(self.room.head, self.room.units, self.room.owed, producer, seq, shard, index, clients)

    def seen(self, client: int, shard: int, version: int) -> None:
        """``client`` took in a push of ``shard`` that was made after ``version`` units were applied."""
        _see(self.room.head, self.room.units, self.room.owed, client, shard, version)

    def largest(self, me: int, client: int, rows: RowIds, by_producer: bool) -> float:
        """Infinity norm, on ascending ``rows`` (n,), of what worker ``me`` of ``client`` has not seen.

        Its own updates are always seen. ``by_producer``: the largest norm of a single producer's.
        """
        room = self.room
        n = int(room.head[N_UNITS])
        if n == 0:
            return 0.0
        return float(
            _largest(
                room.units, n, room.owed, room.rows, room.values, me, client, rows, self._cols, by_producer
            )
        )

    def units(self) -> list[tuple[int, int, int, int, tuple[int, ...], RowIds, Column]]:
        """Producer, number, shard, apply index, who is owed it, rows and values of each unit, for checks."""
        room, out = self.room, []
        for u in range(int(room.head[N_UNITS])):
            producer, seq, shard, index, cols, row, n, value = room.units[u].tolist()
            if shard != DEAD:
                owed = tuple(np.flatnonzero(room.owed[u]).tolist()) if index != MADE else ()
                values = room.values[value : value + n * cols].copy()
                out.append((producer, seq, shard, index, owed, room.rows[row : row + n].copy(), values))
        return out

    def _reserve(self, rows: int, values: int) -> tuple[int, int, int]:
        """Make room for another unit: its number, its first row and its first value."""
        units, n_rows, n_values, dead = self.room.head[:4].tolist()
        if self._fits((units + 1, n_rows + rows, n_values + values)) and 2 * dead <= units + MOST_DEAD:
            return units, n_rows, n_values
        self._tidy(np.array([1, rows, values]))
        units, n_rows, n_values = self.room.head[:3].tolist()
        return units, n_rows, n_values

    def _tidy(self, needed: npt.NDArray[np.int64]) -> None:
        """Close the gaps that dead units left, and grow where that does not make enough room."""
        _compact(self.room.head, self.room.units, self.room.owed, self.room.rows, self.room.values)
        # Room that is nearly full after that would have to be tidied again and again.
        wanted = (2 if self._grows else 1) * (self.room.head[:3] + needed)
        if self._fits(wanted.tolist()):
            return
        if not self._grows:
            raise TransitFull(
                f"{len(self)} updates are in transit at once, and there is no room for another one"
            )
        old = self.room
        sizes = np.maximum(4 * (needed + old.head[:3]), [len(old.units), len(old.rows), len(old.values)])
        self.room = Room.make(self._clients, *sizes.tolist())
        for name in Room._fields:
            array: Any = getattr(old, name)
            getattr(self.room, name)[: len(array)] = array

    def _fits(self, sizes: Sequence[int]) -> bool:
        """Whether there is room for so many units, rows and values."""
        units, rows, values = sizes
        room = self.room
        return units <= len(room.units) and rows <= len(room.rows) and values <= len(room.values)


@compiled
def _apply(
    head: Any, units: Any, owed: Any, producer: int, seq: int, shard: int, index: int, clients: Any
) -> None:
    for u in range(head[N_UNITS]):
        if units[u, SEQ] == seq and units[u, PRODUCER] == producer and units[u, SHARD] == shard:
            units[u, INDEX] = index
            owed[u] = clients
            if not clients.any():
                units[u, SHARD] = DEAD
                head[N_DEAD] += 1
            return


@compiled
def _see(head: Any, units: Any, owed: Any, client: int, shard: int, version: int) -> None:
    for u in range(head[N_UNITS]):
        index = units[u, INDEX]
        if units[u, SHARD] == shard and index != MADE and index < version and owed[u, client]:
            owed[u, client] = False
            if not owed[u].any():
                units[u, SHARD] = DEAD
                head[N_DEAD] += 1
    if head[N_DEAD] == head[N_UNITS]:
        head[:4] = 0


@compiled
def _compact(head: Any, units: Any, owed: Any, rows: Any, values: Any) -> None:
    """Move the units that are not dead to the front, in their order."""
    n, row, value = 0, 0, 0
    for u in range(head[N_UNITS]):
        if units[u, SHARD] == DEAD:
            continue
        count, size = units[u, ROWS], units[u, ROWS] * units[u, COLS]
        old_row, old_value = units[u, ROW], units[u, VALUE]
        for i in range(count):
            rows[row + i] = rows[old_row + i]
        for i in range(size):
            values[value + i] = values[old_value + i]
        units[n] = units[u]
        owed[n] = owed[u]
        units[n, ROW], units[n, VALUE] = row, value
        n, row, value = n + 1, row + count, value + size
    head[N_UNITS], head[N_ROWS], head[N_VALUES], head[N_DEAD] = n, row, value, 0


@compiled
def _add(units: Any, u: int, rows: Any, values: Any, asked: Any, at: Any, sums: Any) -> None:
    """Add unit ``u`` to the sums of the rows asked for, of which row i has ``at[i]:at[i + 1]``."""
    row, end, cols = units[u, ROW], units[u, ROW] + units[u, ROWS], units[u, COLS]
    value = units[u, VALUE]
    i = 0
    while row < end and i < len(asked):
        if rows[row] < asked[i]:
            row += 1
            value += cols
        elif rows[row] > asked[i]:
            i += 1
        else:
            for j in range(cols):
                sums[at[i] + j] += values[value + j]
            row += 1
            value += cols
            i += 1


@compiled
def _largest(
    units: Any,
    n: int,
    owed: Any,
    rows: Any,
    values: Any,
    me: int,
    client: int,
    asked: Any,
    cols: Any,
    apart: bool,
) -> float:
    """See `Transit.largest`."""
    at = np.zeros(len(asked) + 1, np.int64)
    for i in range(len(asked)):
        at[i + 1] = at[i] + cols[asked[i]]
    left = np.empty(n, np.bool_)
    for u in range(n):
        left[u] = units[u, SHARD] != DEAD and units[u, PRODUCER] != me and owed[u, client]
    largest = 0.0
    sums = np.zeros(at[-1], np.float64)
    for first in range(n):
        if not left[first]:
            continue
        sums[:] = 0.0
        for u in range(first, n):
            if left[u] and (not apart or units[u, PRODUCER] == units[first, PRODUCER]):
                left[u] = False
                _add(units, u, rows, values, asked, at, sums)
        for x in sums:
            largest = max(largest, abs(x))
    return largest

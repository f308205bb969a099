"""The parameter tables and the clients' caches in the arena, to be read by any process at any time.

The versions of rows (`pskit.core.rows`) of every process lie in the arena, and so does what says which of
them counts: for the server the current version of each row, for a client its cache. Each has one writer. A
reader never makes it wait:

* A row of the server has a sequence number. Its shard makes it odd before it changes the row or the word that
  says where it lies, and even again after. Who finds the same even number before and after reading has read
  the row as it was at one moment (a sequence lock).
* A client's cache has one such number for the whole of it, as its copies never change in place: it moves when
  a message is taken in. A version is used again only after such a move, so that a copy is whole, too.

The versions may grow to many times the table, as messages on their way have some: address space for that is
reserved, and takes no memory until it is used. A pool that needs more still goes on in memory of its own,
where nobody else can read it, and says so.
"""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.core.cache import ProcessCache
from pskit.core.kernels import compiled
from pskit.core.layout import Layout, RowIds
from pskit.core.messages import Oplog, Slots, Values
from pskit.core.rows import MOST_SLOTS, Room, first_slots
from pskit.core.server import ServerShard
from pskit.errors import RunFailed
from pskit.runtime.live.arena import PAGE, Arena, aligned
from pskit.runtime.live.atomics import fence, load_acquire, store_release

Words = npt.NDArray[np.int64]

WORD, LINE_BYTES = 8, 64
RESERVE, LEAST_RESERVE, LARGEST_RESERVE = 64, 4, 1 << 40
"""Address space of a pool, in sizes that it begins with; at least; and bytes of all of them together."""
MOVED = -1
"""State of a pool that has outgrown its place; else its capacity."""
TRIES = 10_000
SECONDS_OF_TRYING = 2.0


@compiled
def begin_change(numbers: Any, rows: Any, shards: int) -> None:
    """Writer: make the numbers of global ``rows`` (n,) of a shard odd, before anything that follows."""
    for i in range(len(rows)):
        local = rows[i] // shards
        store_release(numbers, local, numbers[local] + 1)
    fence()


@compiled
def end_change(numbers: Any, rows: Any, shards: int) -> None:
    """Writer: make the numbers of global ``rows`` (n,) of a shard even, after everything before."""
    for i in range(len(rows)):
        local = rows[i] // shards
        store_release(numbers, local, numbers[local] + 1)


@compiled
def read_rows(numbers: Any, current: Any, values: Any, rows: Any, shards: int, out: Any, tries: int) -> int:
    """Reader: copy global ``rows`` (n,) of one shard to ``out`` (n, cols), each as it was at one moment.

    Returns
    -------
    int
        How many were read; less than n where a row changed at every one of ``tries`` tries.
    """
    for i in range(len(rows)):
        local = rows[i] // shards
        whole = False
        for _ in range(tries):
            number = load_acquire(numbers, local)
            if number & 1:
                continue
            slot = current[local]
            for j in range(out.shape[1]):
                out[i, j] = values[slot, j]
            fence()
            if load_acquire(numbers, local) == number:
                whole = True
                break
        if not whole:
            return i
    return len(rows)


@compiled
def move_on(words: Any) -> None:
    """Writer: count the number of a whole cache on, between what comes before and after."""
    store_release(words, 0, words[0] + 1)
    fence()


@compiled
def number_of(words: Any) -> int:
    """Reader: the number of a whole cache, before anything that follows and after everything before."""
    fence()
    return int(load_acquire(words, 0))


class Pool(NamedTuple):
    """Place of the versions of one table in one process."""

    at: int
    most: int  # slots


class Places:
    """Where tables and caches lie in the arena, from the offset ``at`` on.

    Parameters
    ----------
    layout : Layout
    clients : int
    at : int

    Attributes
    ----------
    rows_at : list of (int, int)
        By shard: numbers and current versions of its rows.
    caches_at : list of tuples of int
        By client: number of the cache, and its arrays ``slot``, ``row_clock`` and ``push_clock``.
    states_at : int
        A word for each pool.
    pools : list of lists of Pool
        By process and table.
    first_bytes : int
        Memory that all pools take at first, if all of it is used.
    committed : int
        Offset up to which there has to be memory from the start; the rest is address space.
    end : int
    """

    def __init__(self, layout: Layout, clients: int, at: int) -> None:
        def place(nbytes: int) -> int:
            nonlocal at
            begin, at = at, at + aligned(nbytes)
            return begin

        n = layout.n_rows
        counts = [layout.shard_rows(j) for j in range(layout.shards)]
        self.rows_at = [(place(WORD * count), place(4 * count)) for count in counts]
        self.caches_at = [
            (place(LINE_BYTES), place(4 * n), place(4 * n), place(4 * layout.shards)) for _ in range(clients)
        ]
        self.states_at = place(WORD * (clients + 1) * len(layout.tables))
        self.committed = at
        at = -(-at // PAGE) * PAGE
        first = [first_slots(t.rows) for t in layout.tables]
        self.first_bytes = (clients + 1) * sum(
            slots * b for slots, b in zip(first, layout.row_bytes, strict=True)
        )
        factor = max(LEAST_RESERVE, min(RESERVE, LARGEST_RESERVE // self.first_bytes))
        self.pools: list[list[Pool]] = []
        for _ in range(clients + 1):
            self.pools.append([])
            for slots, row_bytes in zip(first, layout.row_bytes, strict=True):
                most = min(factor * slots, MOST_SLOTS)
                self.pools[-1].append(Pool(at, most))
                at += -(-most * row_bytes // PAGE) * PAGE
        self.end = at


class SharedShard(ServerShard):
    """A shard whose current rows other processes can read; see `ServerShard`.

    Parameters
    ----------
    numbers : (n,) int64
        Sequence numbers of its rows, in the arena.
    current : (n,) int32
        Place in the arena of `ServerShard.current`.
    """

    def __init__(self, *machine: Any, numbers: Words, current: Slots) -> None:
        super().__init__(*machine)
        self._numbers = numbers
        current[:] = self.current
        self.current = current

    def apply(self, oplog: Oplog) -> None:
        shards = self.layout.shards
        for part in oplog.parts:
            begin_change(self._numbers, part.rows, shards)
        super().apply(oplog)
        for part in oplog.parts:
            end_change(self._numbers, part.rows, shards)


class CopiesOf(NamedTuple):
    """What a client's cache held at one moment.

    Attributes
    ----------
    clock : (n,) int32
        Effective clock of the copy of each row that was asked for, -1 where there is none.
    values : list of (n_i, cols) arrays
        Of the cached ones of these rows, per table.
    """

    clock: npt.NDArray[np.int32]
    values: list[Values]


class SharedTables:
    """Tables and caches in the arena, as their writers and their readers see them.

    Parameters
    ----------
    arena : Arena
    layout : Layout
    places : Places
    """

    def __init__(self, arena: Arena, layout: Layout, places: Places) -> None:
        self._arena, self.layout, self._places = arena, layout, places
        n, clients = layout.n_rows, len(places.caches_at)
        self._rows = [
            (arena.view(a, (count,), np.int64), arena.view(b, (count,), np.int32))
            for (a, b), count in zip(
                places.rows_at, map(layout.shard_rows, range(layout.shards)), strict=True
            )
        ]
        sizes = (LINE_BYTES // WORD, np.int64), (n, np.int32), (n, np.int32), (layout.shards, np.int32)
        self._caches = [
            [arena.view(at, (size,), dtype) for at, (size, dtype) in zip(cache, sizes, strict=True)]
            for cache in places.caches_at
        ]
        shape = (clients + 1, len(layout.tables))
        self.states: Words = arena.view(places.states_at, shape, np.int64)

    # -- for those who write -----------------------------------------------------------------------

    def rooms(self, process: int) -> Sequence[Room]:
        """Room for the row pools of ``process``."""
        return [
            _room(self._arena, pool, t.cols, dtype, self.states[process, i : i + 1])
            for i, (pool, t, dtype) in enumerate(
                zip(self._places.pools[process], self.layout.tables, self.layout.dtypes, strict=True)
            )
        ]

    def shard(self, shard: int, *machine: Any) -> SharedShard:
        """The shard number ``shard``, with the other parameters of `ServerShard`."""
        numbers, current = self._rows[shard]
        return SharedShard(shard, *machine, numbers=numbers, current=current)

    def share(self, client: int, cache: ProcessCache) -> Words:
        """Move the arrays of ``cache`` that a reader needs to their places; the words to `move_on`."""
        words, *arrays = self._caches[client]
        for name, array in zip(("slot", "row_clock", "push_clock"), arrays, strict=True):
            array[:] = getattr(cache, name)
            setattr(cache, name, array)
        return words

    # -- for those who read ------------------------------------------------------------------------

    def read(self, table: int, rows: RowIds) -> Values:
        """The servers' newest version of ascending global ``rows`` (n,) of one table: a (n, cols) copy.

        Every row is as it was at one moment, two rows perhaps not at the same.

        Raises
        ------
        RunFailed
            When the server has stopped in the middle of a change, or the table has outgrown its place.
        """
        out = np.empty((len(rows), self.layout.tables[table].cols), self.layout.dtypes[table])
        shards, server = self.layout.shards, len(self._caches)
        values = self._versions(server, table)
        for shard in range(shards):
            mine = np.flatnonzero(rows % shards == shard)
            wanted, found = rows[mine], np.empty((len(mine), out.shape[1]), out.dtype)
            numbers, current = self._rows[shard]
            done, deadline = 0, time.monotonic() + SECONDS_OF_TRYING
            while done < len(mine):
                done += read_rows(numbers, current, values, wanted[done:], shards, found[done:], TRIES)
                if done < len(mine) and time.monotonic() > deadline:
                    raise RunFailed(f"row {wanted[done]} is in the middle of a change, and stays there")
            out[mine] = found
        self._check(server, table)
        return out

    def cached(self, client: int, rows: RowIds) -> CopiesOf:
        """What the cache of ``client`` has of ascending global ``rows`` (n,), all at one moment.

        Raises
        ------
        RunFailed
            As of `read`.
        """
        words, slot, row_clock, push_clock = self._caches[client]
        deadline = time.monotonic() + SECONDS_OF_TRYING
        while time.monotonic() < deadline:
            number = number_of(words)
            if number & 1:
                time.sleep(0)
                continue
            clock = row_clock[rows].copy()
            there = clock >= 0
            clock[there] = np.maximum(clock, push_clock[rows % self.layout.shards])[there]
            values = []
            for table in range(len(self.layout.tables)):
                begin, end = self.layout.offsets[table : table + 2]
                mine = rows[there & (rows >= begin) & (rows < end)]
                slots = np.clip(slot[mine], 0, self._places.pools[client][table].most - 1)
                values.append(self._versions(client, table)[slots])
            if number_of(words) == number:
                for table in range(len(self.layout.tables)):
                    self._check(client, table)
                return CopiesOf(clock, values)
        raise RunFailed(f"the cache of client {client} is in the middle of a change, and stays there")

    def _versions(self, process: int, table: int) -> Values:
        pool = self._places.pools[process][table]
        shape = (pool.most, self.layout.tables[table].cols)
        return self._arena.view(pool.at, shape, self.layout.dtypes[table])

    def _check(self, process: int, table: int) -> None:
        if self.states[process, table] == MOVED:
            raise RunFailed(
                f"the versions of table {self.layout.tables[table].name!r} have outgrown their place in "
                "shared memory: only their own process can read them"
            )


def _room(arena: Arena, pool: Pool, cols: int, dtype: "np.dtype[Any]", state: Words) -> Room:
    def room(capacity: int) -> Values | None:
        if capacity > pool.most or not arena.commit(pool.at, capacity * cols * dtype.itemsize):
            state[0] = MOVED
            return None
        state[0] = capacity
        return arena.view(pool.at, (capacity, cols), dtype)

    return room

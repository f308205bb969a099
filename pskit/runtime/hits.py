"""GETs that the process cache serves whole, in one compiled call per table.

What `Client.get` and `Recorder.read` do for such a GET is done here by the same kernels, called from one:
looking the rows up, copying their values, adding own updates, recording. A row that is missing, or anything
else out of the ordinary, leaves no trace, and the GET takes its usual way.

Calling a kernel from Python costs some 50 ns for each array and 30 ns for each number, and these are three
dozen. So they are passed as addresses and numbers in one array of words. Addresses hold as long as the arrays
do: this module keeps them, and looks before each call whether one of those that are replaced when they grow
has been.
"""

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic

from pskit.core import kernels
from pskit.core.client import Client
from pskit.core.oplog import TableLog
from pskit.core.rows import RowPool
from pskit.runtime.events import EventQueue
from pskit.trace.kernels import HEAD_WIDTH, ROW_WIDTH, record_get
from pskit.trace.recorder import Recorder

Array = npt.NDArray[Any]

(
    SLOT, ROW_CLOCK, ROW_VERSION, ROW_APPLIED, PUSH_CLOCK, PUSH_VERSION, PUSH_APPLIED,
    VALUES, UNIT_START, UNIT_SEQ, OWN_ROWS, OWN_DELTA,
    COUNTS, TOTALS, HEADS, PACKED, SAMPLING, FILLED,
    WHERE, ROWS, HAVE_SLOT, HAVE_CLOCK, HAVE_VERSION, HAVE_OWN, HIT,
) = range(25)  # fmt: skip
"""Words that are addresses: of the cache, of values and own updates, of the recorder, of scratch."""
(
    N_ROWS, WORKERS, SHARDS, OFFSET, TABLE_ROWS, ME, WORKER,
    CLOCK, NEED, OWN_UPTO, OWN_SIZE,
    CLOCKS, AGES, N_HEADS, N_PACKED, ROOM,
) = range(25, 41)  # fmt: skip
"""Words that are numbers: of the table and the worker, of its clock, and sizes of the arrays."""
N_WORDS = 41
NOT_SERVED, NO_ROOM = -100, -101
"""Beside the codes of `record_get`."""

SMALLEST_ROOM = 64
_SCRATCH = ("i4", "i4", "i4", "i4", "i8", "i4")
"""Dtypes of the words from WHERE to HAVE_OWN. One scratch serves all workers: GETs never overlap."""
_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)
_intrinsic: Any = intrinsic


@_intrinsic
def _pointer(typingctx: Any, address: Any) -> Any:
    """The address as a pointer."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(address), codegen


@numba.njit(cache=True, nogil=True)
def serve(w: Any, ids: Any, view: Any, n_units: int, now: int, first: int, last: bool) -> int:
    """Serve one table of a GET.

    Parameters
    ----------
    w : (N_WORDS,) int64
    ids : (n,) int32 or int64
        Rows of the table.
    view : (n, cols)
        Receives them.
    n_units : int
        Of own updates.
    now : int, ns
    first : int
        Rows of the GET that are of the tables before this one.
    last : bool
        Whether this is its last table: then the GET is recorded.

    Returns
    -------
    int
        0 or more when it is served, else `NOT_SERVED`, `NO_ROOM`, or a code of `record_get`.
    """
    n = len(ids)
    total = first + n
    if total > w[ROOM]:
        return NO_ROOM
    if (last and total == 0) or kernels.ascending_within(ids, w[TABLE_ROWS]) != 1:
        return NOT_SERVED
    filled = carray(_pointer(w[FILLED]), 2, np.int64)
    if last and (filled[0] == w[N_HEADS] or filled[1] + total > w[N_PACKED] or w[CLOCK] >= w[CLOCKS]):
        return NO_ROOM
    rows = carray(_pointer(w[ROWS]), total, np.int32)
    where = carray(_pointer(w[WHERE]), n, np.int32)
    offset = w[OFFSET]
    for i in range(n):
        rows[first + i] = ids[i] + offset
        where[i] = first + i
    row_clock = carray(_pointer(w[ROW_CLOCK]), w[N_ROWS], np.int32)
    have_slot = carray(_pointer(w[HAVE_SLOT]), total, np.int32)
    have_clock = carray(_pointer(w[HAVE_CLOCK]), total, np.int32)
    have_version = carray(_pointer(w[HAVE_VERSION]), total, np.int64)
    have_own = carray(_pointer(w[HAVE_OWN]), total, np.int32)
    missing = kernels.lookup(
        where, rows, w[NEED], w[ME], w[SHARDS],
        carray(_pointer(w[SLOT]), w[N_ROWS], np.int32),
        row_clock,
        carray(_pointer(w[ROW_VERSION]), w[N_ROWS], np.int64),
        carray(_pointer(w[ROW_APPLIED]), (w[N_ROWS], w[WORKERS]), np.int32),
        carray(_pointer(w[PUSH_CLOCK]), w[SHARDS], np.int32),
        carray(_pointer(w[PUSH_VERSION]), w[SHARDS], np.int64),
        carray(_pointer(w[PUSH_APPLIED]), (w[SHARDS], w[WORKERS]), np.int32),
        row_clock[:0], 0, have_slot, have_clock, have_version, have_own,
    )  # fmt: skip
    if missing > 0:
        return NOT_SERVED
    cols = view.shape[1]
    values = carray(_pointer(w[VALUES]), (1, cols), view.dtype)  # not sliced, so its length plays no part
    for i in range(n):
        r = np.uint64(have_slot[first + i])
        for j in range(cols):
            view[i, j] = values[r, j]
    if n_units > 0:
        kernels.add_own(
            view, rows[first:], have_own[first:],
            carray(_pointer(w[UNIT_START]), n_units + 1, np.int64),
            carray(_pointer(w[UNIT_SEQ]), n_units, np.int64),
            n_units,
            carray(_pointer(w[OWN_ROWS]), w[OWN_SIZE], np.int32),
            carray(_pointer(w[OWN_DELTA]), (w[OWN_SIZE], cols), view.dtype),
        )  # fmt: skip
    if not last:
        return 0
    for i in range(total):
        have_clock[i] = w[CLOCK] - have_clock[i]
    kept = record_get(
        carray(_pointer(w[COUNTS]), (w[CLOCKS], w[AGES]), np.int64),
        carray(_pointer(w[TOTALS]), (w[CLOCKS], 4), np.int64),
        carray(_pointer(w[HEADS]), (w[N_HEADS], HEAD_WIDTH), np.int64),
        filled[0],
        carray(_pointer(w[PACKED]), (w[N_PACKED], ROW_WIDTH), np.uint64),
        filled[1],
        carray(_pointer(w[SAMPLING]), 2, np.uint64),
        now, w[WORKER], w[CLOCK], rows, have_version, have_own, w[OWN_UPTO], have_clock,
        carray(_pointer(w[HIT]), total, np.bool_), 0,
    )  # fmt: skip
    if kept >= 0:
        filled[0] += 1
        filled[1] += kept
    return kept


class TableWords:
    """The words of one worker and table, and the arrays that may be replaced."""

    __slots__ = ("cols", "delta", "dtype", "log", "pool", "start", "values", "words")

    def __init__(self, log: TableLog, pool: RowPool) -> None:
        self.log, self.pool = log, pool
        self.cols, self.dtype = pool.values.shape[1], pool.values.dtype
        self.words = np.zeros(N_WORDS, np.int64)
        self.values: Any = None
        self.start: Any = None
        self.delta: Any = None

    def set(self, first: int, *arrays: Array) -> None:
        """Let the words from ``first`` on be the addresses of ``arrays``."""
        self.words[first : first + len(arrays)] = [array.ctypes.data for array in arrays]

    def refresh(self) -> None:
        """Take the addresses of values and own updates again."""
        log = self.log
        self.values, self.start, self.delta = self.pool.values, log.start, log.delta
        self.set(VALUES, self.values, self.start, log.seq, log.rows, self.delta)
        self.words[OWN_SIZE] = len(log.rows)


class Hits:
    """Serves GETs of one worker, see `pskit.apps.base.AtOnce`.

    Parameters
    ----------
    worker : int
    client : Client
    queue : EventQueue
        Tells the time.
    recorder : Recorder
    """

    __slots__ = (
        "_cached", "_client", "_clock", "_kept", "_moved", "_queue", "_recorder", "_state", "_tables",
    )  # fmt: skip

    def __init__(self, worker: int, client: Client, queue: EventQueue, recorder: Recorder) -> None:
        self._client, self._queue, self._recorder = client, queue, recorder
        self._state = state = client.workers[worker]
        cache, layout = client.cache, client.layout
        self._clock = self._moved = -1
        self._kept: tuple[Array, ...] = ()
        self._cached = (
            cache.slot, cache.row_clock, cache.row_version, cache.row_applied,
            cache.push_clock, cache.push_version, cache.push_applied,
        )  # fmt: skip
        self._tables = [TableWords(*of) for of in zip(state.log.tables, client.pools.pools, strict=True)]
        for i, table in enumerate(self._tables):
            table.set(SLOT, *self._cached)
            table.words[N_ROWS : WORKER + 1] = (
                layout.n_rows, len(client.workers), layout.shards, layout.offsets[i], layout.tables[i].rows,
                state.index, worker,
            )  # fmt: skip

    def table(self, index: int, ids: Any, first: int = 0, last: bool = True) -> Array | None:
        """See `AtOnce.table`."""
        if type(ids) is not np.ndarray or ids.ndim != 1 or not ids.flags.carray:
            return None
        dtype, state = ids.dtype, self._state
        if (dtype is not _INT32 and dtype != _INT32 and dtype != _INT64) or state.waiter is not None:
            return None
        if state.clock != self._clock:
            self._next_clock(state.clock)
        if self._recorder.moved != self._moved:
            self._see_recorder(0)
        table = self._tables[index]
        log, values = table.log, table.pool.values
        if values is not table.values or log.delta is not table.delta or log.start is not table.start:
            table.refresh()
        view: Array = np.empty((len(ids), table.cols), table.dtype)
        served = serve(table.words, ids, view, log.n_units, self._queue.now, first, last)
        if served >= 0:
            return view
        if served == NO_ROOM:
            self._see_recorder(first + len(ids))
            if not first:
                return self.table(index, ids, first, last)
        return None

    def _next_clock(self, clock: int) -> None:
        self._clock = clock
        now = clock, self._client.policy.need(clock), self._state.log.seq + 1
        for table in self._tables:
            table.words[CLOCK : OWN_UPTO + 1] = now

    def _see_recorder(self, n: int) -> None:
        """Make room for a GET of ``n`` rows, and take the recorder's arrays as they then are."""
        recorder = self._recorder
        recorder.make_room(n, self._clock)
        if not recorder.scratch or n > len(recorder.scratch[0]):
            room = max(SMALLEST_ROOM, 2 * n)
            recorder.scratch = (*(np.empty(room, t) for t in _SCRATCH), np.ones(room, np.bool_))
            recorder.moved += 1
        self._moved = recorder.moved
        arrays = recorder.read_arrays()
        self._kept = (*arrays, *recorder.scratch)
        sizes = *arrays[0].shape, len(arrays[2]), len(arrays[3]), len(recorder.scratch[0])
        for table in self._tables:
            table.set(COUNTS, *self._kept)
            table.words[CLOCKS : ROOM + 1] = sizes


def hits(worker: int, client: Client, queue: EventQueue, recorder: Recorder) -> Hits | None:
    """The short way for GETs of ``worker``; None where all of them need the usual one.

    A gate has to be asked first, a bounded cache wants to know what was used, ASP counts what was fetched for
    whom, and a recorder of steps takes the values down.
    """
    ordinary = type(client) is Client and not client.policy.refetches and not client.cache.capacity
    return Hits(worker, client, queue, recorder) if ordinary and recorder.steps is None else None

"""Messages under way that carry nothing but a tick: by far the most of a cluster with many shards.

They are the events of `pskit.runtime.events`, in the same order, in a heap of their own that is compiled. A
tick that is in order and raises no clock changes two counts and is recorded: a compiled loop takes in all of
them up to the next event of another kind, with the functions that the shards use themselves. All others it
leaves to the simulation.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.core.clocks import Counters, count_unit, quiet, tick
from pskit.core.kernels import compiled
from pskit.core.messages import Oplog
from pskit.runtime.events import DELIVER, LATEST, Event
from pskit.trace.recorder import Recorder

Integers = npt.NDArray[np.int64]

TIME, ENDS, NUMBER, UNIT, KEY_WIDTH = range(5)
"""Columns of a tick under way: ns; destination and source in one number; that of the event; its unit."""
WORKER, CLOCK, SEQ, T_INC, T_SENT, LEFT, UNIT_WIDTH = range(7)
"""Columns of a unit: what its ticks say, and how many of them are still under way (or the next free unit)."""
PENDING, FREE, NOW, DUE = range(4)
"""Words of the state: ticks under way; first free unit (-1: none); when the last tick was taken in, ns;
whether the next one comes before all else, and is not to be taken in here."""
NEVER = LATEST + 1
"""Later than any event."""


class Ticks:
    """Ticks under way, and the loop that takes them in.

    Parameters
    ----------
    counters : Counters
        Of the shards, which are the end points from ``clients`` on.
    clients : int
    recorder : Recorder

    Attributes
    ----------
    next_at : int, ns
        When the next one arrives; `NEVER` when none is under way.
    """

    def __init__(self, counters: Counters, clients: int, recorder: Recorder) -> None:
        self._counters, self._clients, self._recorder = counters, clients, recorder
        self._heap: Integers = np.empty((256, KEY_WIDTH), np.int64)
        self._units: Integers = np.empty((0, UNIT_WIDTH), np.int64)
        self._state: Integers = np.array([0, -1, 0, 0])
        self.next_at = NEVER

    def __len__(self) -> int:
        return self._state.item(PENDING)

    def add(
        self, times: Integers, dsts: Integers, src: int, first: int, oplog: Oplog, some: npt.NDArray[np.bool_]
    ) -> None:
        """Put ``oplog``, which has no parts and is not leaving, on its way to ``some`` of ``dsts``.

        Parameters
        ----------
        times : (n,) int64, ns
            Of arrival.
        dsts : (n,) int64
        src : int
        first : int
            Number of the event at the first of ``dsts``; those of the others follow.
        oplog : Oplog
        some : (n,) bool
            At least one.
        """
        pending, n = len(self), np.count_nonzero(some)
        if pending + n > len(self._heap):
            self._heap = np.concatenate([self._heap, np.empty((pending + n, KEY_WIDTH), np.int64)])
        if self._state.item(FREE) < 0:
            self._more_units()
        unit = self._state.item(FREE)
        self._state[FREE] = self._units[unit, LEFT]
        self._units[unit] = oplog.worker, oplog.clock, oplog.seq, oplog.t_inc, oplog.t_sent, n
        _push(self._heap, self._state, times, dsts, src, first, unit, some)
        self._see_next()

    def take_in(self, before: Event, limit: int) -> int:
        """Take in ticks, in order and ``limit`` of them at most, that come before an event and raise nothing.

        Returns
        -------
        int
            How many. When the next one comes before the event and raises a clock, it is `due`.
        """
        time, kind, dst, src, number, _, _ = before
        ends = dst << 32 | src if kind == DELIVER else LATEST
        taken = 0
        while True:
            records = self._recorder.update_room()
            n = _take_in(
                self._heap, self._state, self._units, self._clients, self._counters.received,
                self._counters.applied, self._counters.heads, time, ends, number,
                records[: limit - taken],
            )  # fmt: skip
            self._recorder.updated(n)
            taken += n
            if n < len(records) or taken == limit:
                break
        self._see_next()
        return taken

    @property
    def now(self) -> int:
        """When the last tick was taken in, ns."""
        return self._state.item(NOW)

    @property
    def due(self) -> bool:
        """Whether the next event is a tick that `take_in` left alone: one for `pop`."""
        return bool(self._state.item(DUE))

    def pop(self) -> Event:
        """Take the next one out, as an event."""
        time, ends, number, unit = self._heap[0].tolist()
        worker, clock, seq, t_inc, t_sent, _ = self._units[unit].tolist()
        _pop(self._heap, self._state, self._units)
        self._state[DUE] = 0
        self._see_next()
        oplog = Oplog(worker, clock, seq, (), False, t_inc, t_sent)
        return time, DELIVER, ends >> 32, ends & 0xFFFFFFFF, number, oplog, None

    def _see_next(self) -> None:
        self.next_at = self._heap.item(0, TIME) if len(self) else NEVER

    def _more_units(self) -> None:
        """Chain new free units behind one another."""
        old = len(self._units)
        new = np.empty((max(64, old), UNIT_WIDTH), np.int64)
        new[:, LEFT] = np.arange(old + 1, old + len(new) + 1)
        new[-1, LEFT] = -1
        self._units = np.concatenate([self._units, new])
        self._state[FREE] = old


@compiled
def _before(heap: Any, i: int, time: int, ends: int, number: int) -> bool:
    if heap[i, TIME] != time:
        return heap[i, TIME] < time
    if heap[i, ENDS] != ends:
        return heap[i, ENDS] < ends
    return heap[i, NUMBER] < number


@compiled
def _push(heap: Any, state: Any, times: Any, dsts: Any, src: int, first: int, unit: int, some: Any) -> None:
    """Add a tick for ``some`` of ``times``; there must be room."""
    for k in range(len(times)):
        if not some[k]:
            continue
        time, ends, number = times[k], dsts[k] << 32 | src, first + k
        i = state[PENDING]
        state[PENDING] = i + 1
        while i > 0:
            above = (i - 1) >> 1
            if _before(heap, above, time, ends, number):
                break
            heap[i] = heap[above]
            i = above
        heap[i, TIME], heap[i, ENDS], heap[i, NUMBER], heap[i, UNIT] = time, ends, number, unit


@compiled
def _pop(heap: Any, state: Any, units: Any) -> None:
    """Drop the first tick."""
    unit = heap[0, UNIT]
    units[unit, LEFT] -= 1
    if units[unit, LEFT] == 0:
        units[unit, LEFT] = state[FREE]
        state[FREE] = unit
    n = state[PENDING] - 1
    state[PENDING] = n
    time, ends, number = heap[n, TIME], heap[n, ENDS], heap[n, NUMBER]
    i = 0
    while True:  # the last one sinks from the top to its place
        below = 2 * i + 1
        if below >= n:
            break
        near = heap[below]
        if below + 1 < n and _before(heap, below + 1, near[TIME], near[ENDS], near[NUMBER]):
            below += 1
        if not _before(heap, below, time, ends, number):
            break
        heap[i] = heap[below]
        i = below
    heap[i] = heap[n]


@compiled
def _take_in(
    heap: Any, state: Any, units: Any, clients: int, received: Any, applied: Any, heads: Any,
    time: int, ends: int, number: int, records: Any,
) -> int:  # fmt: skip
    """Take ticks in while there is room for records, and they come before an event and are quiet."""
    n = 0
    state[DUE] = 0
    while n < len(records) and state[PENDING] > 0 and _before(heap, 0, time, ends, number):
        shard, unit = (heap[0, ENDS] >> 32) - clients, heap[0, UNIT]
        worker, clock, seq = units[unit, WORKER], units[unit, CLOCK], units[unit, SEQ]
        if not quiet(received[shard], heads[shard], worker, clock):
            state[DUE] = 1
            break
        record = records[n]
        record[0], record[1], record[2], record[3] = worker, clock, shard, seq
        record[4] = count_unit(applied[shard], heads[shard], worker, seq)
        record[5], record[6], record[7] = units[unit, T_INC], units[unit, T_SENT], heap[0, TIME]
        record[8:] = 0
        tick(received[shard], heads[shard], worker)
        state[NOW] = heap[0, TIME]
        _pop(heap, state, units)
        n += 1
    return n

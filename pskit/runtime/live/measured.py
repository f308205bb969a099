"""Computations that take the time which their kernels really take, on the scale of the run.

Nothing is padded: a computation ends when its kernel does. So what is emulated is the network alone, and the
machines are the cores at hand. A kernel that has to wait for one takes longer than the machine it stands for
would: such clocks are counted, and make the run less faithful.
"""

import time
from collections.abc import Callable
from typing import Any

from pskit.apps.base import Compute
from pskit.runtime.events import FINISH
from pskit.runtime.workers import Driver

LEAST_SHARE = 0.8
"""Of a processor, that a kernel must have had for its time to count as its own."""


class MeasuredDriver(Driver):
    """A worker whose compute times are measured; see `Driver`.

    Parameters
    ----------
    emulated : callable
        Tells the emulated time now, ns.
    crowded : callable
        ``crowded(worker, clock)`` is told of kernels that had less than `LEAST_SHARE` of a processor.
    """

    __slots__ = ("_crowded", "_emulated")

    def __init__(self, *args: Any, emulated: Callable[[], int], crowded: Callable[[int, int], None]) -> None:
        super().__init__(*args)
        self._emulated, self._crowded = emulated, crowded

    def _start(self, command: Compute) -> None:
        now = self._queue.now
        begin, real, busy = self._emulated(), time.perf_counter_ns(), time.thread_time_ns()
        result = self._perform(command)
        spent = self._emulated() - begin
        busy, real = time.thread_time_ns() - busy, time.perf_counter_ns() - real
        if busy < LEAST_SHARE * real:
            self._crowded(self.worker, self.clock)
        duration = self._compute.measured(now, self.clock, spent)
        self._check_end(now + duration)
        self._queue.add(now + duration, FINISH, self.worker, self.worker, (duration, result))

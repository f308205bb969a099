"""When each clock of each worker began and ended."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.trace.schema import Columns

Array = npt.NDArray[Any]
OPEN_END = np.iinfo(np.int64).max


class Windows:
    """Spans of time, one for each clock of each worker and one for what it does after its last clock().

    Parameters
    ----------
    clocks, updates : mapping of str to array
        Columns; the clocks of every worker are 0, 1, 2, ...
    workers : int
    tick : (n,) bool
        Which updates end a clock.

    Attributes
    ----------
    finished : (workers,) int64
        Finished clock() calls.
    begin, end : (n,) int64, ns
        By worker and clock. The last span of a worker ends when it sends its leaving oplog, or is open.
    """

    def __init__(self, clocks: Columns, updates: Columns, workers: int, tick: Array) -> None:
        worker, clock = clocks["worker"], clocks["clock"].astype(np.int64)
        self.finished: Array = np.bincount(worker, minlength=workers)
        self._start = np.concatenate([[0], np.cumsum(self.finished + 1)])
        n = int(self._start[-1])
        self.begin, self.end = np.zeros(n, np.int64), np.full(n, OPEN_END)
        place = self._start[worker] + clock
        self.begin[place + 1] = clocks[
            "t_end"
        ]  # the next line overwrites all of these but each worker's last
        self.begin[place] = clocks["t_begin"]
        self.end[place] = clocks["t_end"]
        leaving = tick & (updates["clock"] == self.finished[updates["worker"]])
        self.end[self._start[updates["worker"][leaving] + 1] - 1] = updates["t_sent"][leaving]

    def find(self, worker: Array, clock: Array) -> Array:
        """Place of the span of ``clock`` (n,) of ``worker`` (n,), -1 where there is none: (n,) int64."""
        known = (clock >= 0) & (clock <= self.finished[worker])
        return np.where(known, self._start[worker] + clock, -1)

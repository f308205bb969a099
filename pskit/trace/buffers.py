"""Fixed-width integer records, taken one by one as Python ints and handed on as NumPy chunks."""

from array import array
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

# A list takes a tuple four times faster than array('q') does, and a list of ints becomes an array in one
# pass: so records wait in a list, short enough to stay in the processor's cache.
CHUNK_RECORDS = 4096


class RecordBuffer:
    """A list that its owner extends by ``width`` ints per record, and empties in chunks.

    Parameters
    ----------
    width : int
        Integers per record.
    on_chunk : callable
        Called with each (n, width) int64 chunk, in order.

    Attributes
    ----------
    pending : list of int
        Records not handed on yet, flat. Always the same list, so that its ``extend`` may be kept.
    limit : int
        Length of ``pending`` at which the owner calls `flush`.
    flushed : int
        Records handed on so far.
    """

    __slots__ = ("_on_chunk", "_width", "flushed", "limit", "pending")

    def __init__(self, width: int, on_chunk: Callable[[npt.NDArray[np.int64]], None]) -> None:
        self._width = width
        self._on_chunk = on_chunk
        self.pending: list[int] = []
        self.limit = width * CHUNK_RECORDS
        self.flushed = 0

    def __len__(self) -> int:
        return self.flushed + len(self.pending) // self._width

    def flush(self) -> None:
        """Hand on what is pending.

        Raises
        ------
        TypeError
            When a value is not an integer: ``array`` refuses floats that NumPy would cut in silence.
        """
        if self.pending:
            chunk = np.frombuffer(array("q", self.pending), dtype=np.int64).reshape(-1, self._width)
            self.pending.clear()
            self.flushed += len(chunk)
            self._on_chunk(chunk)

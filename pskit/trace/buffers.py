"""Fixed-width integer records, taken one by one as Python ints and handed on as NumPy chunks."""

from array import array

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

    Attributes
    ----------
    pending : list of int
        Records not taken yet, flat. Always the same list, so that its ``extend`` may be kept.
    limit : int
        Length of ``pending`` at which the owner calls `take`.
    taken : int
        Records taken so far.
    """

    __slots__ = ("_width", "limit", "pending", "taken")

    def __init__(self, width: int) -> None:
        self._width = width
        self.pending: list[int] = []
        self.limit = width * CHUNK_RECORDS
        self.taken = 0

    def __len__(self) -> int:
        return self.taken + len(self.pending) // self._width

    def take(self) -> npt.NDArray[np.int64]:
        """Empty the buffer: what was pending, (n, width) int64, in order.

        Raises
        ------
        TypeError
            When a value is not an integer: ``array`` refuses floats that NumPy would cut in silence.
        """
        chunk = np.frombuffer(array("q", self.pending), dtype=np.int64).reshape(-1, self._width)
        self.pending.clear()
        self.taken += len(chunk)
        return chunk

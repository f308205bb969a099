"""Fixed-width records of integers and floats, taken one by one and handed on as NumPy chunks."""

import struct

import numpy as np
import numpy.typing as npt

# Packed at once: a record that waited as Python objects took thrice the time, most of it in cache misses.
CHUNK_RECORDS = 4096


class RecordBuffer:
    """A block of memory that its owner packs records into, and empties in chunks.

    Parameters
    ----------
    width, floats : int
        Integers per record, and floats behind them.

    Attributes
    ----------
    taken : int
        Records taken so far.
    """

    __slots__ = ("_at", "_block", "_floats", "_pack", "_size", "_stride", "_width", "_words", "taken")

    def __init__(self, width: int, floats: int = 0) -> None:
        self._width, self._floats = width, floats
        record = struct.Struct(f"={width}q{floats}d")
        self._pack, self._stride = record.pack_into, record.size
        self._size = self._stride * CHUNK_RECORDS
        self._block = bytearray(self._size)
        self._words = np.frombuffer(self._block, np.int64).reshape(CHUNK_RECORDS, width + floats)
        self._at = self.taken = 0

    def __len__(self) -> int:
        return self.taken + self._at // self._stride

    def add(self, *record: float) -> bool:
        """Pack a record; True when `take` must be called before the next.

        Raises
        ------
        struct.error
            On a wrong number of fields, or a float where an integer belongs.
        """
        self._pack(self._block, self._at, *record)
        self._at = at = self._at + self._stride
        return at == self._size

    def room(self) -> npt.NDArray[np.int64]:
        """Room for the next records, (n, width + floats) int64; who wrote there says so by `filled`."""
        return self._words[self._at // self._stride :]

    def filled(self, n: int) -> bool:
        """The first ``n`` records of `room` were written; True when `take` must be called before the next."""
        self._at += n * self._stride
        return self._at == self._size

    def take(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Empty the buffer: what was pending, (n, width) int64 and (n, floats) float64, in order."""
        words = self._words[: self._at // self._stride]
        integers = words[:, : self._width].copy()
        floats = words[:, self._width :].view(np.float64).copy()
        self._at = 0
        self.taken += len(integers)
        return integers, floats

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
    pack, block, at, stride, size
        For an owner in a hurry, who writes ``pack(block, at, *record)``, adds ``stride`` to ``at`` and
        calls `take` when that has reached ``size``.
    """

    __slots__ = ("_floats", "_width", "at", "block", "pack", "size", "stride", "taken")

    def __init__(self, width: int, floats: int = 0) -> None:
        self._width, self._floats = width, floats
        record = struct.Struct(f"={width}q{floats}d")
        self.pack, self.stride = record.pack_into, record.size
        self.size = self.stride * CHUNK_RECORDS
        self.block = bytearray(self.size)
        self.at = self.taken = 0

    def __len__(self) -> int:
        return self.taken + self.at // self.stride

    def add(self, *record: float) -> bool:
        """Pack a record; True when `take` must be called before the next.

        Raises
        ------
        struct.error
            On a wrong number of fields, or a float where an integer belongs.
        """
        self.pack(self.block, self.at, *record)
        self.at += self.stride
        return self.full

    @property
    def full(self) -> bool:
        """Whether `take` must be called before the next record."""
        return self.at == self.size

    def fill(self, records: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Pack as many of ``records`` (n, width) as fit, and return the others."""
        n = min(len(records), (self.size - self.at) // self.stride)
        end = self.at + n * self.stride
        self.block[self.at : end] = records[:n].tobytes()
        self.at = end
        return records[n:]

    def take(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Empty the buffer: what was pending, (n, width) int64 and (n, floats) float64, in order."""
        words = np.frombuffer(self.block, np.int64, self.at // 8).reshape(-1, self._width + self._floats)
        integers = words[:, : self._width].copy()
        floats = words[:, self._width :].view(np.float64).copy()
        self.at = 0
        self.taken += len(integers)
        return integers, floats

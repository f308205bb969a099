"""Random sequences for many links, computed and kept together.

A cluster has thousands of links, and a link may carry only a few messages. One NumPy pass for a handful of
numbers costs more than the messages themselves, so the sequences of a sender's links share their passes. Word
i of a sequence is fixed by its key, so who shares a pass with whom, and when, never changes a value.
"""

from array import array
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pskit.emulation.elementary import Floats
from pskit.emulation.streams import Words, open_unit, words

Transform = Callable[[Floats], NDArray[np.int64]]

FIRST_BLOCK, LARGEST_BLOCK = 4, 64
BATCH = 1024
"""Values per pass, about: large enough to hide a pass's fixed cost, small in memory."""


class Fan:
    """A group of sequences with one distribution.

    Parameters
    ----------
    keys : start and offset of each sequence's stream, from :func:`pskit.emulation.streams.derive`
    transform : turns uniform numbers, (m, n) float64 strictly between 0 and 1, into values, (m, n) int64
    """

    # Every sequence has a row of values computed ahead, all rows in one array. The three arrays are looked
    # at number by number as Python arrays and together as NumPy views of the same memory.
    __slots__ = ("_at", "_ats", "_end", "_ends", "_offset", "_position", "_start", "_transform", "_value",
                 "_values")  # fmt: skip

    def __init__(self, keys: Sequence[tuple[int, int]], transform: Transform) -> None:
        pairs = np.array(keys, dtype=np.uint64)
        self._start, self._offset = pairs[:, :1], pairs[:, 1:]
        self._position = np.zeros((len(keys), 1), dtype=np.uint64)  # words drawn so far
        self._transform = transform
        self._value, self._values = twins(len(keys) * LARGEST_BLOCK)
        self._at, self._ats = twins(len(keys))  # where in ``_value`` a sequence goes on
        self._end, self._ends = twins(len(keys))  # where its values end
        self._ats[:] = self._ends[:] = np.arange(len(keys)) * LARGEST_BLOCK

    def next(self, i: int) -> int:
        """Draw the next value of the i-th sequence."""
        at = self._at[i]
        if at == self._end[i]:
            self._prepare(i)
            at = self._at[i]
        self._at[i] = at + 1
        return self._value[at]

    def next_of_all(self) -> NDArray[np.int64]:
        """Draw the next value of every sequence: (m,) int64."""
        ats = self._ats
        empty = ats == self._ends
        if empty.any():
            self._prepare(int(empty.argmax()))
        values: NDArray[np.int64] = self._values[ats]
        ats += 1
        return values

    def _prepare(self, i: int) -> None:
        """Compute values for the i-th sequence and for all that are about as far; it doubles their number.

        Those with less than half of their values left give them up for new ones, the same ones among them:
        so sequences that are drawn from in turn stay in step, whoever is drawn from a little more.
        """
        first = np.arange(len(self._ats)) * LARGEST_BLOCK
        left = self._ends - self._ats
        members = np.flatnonzero(2 * left <= self._ends - first)
        position: Words = self._position[members] - left[members, None].astype(np.uint64)
        n = max(min(int(self._position[i, 0]), BATCH // len(members), LARGEST_BLOCK), FIRST_BLOCK)
        steps: Words = np.arange(n, dtype=np.uint64)
        values = self._transform(
            open_unit(words(self._start[members], self._offset[members], position + steps))
        )
        self._values.reshape(-1, LARGEST_BLOCK)[members, :n] = values
        self._position[members] = position + np.uint64(n)
        self._ats[members] = first[members]
        self._ends[members] = first[members] + n


def twins(n: int) -> "tuple[array[int], NDArray[np.int64]]":
    """``n`` zeros as a Python array and as a NumPy view of it."""
    numbers = array("q", bytes(8 * n))
    return numbers, np.frombuffer(numbers, np.int64)


def block_of(values: NDArray[np.int64]) -> "array[int]":
    """Pack a contiguous (n,) int64 array; the block yields Python integers but keeps 8 bytes each, not 40."""
    return array("q", values.tobytes())

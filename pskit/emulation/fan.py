"""Random sequences for many links, computed together.

A cluster has thousands of links, and a link may carry only a few messages. One NumPy pass for a handful of
numbers costs more than the messages themselves, so the sequences of a sender's links share their passes. Word
i of a sequence is fixed by its key, so who shares a pass with whom, and when, never changes a value.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pskit.emulation.elementary import Floats
from pskit.emulation.streams import Words, open_unit, words

Transform = Callable[[Floats], NDArray[np.int64]]

FIRST_BLOCK, LARGEST_BLOCK = 4, 256
BATCH = 1024
"""Values per pass, about: large enough to hide a pass's fixed cost, small in memory."""


class Fan:
    """A group of sequences with one distribution.

    Parameters
    ----------
    keys : start and offset of each sequence's stream, from :func:`pskit.emulation.streams.derive`
    transform : turns uniform numbers, (m, n) float64 strictly between 0 and 1, into values, (m, n) int64
    """

    __slots__ = ("_ahead", "_offset", "_position", "_start", "_transform")

    def __init__(self, keys: Sequence[tuple[int, int]], transform: Transform) -> None:
        pairs = np.array(keys, dtype=np.uint64)
        self._start, self._offset = pairs[:, :1], pairs[:, 1:]
        self._position = np.zeros((len(keys), 1), dtype=np.uint64)
        self._ahead: list[array[int] | None] = [None] * len(keys)
        self._transform = transform

    def sequence(self, i: int) -> Iterator[int]:
        """Open the endless sequence of the i-th key; to be called once for each."""
        return chain.from_iterable(self._blocks(i))

    def _blocks(self, i: int) -> "Iterator[array[int]]":
        while True:
            block = self._ahead[i] or self._prepare(i)
            self._ahead[i] = None
            yield block

    def _prepare(self, i: int) -> "array[int]":
        """Compute a block for every sequence that has none ahead; it doubles the length of the i-th."""
        members = np.flatnonzero([block is None for block in self._ahead])
        largest = min(BATCH // len(members), LARGEST_BLOCK)
        n = max(min(int(self._position[i, 0]), largest), FIRST_BLOCK)
        position: Words = self._position[members]
        self._position[members] = position + np.uint64(n)
        steps: Words = np.arange(n, dtype=np.uint64)
        values = self._transform(
            open_unit(words(self._start[members], self._offset[members], position + steps))
        )
        blocks = dict(zip(members.tolist(), map(block_of, values), strict=True))
        for member, block in blocks.items():
            self._ahead[member] = block
        return blocks[i]


def block_of(values: NDArray[np.int64]) -> "array[int]":
    """Pack a contiguous (n,) int64 array; the block yields Python integers but keeps 8 bytes each, not 40."""
    return array("q", values.tobytes())

"""A bounded sample that depends only on the set of records, never on their order.

Every record has a 64-bit key, drawn from what it is (worker and clock, message id) and the seed. Level
``k`` keeps the keys below ``2**(64 - k)``, so a level is a part of the one before. The sample starts at
level 0 and, whenever it holds more rows than its cap, goes up and drops what the new level does not
keep. The final level is the lowest one whose sample fits, whatever the order of arrival, and
``2**-level`` is the share of all keys that it keeps.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

_ALL = 2**64 - 1


class KeyedSample:
    """Groups of rows that share a key, thinned to at most ``cap`` rows.

    Parameters
    ----------
    cap : int or None
        Largest number of rows; None keeps everything. A sample is never thinned to nothing: it stays
        above its cap when the next level has no group.
    group_width, row_width : int
        Columns of a group line and of a row line.

    Attributes
    ----------
    level : int
    rows : int
        Rows held now.
    """

    def __init__(self, cap: int | None, group_width: int, row_width: int) -> None:
        self._cap = cap
        self.level = 0
        self.rows = 0
        self._blocks = [
            (
                np.empty(0, np.uint64),
                np.empty(0, np.int64),
                np.empty((0, group_width), np.int64),
                np.empty((0, row_width), np.uint64),
            )
        ]

    @property
    def threshold(self) -> int:
        """Largest key that is kept."""
        return _ALL >> self.level

    @property
    def share(self) -> float:
        """Share of all possible keys that is kept, a power of two."""
        return 2.0**-self.level

    def add(
        self,
        keys: npt.NDArray[np.uint64],
        sizes: npt.NDArray[np.int64],
        groups: npt.NDArray[np.int64],
        rows: npt.NDArray[np.uint64],
    ) -> None:
        """Add groups whose keys are all within `threshold`, and take over the arrays.

        Parameters
        ----------
        keys, sizes : (n,) uint64, int64
            Key of each group and its number of rows.
        groups : (n, group_width) int64
        rows : (sum of sizes, row_width) uint64
            The rows of the groups, group after group.
        """
        self._blocks.append((keys, sizes, groups, rows))
        self.rows += len(rows)
        while self._cap is not None and self.rows > self._cap and self._raise_level():
            pass

    def _raise_level(self) -> bool:
        keys, sizes, groups, rows = self._joined()
        kept = keys < np.uint64(2 ** (64 - self.level) // 2)
        if not kept.any():
            return False
        self.level += 1
        self._blocks = [(keys[kept], sizes[kept], groups[kept], rows[np.repeat(kept, sizes)])]
        self.rows = len(self._blocks[0][3])
        return True

    def _joined(self) -> tuple[Any, Any, Any, Any]:
        if len(self._blocks) > 1:
            keys, sizes, groups, rows = (np.concatenate(part) for part in zip(*self._blocks, strict=True))
            self._blocks = [(keys, sizes, groups, rows)]
        return self._blocks[0]

    def result(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Sizes (n,), group lines (n, group_width) and row lines of all groups, in order of arrival."""
        _, sizes, groups, rows = self._joined()
        return sizes, groups, rows

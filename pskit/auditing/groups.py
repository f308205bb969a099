"""Many ascending sequences in one array, searched all at once."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class SortedGroups:
    """Values in groups, ascending within each group.

    Parameters
    ----------
    group : (n,) int
        Group of each value, 0 or more.
    value : (n,) int
    groups : int
        Number of groups.

    Attributes
    ----------
    order : (n,) int64
        Places of the given values by group, then value; equal ones as given.
    group, value : (n,) int64
        In that order.
    start : (groups + 1,) int64
        Group ``g`` has the places ``start[g] .. start[g + 1] - 1``.
    """

    def __init__(self, group: Array, value: Array, groups: int) -> None:
        self.order = np.lexsort((value, group))
        self.group = group[self.order].astype(np.int64)
        self.value = value[self.order].astype(np.int64)
        self.start = np.searchsorted(self.group, np.arange(groups + 1))
        # A value's rank instead of the value keeps the joint key small, however large the times are.
        self._scale = np.unique(self.value)
        self._width = len(self._scale) + 1
        self._key = self.group * self._width + np.searchsorted(self._scale, self.value)

    def count(self, group: Array, value: Array, inclusive: bool = False) -> Array:
        """How many values of ``group`` (m,) are below ``value`` (m,), or not above it: (m,) int64."""
        return self.first(group, value, after=inclusive) - self.start[group]

    def first(self, group: Array, value: Array, after: bool = False) -> Array:
        """Place of the first value of ``group`` (m,) that is not below ``value`` (m,), or above it.

        It is ``start[group + 1]`` where there is none.
        """
        rank = np.searchsorted(self._scale, value, side="right" if after else "left")
        return np.searchsorted(self._key, np.asarray(group, np.int64) * self._width + rank)

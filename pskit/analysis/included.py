"""Which updates a version of a row contains, from what the shards say they applied."""

import numpy as np
import numpy.typing as npt

from pskit.trace.schema import Columns

Ints = npt.NDArray[np.int64]


class Included:
    """The order in which every shard applied the clocks of every worker.

    A row at version v contains the first v updates of its shard. Where updates leave at every INC, a clock
    makes several, and it is contained when the first of them is: for applications with one INC per clock.

    Parameters
    ----------
    updates : mapping of str to (n,) array
        The table of a run.
    workers, shards : int
    """

    def __init__(self, updates: Columns, workers: int, shards: int) -> None:
        self._workers = workers
        group = updates["shard"].astype(np.int64) * workers + updates["worker"]
        order = np.lexsort((updates["apply_index"], updates["clock"], group))
        clock, owner = updates["clock"][order], group[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = (np.diff(clock) != 0) | (np.diff(owner) != 0)
        lines = order[first]
        self._applied = _Groups(group[lines], updates["apply_index"][lines], shards * workers)
        self._made = _Groups(group[lines], updates["seq"][lines], shards * workers)

    def clocks(self, shard: npt.ArrayLike, version: npt.ArrayLike, worker: npt.ArrayLike) -> Ints:
        """How many clocks of ``worker`` are in ``version`` of rows of ``shard``; arguments broadcast."""
        group = np.asarray(shard, np.int64) * self._workers + np.asarray(worker, np.int64)
        return self._applied.below(group, version)

    def own_clocks(self, shard: npt.ArrayLike, upto: npt.ArrayLike, worker: npt.ArrayLike) -> Ints:
        """How many clocks of ``worker`` are among its update units below ``upto``; arguments broadcast."""
        group = np.asarray(shard, np.int64) * self._workers + np.asarray(worker, np.int64)
        return self._made.below(group, upto)


class _Groups:
    """Values in groups, searched all at once: ``group`` (n,) and ``value`` (n,), 0 or more each."""

    def __init__(self, group: Ints, value: Ints, groups: int) -> None:
        self._span = int(value.max(initial=-1)) + 2
        self._keys: Ints = np.sort(group * self._span + value)
        self._start: Ints = np.searchsorted(self._keys, np.arange(groups + 1) * self._span)

    def below(self, group: Ints, limit: npt.ArrayLike) -> Ints:
        """How many values of ``group`` are below ``limit``; arguments broadcast."""
        found: Ints = np.searchsorted(self._keys, group * self._span + np.minimum(limit, self._span - 1))
        return found - self._start[group]

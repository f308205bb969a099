"""Sharing out users among workers."""

import heapq
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def balanced_owner(counts: NDArray[np.integer], workers: int) -> NDArray[np.int32]:
    """Owner of each user: by falling number of ratings, each to the worker with the fewest so far.

    Parameters
    ----------
    counts : (n_users,) int
        Ratings per user.
    workers : int
        May exceed the number of users; some workers then own none.

    Returns
    -------
    (n_users,) int32
        A function of the arguments alone (ties go to the lower user and the lower worker). No worker has more
        ratings than the mean plus the largest user's.
    """
    owner = np.empty(len(counts), np.int32)
    loads = [(0, worker) for worker in range(workers)]
    for user in np.argsort(-counts.astype(np.int64), kind="stable").tolist():
        load, worker = loads[0]
        owner[user] = worker
        heapq.heapreplace(loads, (load + int(counts[user]), worker))
    return owner


class Partition:
    """Which ratings each worker works on.

    Parameters
    ----------
    user : (n,) int32
        User of each rating.
    n_users, workers : int
    """

    def __init__(self, user: NDArray[np.int32], n_users: int, workers: int) -> None:
        owner = balanced_owner(np.bincount(user, minlength=n_users), workers)[user]
        self.workers = workers
        self._order = np.argsort(owner, kind="stable")
        self._bounds = np.searchsorted(owner[self._order], np.arange(workers + 1))

    def __getitem__(self, worker: int) -> NDArray[np.int64]:
        """Positions of this worker's ratings, ascending."""
        if not 0 <= worker < self.workers:
            raise IndexError(f"worker {worker} of {self.workers}")
        return self._order[self._bounds[worker] : self._bounds[worker + 1]]

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        return (self[worker] for worker in range(self.workers))

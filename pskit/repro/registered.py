"""Matrix factorization that begins as the paper's did: workers first fetch and register all their rows."""

from typing import Any

import numpy as np

from pskit.apps.base import Worker
from pskit.apps.mf import MatrixFactorization
from pskit.apps.partition import Partition
from pskit.data import load_ratings


class RegisteredMF(MatrixFactorization):
    """The application ``mf``, with one GET of all rows of a worker's ratings before its first clock.

    The authors' matrix factorization requests every row that its ratings touch, and so registers for their
    pushes, before the first iteration. Without that the first epoch is full of cold misses, each of which
    delays one worker by a random round trip. Nothing makes up for these delays: under ESSP the workers'
    clocks stay as far apart as the first epoch left them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._own: list[tuple[Any, Any]] = []

    async def work(self, ps: Worker) -> None:
        """Register, then run SGD."""
        users, items = self._rows(ps.cfg.app.data, ps.workers)[ps.worker]
        await ps.get((ps.table("U"), users), (ps.table("V"), items))
        await super().work(ps)

    def _rows(self, data: str, workers: int) -> list[tuple[Any, Any]]:
        """Distinct users and items of each worker's ratings, ascending."""
        if len(self._own) != workers:
            ratings = load_ratings(data)
            partition = Partition(ratings.user, ratings.n_users, workers)
            self._own = [(np.unique(ratings.user[own]), np.unique(ratings.item[own])) for own in partition]
        return self._own

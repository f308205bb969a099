"""Matrix factorization by SGD, with both factors (and the biases) in the parameter server.

Users are shared out among the workers, so a user's row is touched by one worker only; all workers meet in the rows of
the items. A clock covers a share of a worker's ratings: it reads the rows they touch, runs SGD through them on copies,
and adds what changed. [1410.8043, Experiments]
"""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pskit.apps.base import Array, InitContext, Worker
from pskit.apps.kernels.mf import KERNELS
from pskit.apps.minibatches import minibatches
from pskit.apps.partition import Partition
from pskit.core.layout import TableSpec
from pskit.data import Ratings, load_ratings
from pskit.data.split import held_out
from pskit.errors import InputError

INIT_SPREAD = 0.8
"""The standard deviation of the initial factors, times sqrt(rank)."""


class Triples(NamedTuple):
    """Ratings as three columns (n,): int32, int32, float32."""

    user: NDArray[np.int32]
    item: NDArray[np.int32]
    value: NDArray[np.float32]


class Problem:
    """The data of a run, split for training and test.

    Attributes
    ----------
    ratings : Ratings
    train, test : Triples
    mean : float
        Mean training rating.
    """

    def __init__(self, ratings: Ratings, holdout: float) -> None:
        columns = (ratings.user, ratings.item, ratings.value)
        out = held_out(ratings, holdout)
        self.ratings = ratings
        self.train = Triples(*(c[~out] for c in columns)) if holdout else Triples(*columns)
        self.test = Triples(*(c[out] for c in columns))
        if not len(self.train.value) or (holdout and not len(self.test.value)):
            raise InputError(
                f"app.holdout = {holdout}: of the {len(ratings)} ratings in {ratings.source}, "
                f"{len(self.train.value)} are left for training and {len(self.test.value)} for the test; both must "
                "be above 0"
            )
        self.mean = float(np.mean(self.train.value, dtype=np.float64))


class MatrixFactorization:
    """The application ``mf``.

    Tables: ``U`` (n_users, rank) and ``V`` (n_items, rank); with ``app.biases`` also ``user_bias`` and ``item_bias``,
    one column each; all float32. A rating is predicted as U_a . V_b, or as mean + bias + bias + U_a . V_b with biases.
    """

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._partition: Partition | None = None
        self._mean = 0.0
        self._kernels = KERNELS["numba"]

    def _prepare(self, cfg: Any) -> Problem:
        """Load data and kernels once per process, however many workers it has."""
        if self._problem is None:
            app = cfg.app
            self._problem = Problem(load_ratings(app.data), app.holdout)
            self._mean = self._problem.mean if app.biases else 0.0
            self._kernels = KERNELS[app.kernel]
            # The first call compiles: not within a clock.
            tables = [np.zeros((1, cols), np.float32) for cols in (app.rank, app.rank, *[1, 1][: 2 * app.biases])]
            none = Triples(*(c[:0] for c in self._problem.train))
            self._kernels.sgd(*none, 0.0, 0.0, 0.0, *tables)
            self._kernels.squared_error(*none, 0.0, *tables)
        return self._problem

    def tables(self, cfg: Any) -> list[TableSpec]:
        """Load the data and name the tables.

        Raises
        ------
        InputError
            The data cannot be loaded, or the holdout leaves no rating on one side.
        """
        ratings = self._prepare(cfg).ratings
        rank = cfg.app.rank
        specs = [TableSpec("U", ratings.n_users, rank, "f4"), TableSpec("V", ratings.n_items, rank, "f4")]
        if cfg.app.biases:
            specs += [
                TableSpec("user_bias", ratings.n_users, 1, "f4"),
                TableSpec("item_bias", ratings.n_items, 1, "f4"),
            ]
        return specs

    def init(self, ctx: InitContext) -> None:
        """Fill the factors with random numbers; biases start at 0.

        Without biases the factors are centred so that the predictions are centred at the mean rating: with factors
        centred at 0, the first epochs would go into learning the mean.
        """
        rank = ctx.cfg.app.rank
        offset = self._prepare(ctx.cfg).mean - self._mean
        centre = math.sqrt(abs(offset) / rank)
        for name, mid in (("U", centre), ("V", math.copysign(centre, offset))):
            table = ctx.tables[name]
            noise = ctx.stream("init", name).normal(table.size).reshape(table.shape)
            table[:] = mid + (INIT_SPREAD / math.sqrt(rank)) * noise

    async def work(self, ps: Worker) -> None:
        """Run SGD through this worker's ratings, a share of them per clock."""
        app = ps.cfg.app
        train = self._prepare(ps.cfg).train
        if self._partition is None or self._partition.workers != ps.workers:
            self._partition = Partition(train.user, self._prepare(ps.cfg).ratings.n_users, ps.workers)
        own = self._partition[ps.worker]
        names = ("U", "V", "user_bias", "item_bias") if app.biases else ("U", "V")
        tables = [ps.table(name) for name in names]
        batches = minibatches(*(c[own] for c in train), app.clock_fraction, app.clocks, ps.stream)
        for clock, batch in enumerate(batches):
            n = len(batch.value)
            if n:
                wanted = list(zip(tables, (batch.users, batch.items) * 2, strict=False))
                step = app.step / math.sqrt(clock + 1) if app.schedule == "inverse-sqrt" else app.step
                fn = partial(self._kernels.sgd, *batch[2:], self._mean, step, app.reg)
                deltas = await ps.compute(fn, *await ps.get(*wanted), cost=n)
                for (table, ids), delta in zip(wanted, deltas, strict=True):
                    table.inc(ids, delta)
            else:
                await ps.compute(tuple)  # a clock takes its time without ratings too
            await ps.clock()

    def objective(self, tables: Mapping[str, Array]) -> dict[str, float]:
        """Mean squared error without the penalty: ``loss`` on the training ratings, ``test_loss`` on the held-out."""
        if self._problem is None:
            raise RuntimeError("objective() before tables(cfg)")
        names = [name for name in ("U", "V", "user_bias", "item_bias") if name in tables]
        arrays = [np.ascontiguousarray(tables[name]) for name in names]
        metrics = {}
        for name, part in (("loss", self._problem.train), ("test_loss", self._problem.test)):
            if n := len(part.value):
                metrics[name] = self._kernels.squared_error(*part, self._mean, *arrays) / n
        return metrics

    def describe(self, cfg: Any) -> str:
        """One line for captions."""
        problem, app = self._prepare(cfg), cfg.app
        ratings = problem.ratings
        held = f", {len(problem.test.value):,} held out" if app.holdout else ""
        return (
            f"MF, rank {app.rank}{' with biases' if app.biases else ''}, {ratings.source}: {ratings.n_users:,} users x "
            f"{ratings.n_items:,} items, {len(ratings):,} ratings{held}; a clock is {100 * app.clock_fraction:g}% of "
            f"each worker's ratings; step {app.step:g} {app.schedule}, l2 weight {app.reg:g}"
        )

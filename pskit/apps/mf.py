"""Matrix factorization by SGD, with both factors (and the biases) in the parameter server.

Users are shared out among the workers, so a user's row is touched by one worker only; all workers meet in the
rows of the items. A clock covers a share of a worker's ratings: it reads the rows they touch, runs SGD
through them on copies, and adds what changed. [1410.8043, Experiments]

Before its first clock a worker reads all rows that it will ever touch, as Petuum's own applications do: they
are then cached, and under ESSP subscribed, from the start. Without it every clock of the first epoch waits
for new rows, and these waits, unequal by chance, set the workers apart for the rest of the run.
"""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from pskit.apps.base import Array, InitContext, Table, Worker
from pskit.apps.kernels.mf import KERNELS
from pskit.apps.minibatches import minibatches
from pskit.apps.partition import Partition
from pskit.apps.steps import step_size
from pskit.core.layout import TableSpec
from pskit.data import load_ratings
from pskit.data.split import held_out
from pskit.errors import InputError, about

INIT_SPREAD = 0.8
"""The standard deviation of the initial factors, times sqrt(rank)."""

FACTORS = ("U", "V")
BIASES = ("user_bias", "item_bias")


class Problem:
    """The data of a run, and the kernels to work on them.

    Attributes
    ----------
    ratings : Ratings
    train, test : Triples
        All ratings, parted.
    mean : float
        Mean training rating.
    base : float
        Constant part of the predictions: the mean with biases, else 0.
    kernels : Kernels
    names : tuple of str
        The tables in the order of the kernels' arguments.

    Raises
    ------
    InputError
        The data cannot be loaded, or the holdout leaves no rating for training or for the test.
    """

    def __init__(self, app: Any) -> None:
        with about("app.data", app.data):
            self.ratings = load_ratings(app.data)
        out = held_out(self.ratings, app.holdout)
        self.train, self.test = self.ratings.triples.select(~out), self.ratings.triples.select(out)
        counts = len(self.train.value), len(self.test.value)
        if not counts[0] or (app.holdout and not counts[1]):
            raise InputError(
                f"app.holdout = {app.holdout}: of the {len(self.ratings)} ratings in {self.ratings.source}, "
                f"{counts[0]} are left for training and {counts[1]} for the test; both must be above 0"
            )
        self.mean = float(np.mean(self.train.value, dtype=np.float64))
        self.base = self.mean if app.biases else 0.0
        self.kernels = KERNELS[app.kernel]
        self.names = FACTORS + BIASES if app.biases else FACTORS
        self._partition = Partition(self.train.user, self.ratings.n_users, 1)

    def partition(self, workers: int) -> Partition:
        """The partition among this many workers; only the latest is kept."""
        if self._partition.workers != workers:
            self._partition = Partition(self.train.user, self.ratings.n_users, workers)
        return self._partition

    def warm_up(self, rank: int) -> None:
        """Compile the kernels, or load them: not within a clock."""
        none = self.train.select(slice(0))
        tables = [np.zeros((1, rank if name in FACTORS else 1), np.float32) for name in self.names]
        self.kernels.sgd(*none, 0.0, 0.0, 0.0, *tables)
        self.kernels.squared_error(*none, 0.0, *tables)


class MatrixFactorization:
    """The application ``mf``.

    Tables: ``U`` (n_users, rank) and ``V`` (n_items, rank); with ``app.biases`` also ``user_bias`` and
    ``item_bias``, one column each; all float32. A rating is predicted as U_a . V_b, or as mean + bias + bias
    + U_a . V_b with biases.
    """

    def __init__(self) -> None:
        self._problem: Problem | None = None

    def _prepared(self, cfg: Any) -> Problem:
        """Load data and kernels once per process, however many workers it has."""
        if self._problem is None:
            problem = Problem(cfg.app)
            problem.warm_up(cfg.app.rank)
            self._problem = problem
        return self._problem

    def tables(self, cfg: Any) -> list[TableSpec]:
        """Load the data and name the tables.

        Raises
        ------
        InputError
            See `Problem`.
        """
        problem, rank = self._prepared(cfg), cfg.app.rank
        rows = {"U": problem.ratings.n_users, "V": problem.ratings.n_items}
        rows |= {"user_bias": rows["U"], "item_bias": rows["V"]}
        return [TableSpec(name, rows[name], rank if name in FACTORS else 1, "f4") for name in problem.names]

    def init(self, ctx: InitContext) -> None:
        """Fill the factors with random numbers; biases start at 0.

        Without biases the factors are centred so that predictions are centred at the mean rating: with
        factors centred at 0, the first epochs would go into learning the mean.
        """
        problem, rank = self._prepared(ctx.cfg), ctx.cfg.app.rank
        offset = problem.mean - problem.base
        centre = math.sqrt(abs(offset) / rank)
        for name, mid in zip(FACTORS, (centre, math.copysign(centre, offset)), strict=True):
            table = ctx.tables[name]
            noise = ctx.stream(name).normal(table.size).reshape(table.shape)
            table[:] = mid + (INIT_SPREAD / math.sqrt(rank)) * noise

    async def work(self, ps: Worker) -> None:
        """Run SGD through this worker's ratings, a share of them per clock."""
        app, problem = ps.cfg.app, self._prepared(ps.cfg)
        own = problem.train.select(problem.partition(ps.workers)[ps.worker])
        tables = [ps.table(name) for name in problem.names]

        def of(users: Array, items: Array) -> list[tuple[Table, Array]]:
            return list(zip(tables, (users, items) * 2, strict=False))

        await ps.get(*of(np.unique(own.user), np.unique(own.item)))
        sgd, base = problem.kernels.sgd, problem.base
        for clock, batch in enumerate(minibatches(own, app.clock_fraction, app.clocks, ps.stream)):
            n = len(batch.value)
            if n:
                wanted = of(batch.users, batch.items)
                views = await ps.get(*wanted)
                step = step_size(app, clock, ps.start_index)
                run = partial(sgd, batch.user, batch.item, batch.value, base, step, app.reg)
                for (table, ids), delta in zip(wanted, await ps.compute(run, *views, cost=n), strict=True):
                    table.inc(ids, delta)
            else:
                await ps.compute(tuple)  # A clock takes its time without ratings too.
            await ps.clock()

    def no_gate(self, cfg: Any) -> str:
        """See `pskit.apps.base.Application`."""
        return (
            "in its first clock a worker reads twice, all rows that it will ever touch and then those of its "
            "first ratings, and under such a policy a computation reads once"
        )

    def objective(self, tables: Mapping[str, Array]) -> dict[str, float]:
        """Mean squared error without the penalty: ``loss`` in training, ``test_loss`` on held-out ratings."""
        problem = self._problem
        if problem is None:
            raise RuntimeError("objective() needs the data that tables(cfg) loads")
        arrays = [np.ascontiguousarray(tables[name]) for name in problem.names]
        parts = {"loss": problem.train, "test_loss": problem.test}
        return {
            name: problem.kernels.squared_error(*part, problem.base, *arrays) / len(part.value)
            for name, part in parts.items()
            if len(part.value)
        }

    def describe(self, cfg: Any) -> str:
        """One line for captions."""
        problem, app = self._prepared(cfg), cfg.app
        ratings, held = problem.ratings, len(problem.test.value)
        return (
            f"MF, rank {app.rank}{' with biases' if app.biases else ''}, {ratings.source}: "
            f"{ratings.n_users:,} users x {ratings.n_items:,} items, {len(ratings):,} ratings"
            f"{f' ({held:,} held out)' if held else ''}; a clock is {100 * app.clock_fraction:g}% of each "
            f"worker's ratings; step {app.step:g} {app.schedule}, l2 weight {app.reg:g}"
        )

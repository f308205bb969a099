"""Theorem 5 without its assumption of independence: a law of runs for which the printed bound is false.

Two workers, s = 8, linear losses g_t x in one dimension. The slope keeps its sign for 160 reads and then
turns, over and over; in the first twentieth of a run it is all but 0. The network is slow for the whole run
(ages 8) or fast for all of it (ages 1), with probability 1/2 each: one coin, so the gamma_t of a run all rise
and fall together. The slopes add up to 0, so that every x is a minimiser of the sum; that in the middle of
the slow run's path makes the smallest F^2.

Everything is a sum of prescribed numbers (`path`), for every T. Emulated runs of the same config, with the
law of ages drawn once per run, are made to hold the sums against.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import theory
from pskit.apps.base import Array, InitContext, Worker
from pskit.apps.steps import step_size
from pskit.apps.terms import Floats, Terms
from pskit.config import Config
from pskit.convex import measure
from pskit.core.layout import TableSpec
from pskit.running import run

HALF_PERIOD = 160  # reads
QUIET, QUIET_SLOPE = 0.05, 1e-9
FAST, SLOW = 1, 8  # ages, clocks; the second is the slack
READS = (1280, 5120, 20480, 81920, 327680)
"""T of the closed form: whole periods."""


def slopes(reads: int) -> Floats:
    """g_1 .. g_T, (reads,) float64."""
    t = np.arange(reads)
    g = np.where((t // HALF_PERIOD) % 2 == 0, 1.0, -1.0)
    g[: quiet(reads)] *= QUIET_SLOPE
    return g


def quiet(reads: int) -> int:
    """How many reads the quiet beginning has: whole periods."""
    return int(QUIET * reads) // (2 * HALF_PERIOD) * (2 * HALF_PERIOD)


class Path(NamedTuple):
    """A run: references (T + 1,), views, updates and slopes (T,)."""

    x: Floats
    views: Floats
    u: Floats
    g: Floats


def path(reads: int, age: int, workers: int = 2, step: float = 1.0) -> Path:
    """The run of ``reads`` reads whose views lack the last ``age`` clocks of every other worker."""
    g = slopes(reads)
    u = -step / np.sqrt(np.arange(1, reads + 1)) * g
    by_worker = np.concatenate([np.zeros((1, workers)), np.cumsum(u.reshape(-1, workers), axis=0)])
    clock, worker = np.divmod(np.arange(reads), workers)
    seen = np.maximum(clock - age, 0)
    views = by_worker[seen].sum(axis=1) - by_worker[seen, worker] + by_worker[clock, worker]
    return Path(np.concatenate([[0.0], np.cumsum(u)]), views, u, g)


def middle(reads: int) -> float:
    """The comparator: the middle of the path after its quiet beginning, which no view changes."""
    late = path(reads, SLOW).x[quiet(reads) :]
    return float(late.max() + late.min()) / 2


class LinearTerms(Terms):
    """The terms g_t x."""

    def __init__(self, workers: int, clocks: int) -> None:
        super().__init__(workers, clocks, np.zeros(1), lipschitz=1.0, lipschitz_inf=1.0, smoothness=0.0)
        self.g = slopes(len(self))

    def values(self, x: Floats) -> Floats:
        """See `Terms.values`."""
        return np.asarray(self.g * np.broadcast_to(x, (len(self), 1))[:, 0])

    def gradients(self, x: Floats) -> Floats:
        """See `Terms.gradients`."""
        return np.asarray(self.g[:, None])

    def minimiser(self) -> Floats:
        """See `Terms.minimiser`: any point is one."""
        return np.array([middle(len(self))])

    def population(self) -> Floats:
        """See `Terms.population`."""
        return self.minimiser()


class Linear:
    """The application: one number, from 0; a clock is one read and one step along a prescribed slope."""

    def terms(self, cfg: Any) -> LinearTerms:
        """The terms that a run of ``cfg`` sums."""
        return LinearTerms(cfg.workers, cfg.app.clocks)

    def tables(self, cfg: Any) -> list[TableSpec]:
        """Name the table."""
        return [TableSpec("x", 1, 1, "f8")]

    def init(self, ctx: InitContext) -> None:
        """x starts at 0."""

    async def work(self, ps: Worker) -> None:
        """One step per clock."""
        x, ids = ps.table("x"), np.zeros(1, np.int32)
        workers, clocks = ps.cfg.workers, ps.cfg.app.clocks
        mine = slopes(workers * clocks)[ps.worker :: workers]
        for clock, slope in enumerate(mine[:, None, None]):
            view = await x.get(ids)
            size = step_size(ps.cfg.app, clock, ps.start_index)
            g = await ps.compute(np.copy, slope, cost=1)
            x.inc(ids, -size * g)
            ps.took_step(size, g, float(g[0, 0] * view[0, 0]))
            await ps.clock()

    def objective(self, tables: Mapping[str, Array]) -> dict[str, float]:
        """``loss``: the distance to 0."""
        return {"loss": float(np.abs(tables["x"]).sum())}

    def describe(self, cfg: Any) -> str:
        """One line for captions."""
        return "linear losses in one dimension, prescribed slopes, L = 1; one read and one step a clock"


def measured(configs: Sequence[Config]) -> dict[str, npt.NDArray[Any]]:
    """Emulated runs beside the closed form, and the printed bound beside the true probability.

    Parameters
    ----------
    configs : sequence of Config
        N runs of `Linear` that differ in ``run.seed``, P = 2, with ages `FAST` or `SLOW` drawn once per run.

    Returns
    -------
    dict
        Of the emulated runs, (N,): ``regret`` (R/T), ``slow``, ``difference`` (of R/T to the closed form,
        relative). Of the closed form at each T of `READS`: ``closed_NAME`` for every name of `Closed`.
    """
    found: dict[str, list[float]] = {"regret": [], "slow": [], "difference": []}
    for cfg in configs:
        trace = run(cfg, threads=1)
        one = measure(trace, "population")
        slow = int(trace.staleness().between(SLOW, cfg.app.clocks).mean()) == SLOW
        exact = path(len(one), SLOW if slow else FAST, cfg.workers, cfg.app.step)
        regret = float(np.mean(exact.g * (exact.views - one.x_star[0])))
        found["regret"].append(one.mean_regret)
        found["slow"].append(float(slow))
        found["difference"].append(abs(one.mean_regret - regret) / abs(regret))
    lines = [closed_form(reads, configs[0].workers, configs[0].ps.slack or 0) for reads in READS]
    found |= {f"closed_{name}": [getattr(line, name) for line in lines] for name in Closed._fields}
    return {name: np.array(values) for name, values in found.items()}


class Closed(NamedTuple):
    """What Theorem 5 as printed says of the level that half of all runs reach.

    ``reads`` is T. ``mu`` and ``var`` are those of gamma over both kinds of runs. ``regret_*`` is R/T.
    ``bound`` is the printed bound on P(R/T >= regret_slow), which is 1/2.
    """

    reads: float
    mu: float
    var: float
    F2: float
    centre: float
    regret_slow: float
    regret_fast: float
    bound: float
    log_bound: float


def closed_form(reads: int, workers: int, slack: int) -> Closed:
    """Both kinds of runs of ``reads`` reads, and the printed bound."""
    star, kinds = middle(reads), {age: path(reads, age) for age in (SLOW, FAST)}
    gammas = [theory.gamma(k.x, k.views, k.u, workers, slack).gamma for k in kinds.values()]
    mu, var = float(np.mean(gammas)), float(np.var(gammas))
    F2 = max(float(((star - k.x[:-1]) ** 2).max()) / 2 for k in kinds.values())
    centre = float(theory.thm5_center(1.0, 1.0, F2, reads, mu))
    regret = {age: float(np.mean(k.g * (k.views - star))) for age, k in kinds.items()}
    tau = regret[SLOW] - centre
    bound, log = 1.0, 0.0
    if tau > 0:
        tail = theory.thm5_tail(tau, 1.0, 1.0, workers, slack, reads, mu, var, method="paper")
        bound, log = float(tail), float(np.asarray(tail.details["log"]))
    return Closed(float(reads), mu, var, F2, centre, regret[SLOW], regret[FAST], bound, log)

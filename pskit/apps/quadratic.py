"""A quadratic with noisy gradients, so small that a run shows the cost of everything else.

    f(x) = sum_i h_i (x_i - x*_i)^2 / 2,    f_t(x) = f(x) + noise xi_t . (x - x*)

All workers read all of x and take one step per clock along their own noisy gradient, x <- x - step (h (x -
x*) + noise xi) with xi standard normal. Steps of all workers add up: with P workers the largest stable step
is below 2 / (P max h), and falls with staleness. Without noise it interpolates: every term is least at x*.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pskit.apps.base import Array, InitContext, Worker
from pskit.apps.steps import step_size
from pskit.apps.terms import Floats, Terms, directions, noise_seed
from pskit.core.layout import TableSpec
from pskit.emulation.streams import Stream

Column = NDArray[np.float64]

SMALLEST_CURVATURE = 0.25
_NOISE_CLOCKS = 64
_NOISE_NUMBERS = 1 << 16
"""The noise of so many clocks is drawn at once, or of fewer, down to one, where that were more numbers."""


def clocks_ahead(dim: int) -> int:
    """Clocks whose noise is drawn at once."""
    return max(1, min(_NOISE_CLOCKS, _NOISE_NUMBERS // dim))


def curvatures(dim: int, chosen: tuple[float, ...] = ()) -> Column:
    """h: (dim, 1) float64, as ``chosen`` or evenly spaced from 1 down to `SMALLEST_CURVATURE`."""
    h = np.array(chosen, np.float64) if chosen else np.linspace(1.0, SMALLEST_CURVATURE, dim)
    return h.reshape(dim, 1)


def minimiser(dim: int, distance: float | None = None) -> Column:
    """x*: (dim, 1) float64, see `directions`."""
    return directions(dim, distance).reshape(dim, 1)


def start(app: Any, seed: int) -> Column:
    """Where the run starts, (dim, 1) float64: 0, or as far from x* in a direction drawn from ``seed``."""
    if not app.random_start:
        return np.zeros((app.dim, 1))
    best = minimiser(app.dim, app.distance)
    way = Stream(seed, "app", "start").normal(app.dim).reshape(app.dim, 1)
    return np.asarray(best + way * (np.linalg.norm(best) / np.linalg.norm(way)))


def excess(x: Column, h: Column, best: Column) -> float:
    """f(x) - f(x*), all arguments (dim, 1) float64."""
    with np.errstate(over="ignore"):
        return float(np.sum(h * (x - best) ** 2) / 2)


def slope(x: Column, h: Column, best: Column) -> Column:
    """Gradient of f at x, all arrays (dim, 1) float64."""
    # Overflow: a diverging run is reported where its update is taken in.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(h * (x - best))


def noisy_centres(best: Column, noise: float, draws: NDArray[np.float64], h: Column) -> NDArray[np.float64]:
    """Where the minimiser seems to be with the noise of n clocks: h (x - x*) + noise xi = h (x - centre).

    Parameters
    ----------
    best, h : (dim, 1) float64
    noise : float
    draws : (n, dim, 1) float64
        xi, standard normal.

    Returns
    -------
    (n, dim, 1) float64
    """
    with np.errstate(over="ignore", invalid="ignore"):  # as in `slope`
        return best - noise * draws / h


def noise_stream(seed: int, worker: int) -> Stream:
    """The stream of one worker's gradient noise."""
    return Stream(seed, "app", "worker", worker, "noise")


class QuadraticTerms(Terms):
    """The terms of a run of `Quadratic`.

    Attributes
    ----------
    curvature, best : (dim,) float64
    """

    def __init__(self, cfg: Any) -> None:
        app, seed = cfg.app, noise_seed(cfg)
        self.curvature = curvatures(app.dim, app.curvature)[:, 0]
        self.best = minimiser(app.dim, app.distance)[:, 0]
        super().__init__(
            cfg.workers,
            app.clocks,
            start(app, seed)[:, 0],
            lipschitz=np.inf,
            lipschitz_inf=np.inf,
            smoothness=float(self.curvature.max()),
        )
        self._noise, self._seed = app.noise, seed

    @cached_property
    def noise(self) -> Floats:
        """Additive noise of each gradient, clock-major: (T, dim) float64."""
        if not self._noise:
            return np.zeros((len(self), self.dim))
        size = self.clocks * self.dim
        draws = [noise_stream(self._seed, w).normal(size) for w in range(self.workers)]
        by_worker = np.stack(draws).reshape(self.workers, self.clocks, self.dim)
        return np.asarray(self._noise * by_worker.swapaxes(0, 1).reshape(len(self), self.dim))

    def values(self, x: Floats) -> Floats:
        """See `Terms.values`."""
        away = x - self.best
        return np.asarray((self.curvature * away**2 / 2 + self.noise * away).sum(axis=1))

    def gradients(self, x: Floats) -> Floats:
        """See `Terms.gradients`."""
        return np.asarray(self.curvature * (x - self.best) + self.noise)

    def minimiser(self) -> Floats:
        """See `Terms.minimiser`: x* minus the mean noise over h."""
        return np.asarray(self.best - self.noise.mean(axis=0) / self.curvature)

    def population(self) -> Floats:
        """See `Terms.population`: x*."""
        return self.best


class Quadratic:
    """The application ``quadratic``: one table ``x`` (dim, 1) float64."""

    def __init__(self) -> None:
        self._h = self._best = np.zeros((0, 1))

    def terms(self, cfg: Any) -> QuadraticTerms:
        """The terms that a run of ``cfg`` sums."""
        return QuadraticTerms(cfg)

    def tables(self, cfg: Any) -> list[TableSpec]:
        """Name the table."""
        return [TableSpec("x", cfg.app.dim, 1, "f8")]

    def init(self, ctx: InitContext) -> None:
        """x starts at 0, at the distance 1 from the minimiser in every coordinate; or see `start`."""
        app = ctx.cfg.app
        self._h, self._best = curvatures(app.dim, app.curvature), minimiser(app.dim, app.distance)
        ctx.tables["x"][:] = start(app, noise_seed(ctx.cfg))

    async def work(self, ps: Worker) -> None:
        """One step per clock."""
        app = ps.cfg.app
        dim = app.dim
        x, ids = ps.table("x"), np.arange(dim, dtype=np.int32)
        h, best = curvatures(dim, app.curvature), minimiser(dim, app.distance)
        stream, ahead = noise_stream(noise_seed(ps.cfg), ps.worker), clocks_ahead(dim)
        for clock in range(app.clocks):
            centre = best
            if app.noise:
                if clock % ahead == 0:
                    draws = stream.normal(ahead * dim).reshape(ahead, dim, 1)
                    centres = noisy_centres(best, app.noise, draws, h)
                centre = centres[clock % ahead]
            view = await x.get(ids)
            size = step_size(app, clock, ps.start_index)
            g = await ps.compute(slope, view, h, centre, cost=dim)
            with np.errstate(over="ignore", invalid="ignore"):  # as in `slope`
                x.inc(ids, -size * g)
                if ps.records:
                    ps.took_step(size, g, float(np.sum((g - h * (view - best) / 2) * (view - best))))
            await ps.clock()

    def objective(self, tables: Mapping[str, Array]) -> dict[str, float]:
        """``loss`` = f(x) - f(x*)."""
        return {"loss": excess(tables["x"], self._h, self._best)}

    def lipschitz_inf(self, cfg: Any) -> None:
        """None: a gradient can be arbitrarily large."""

    def step_at(self, cfg: Any, worker: int, clock: int, start: int) -> float:
        """The step of the computation that a worker starts as number ``start`` of all."""
        return step_size(cfg.app, clock, start)

    def working_bytes(self, cfg: Any) -> int:
        """Bytes of one worker: the noise drawn ahead with its temporaries, and some columns."""
        dim = cfg.app.dim
        ahead = 5 * clocks_ahead(dim) * dim if cfg.app.noise else 0
        return 8 * (ahead + 6 * dim)

    def describe(self, cfg: Any) -> str:
        """One line for captions."""
        app = cfg.app
        low, high = min(app.curvature, default=SMALLEST_CURVATURE), max(app.curvature, default=1.0)
        return (
            f"quadratic in {app.dim:,} dimensions, curvature {low:g} to {high:g}, gradient noise "
            f"{app.noise:g}; step {app.step:g} {app.schedule}"
        )

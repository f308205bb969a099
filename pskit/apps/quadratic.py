"""A quadratic with noisy gradients, so small that a run shows the cost of everything else.

    f(x) = sum_i h_i (x_i - x*_i)^2 / 2

All workers read all of x and take one step per clock along their own noisy gradient, x <- x - step (h (x -
x*) + noise xi) with xi standard normal. Steps of all workers add up: with P workers the largest stable step
is below 2 / (P max h), and falls with staleness.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pskit.apps.base import Array, InitContext, Worker
from pskit.core.layout import TableSpec

Column = NDArray[np.float64]

SMALLEST_CURVATURE = 0.25
_NOISE_CLOCKS = 64
_NOISE_NUMBERS = 1 << 16
"""The noise of so many clocks is drawn at once, or of fewer, down to one, where that were more numbers."""


def clocks_ahead(dim: int) -> int:
    """Clocks whose noise is drawn at once."""
    return max(1, min(_NOISE_CLOCKS, _NOISE_NUMBERS // dim))


def curvatures(dim: int) -> Column:
    """h: (dim, 1) float64, evenly spaced from 1 down to `SMALLEST_CURVATURE`."""
    return np.linspace(1.0, SMALLEST_CURVATURE, dim).reshape(dim, 1)


def minimiser(dim: int) -> Column:
    """x*: (dim, 1) float64, 1 and -1 in turn."""
    return np.where(np.arange(dim) % 2, -1.0, 1.0).reshape(dim, 1)


def excess(x: Column, h: Column, best: Column) -> float:
    """f(x) - f(x*), all arguments (dim, 1) float64."""
    with np.errstate(over="ignore"):
        return float(np.sum(h * (x - best) ** 2) / 2)


def step_along(x: Column, h: Column, best: Column, step: float) -> Column:
    """One step against the gradient of f at x, all arrays (dim, 1) float64."""
    # Overflow: a diverging run is reported where its update is taken in.
    with np.errstate(over="ignore", invalid="ignore"):
        return -step * (h * (x - best))


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
    with np.errstate(over="ignore", invalid="ignore"):  # as in `step_along`
        return best - noise * draws / h


class Quadratic:
    """The application ``quadratic``: one table ``x`` (dim, 1) float64 that starts at 0."""

    def tables(self, cfg: Any) -> list[TableSpec]:
        """Name the table."""
        return [TableSpec("x", cfg.app.dim, 1, "f8")]

    def init(self, ctx: InitContext) -> None:
        """x starts at 0, at the distance 1 from the minimiser in every coordinate."""

    async def work(self, ps: Worker) -> None:
        """One step per clock."""
        app = ps.cfg.app
        dim = app.dim
        x, ids = ps.table("x"), np.arange(dim, dtype=np.int32)
        h, best = curvatures(dim), minimiser(dim)
        stream, ahead = ps.stream("noise"), clocks_ahead(dim)
        for clock in range(app.clocks):
            step = app.step / math.sqrt(clock + 1) if app.schedule == "inverse-sqrt" else app.step
            centre = best
            if app.noise:
                if clock % ahead == 0:
                    draws = stream.normal(ahead * dim).reshape(ahead, dim, 1)
                    centres = noisy_centres(best, app.noise, draws, h)
                centre = centres[clock % ahead]
            delta = await ps.compute(step_along, await x.get(ids), h, centre, step, cost=dim)
            x.inc(ids, delta)
            await ps.clock()

    def objective(self, tables: Mapping[str, Array]) -> dict[str, float]:
        """``loss`` = f(x) - f(x*)."""
        x = tables["x"]
        return {"loss": excess(x, curvatures(len(x)), minimiser(len(x)))}

    def working_bytes(self, cfg: Any) -> int:
        """Bytes of one worker: the noise drawn ahead with its temporaries, and some columns."""
        dim = cfg.app.dim
        ahead = 5 * clocks_ahead(dim) * dim if cfg.app.noise else 0
        return 8 * (ahead + 6 * dim)

    def describe(self, cfg: Any) -> str:
        """One line for captions."""
        app = cfg.app
        return (
            f"quadratic in {app.dim:,} dimensions, curvature {SMALLEST_CURVATURE:g} to 1, gradient noise "
            f"{app.noise:g}; step {app.step:g} {app.schedule}"
        )

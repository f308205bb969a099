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
"""Clocks whose noise is drawn at once."""


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
        stream = ps.stream("noise")
        for clock in range(app.clocks):
            step = app.step / math.sqrt(clock + 1) if app.schedule == "inverse-sqrt" else app.step
            centre = best
            if app.noise:
                if clock % _NOISE_CLOCKS == 0:
                    draws = stream.normal(_NOISE_CLOCKS * dim).reshape(_NOISE_CLOCKS, dim, 1)
                    # h (x - x*) + noise xi = h (x - centre): noise moves the minimiser that a step heads for.
                    centres = best - app.noise * draws / h
                centre = centres[clock % _NOISE_CLOCKS]
            delta = await ps.compute(step_along, await x.get(ids), h, centre, step, cost=dim)
            x.inc(ids, delta)
            await ps.clock()

    def objective(self, tables: Mapping[str, Array]) -> dict[str, float]:
        """``loss`` = f(x) - f(x*)."""
        x = tables["x"]
        return {"loss": excess(x, curvatures(len(x)), minimiser(len(x)))}

    def describe(self, cfg: Any) -> str:
        """One line for captions."""
        app = cfg.app
        return (
            f"quadratic in {app.dim:,} dimensions, curvature {SMALLEST_CURVATURE:g} to 1, gradient noise "
            f"{app.noise:g}; step {app.step:g} {app.schedule}"
        )

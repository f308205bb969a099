"""Variance floors over runs, against a serial execution of the same steps with the same noise.

Of a run come two means over its stationary part: ``floor``, |x^_t - x*|^2, and ``serial``, the same had every
computation read all updates before it. Chance moves both alike, so the ratio of their means over seeds says
in few runs what the floor alone would say in hundreds. A floor is that ratio; what two floors are to each
other is a ratio of two such, seed by seed the same noise. Intervals are the jackknife's.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from figures.kit import Floats, Runs
from figures.tails import LEVEL


class Interval(NamedTuple):
    """A number from ``n`` seeds together, and a confidence interval for it at ``level`` (0: none)."""

    value: float
    low: float
    high: float
    n: int
    level: float


class Floors(NamedTuple):
    """Runs by v0 and by slack, each ascending."""

    vap: list[Any]
    essp: list[Any]

    def named(self) -> list[tuple[str, Any]]:
        """Each with its name."""
        named = [(f"VAP v0 = {runs.values('v0')[0]:g}", runs) for runs in self.vap]
        return named + [(f"ESSP s = {runs.values('slack')[0]}", runs) for runs in self.essp]


def floors(runs: Runs) -> Floors:
    """The sweeps of both policies."""
    return Floors(sweep(runs.select(policy="vap"), "v0"), sweep(runs.select(policy="essp"), "slack"))


def sweep(runs: Runs, key: str) -> list[Any]:
    """Runs apart by a setting, ascending."""
    return [runs.select(**{key: value}) for value in runs.values(key)]


def floor(runs: Runs) -> Interval:
    """The floor over that of a serial execution; infinite where a run diverged."""
    values, alone = runs.column("floor"), runs.column("serial")
    if np.isinf(values).any():
        return Interval(np.inf, np.inf, np.inf, len(values), 0.0)
    return jackknife(_over, values, alone)


def ratio(one: Runs, other: Runs) -> Interval:
    """The floor of ``one`` over that of ``other``, which has the same seeds."""
    columns = [runs.column(name) for runs in (one, other) for name in ("floor", "serial")]
    return jackknife(lambda a, b, c, d: _over(a, b) / _over(c, d), *columns)


def extremes(runs: Sequence[Any]) -> tuple[Any, Any]:
    """The runs with the smallest floor, and those with the largest."""
    ordered = sorted(runs, key=lambda each: floor(each).value)
    return ordered[0], ordered[-1]


def _over(values: Floats, alone: Floats) -> float:
    return float(values.mean() / alone.mean())


def jackknife(statistic: Callable[..., float], *columns: npt.ArrayLike) -> Interval:
    """A smooth function of means over n seeds, such as a ratio of two, with the jackknife's t-interval.

    Parameters
    ----------
    statistic : callable
        Of the columns of all seeds, or of all but one.
    columns : (n,) each
        Equally many values, those of one seed at the same place: seeds are paired.

    Returns
    -------
    Interval
        ``value`` is that of all seeds. For one seed without an interval, at level 0.
    """
    arrays = [np.asarray(column, np.float64) for column in columns]
    n, value = len(arrays[0]), float(statistic(*arrays))
    if n == 1:
        return Interval(value, value, value, 1, 0.0)
    without = np.array([statistic(*(np.delete(a, i) for a in arrays)) for i in range(n)])
    error = math.sqrt((n - 1) / n * float(((without - without.mean()) ** 2).sum()))
    margin = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * error
    return Interval(value, value - margin, value + margin, n, LEVEL)

"""Tails, quantiles and levels of Theorem 5 over many runs, defined once for figures and claims.

Runs come as columns, from ``column(NAME)`` of an ensemble of batches.
"""

from typing import Any

import numpy as np
from scipy.special import bdtr

import theory
from figures.kit import Floats, Runs

LEVEL = 0.9
"""Confidence of intervals for quantiles."""


def run_tail(values: Floats, x: Floats | float, delta: float) -> Floats:
    """Run-level bound on P(R/T > x), valid with confidence 1 - delta; the shape of ``x``."""
    return np.asarray(theory.run_tail(values, x, delta).value)


def band(values: Floats, x: Floats, delta: float) -> tuple[Floats, Floats]:
    """Two-sided Clopper-Pearson band of P(R/T > x), each end at level delta/2."""
    hits = (values > x[:, None]).sum(axis=1)
    upper = np.asarray(theory.clopper_pearson_upper(hits, len(values), delta / 2).value)
    lower = 1 - np.asarray(theory.clopper_pearson_upper(len(values) - hits, len(values), delta / 2).value)
    return lower, upper


def surprise(bound: float, hits: int, n: int) -> float:
    """P(Bin(n, bound) >= hits): how likely so many hits are if the bound holds."""
    return 1.0 if hits == 0 or bound >= 1 else float(1 - bdtr(hits - 1, n, bound))


def quantile(values: Floats, q: float) -> tuple[float, float, float, float]:
    """Quantile of n independent values, the ends of an interval for it, and the interval's confidence.

    The ends are order statistics: the i-th and j-th smallest cover the quantile with probability P(i <=
    Bin(n, q) < j), whatever the law is. Each end leaves out at most (1 - LEVEL)/2 if n is large enough for
    that.
    """
    ordered, n = np.sort(values), len(values)
    below = bdtr(np.arange(n), n, q)  # P(Bin <= 0 .. n - 1)
    tail = (1 - LEVEL) / 2
    i = max(1, int(np.searchsorted(below, tail, "right")))  # P(Bin < i) <= tail
    j = min(n, int(np.searchsorted(below, 1 - tail)) + 1)  # P(Bin >= j) <= tail
    covered = float(below[j - 1] - below[i - 1]) if j > i else 0.0
    return float(np.quantile(values, q)), float(ordered[i - 1]), float(ordered[j - 1]), covered


class Levels:
    """What Theorem 5 and its replacements allow R/T to be, from the moments of some runs.

    Parameters
    ----------
    runs : Runs
        Batches of one config apart from the seeds, of a loss with known L, with ``step`` / sqrt(t).

    Attributes
    ----------
    regret : (N,) float64
    mu, var : float
        Pooled mean and total variance of gamma.
    F2 : float
        The largest of the runs.
    """

    def __init__(self, runs: Runs) -> None:
        config: Any = next(iter(runs)).config
        self.runs = runs
        self.regret = runs.column("regret")
        self.step = float(config["app"]["step"])
        self.workers, self.slack = int(config["cluster"]["clients"]), int(config["ps"]["slack"])
        self.reads = self.workers * int(config["app"]["clocks"])
        self.lipschitz = float(runs.column("L").max())
        self.F2 = float(runs.column("F2").max())
        self.mu = float(runs.column("gamma").mean())
        self.var = float(runs.column("gamma_square").mean()) - self.mu**2

    def centre(self) -> float:
        """Centre of the printed bound, with the pooled mean as it has it."""
        return float(theory.thm5_center(self.step, self.lipschitz, self.F2, self.reads, self.mu))

    def centre_counts(self) -> float:
        """Centre of 5-k, with the weighted mean of the counts."""
        mu = float(self.runs.column("k_weighted").mean())
        return float(theory.thm5_center(self.step, self.lipschitz, self.F2, self.reads, mu, exact=True))

    def pathwise(self) -> float:
        """Theorem 3, which no run exceeds."""
        bound = theory.thm3_regret(
            self.step, self.lipschitz, self.F2, self.workers, self.slack, self.reads, exact=True
        )
        return float(bound) / self.reads

    def certificate(self, name: str) -> Floats:
        """``"C0"``, ``"C1"`` or ``"C2"`` of every run."""
        return self.runs.column(name)

    def vacuous(self) -> dict[str, float]:
        """By name, the level up to which each bound says nothing of the tail of R/T."""
        return {
            "C1": float(self.certificate("C1").min()),
            "C2": float(self.certificate("C2").min()),
            "5-k": self.centre_counts(),
            "Theorem 5": self.centre(),
            "Theorem 3": self.pathwise(),
        }

    def dispersion(self) -> float:
        """Dispersion index: variance over runs of sum gamma_t/sqrt(t), over that of independent gamma_t."""
        inverse = float(np.sum(1.0 / np.arange(1, self.reads + 1)))
        return float(self.runs.column("gamma_root").var(ddof=1)) / (self.var * inverse)


def slopes(runs: Runs) -> Floats:
    """Slope of log R/T over log T of every run, by least squares over the T that it was taken at."""
    reads, after = runs.column("reads"), runs.column("regret_after")
    pairs = zip(np.log(reads), np.log(after), strict=True)
    return np.array([np.polyfit(x, y, 1)[0] for x, y in pairs])

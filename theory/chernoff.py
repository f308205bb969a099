"""Sharp Chernoff bounds: rungs 5 to 7 of the ladder of Theorem 5.

All three minimise -l eps + sum_t psi(l a_t) over l >= 0 with a_t = eta L^2 / sqrt(t), and differ in the bound
psi on the log-moment function of one centred gamma - mu <= U:

    per_term    psi(x) = ln(1 + (sigma / U^2) (e^(x U) - 1 - x U))
    two_point   psi(x) = ln(p e^(x U) + (1 - p) e^(-x sigma / U)), p = sigma / (sigma + U^2)
    cramer      psi(x) = ln sum_j p_j e^(x (v_j - mu))

Each is ln(1 + m x + sum_j w_j phi(x v_j)) with phi(x) = e^x - 1 - x, the form in which small x lose no
digits. a_t may stand for the true weights eta L^2 w_t of Lemma 4 because these are averages of the a_t (rows
and columns of the averaging sum to at most 1) and l -> psi(l) + mu l is convex and increasing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theory._check import FloatArray
from theory._sums import _harmonic, clock_nodes

_BIG = 600.0  # from e^600 on everything is taken in units of the largest atom
_SATURATED = 800.0  # e^-800 = 0: every term sits at its largest value
_CHUNK = 1 << 20  # doubles in one temporary


def _phi(x: FloatArray) -> FloatArray:
    """e^x - 1 - x with full relative precision (Taylor series near 0)."""
    near = np.abs(x) < 0.5
    small = np.where(near, x, 0.0)
    series = np.ones_like(small)
    for k in range(15, 2, -1):
        series = 1 + small / k * series
    return np.where(near, small**2 / 2 * series, np.expm1(x) - x)


@dataclass(frozen=True, slots=True)
class LogMoment:
    """psi(x) = ln(1 + slope x + sum_j weights_j phi(x points_j)), points in units of U."""

    points: FloatArray
    weights: FloatArray
    slope: float = 0.0

    @property
    def top(self) -> float:
        """Largest value of the law."""
        return float(self.points.max())

    @property
    def spread(self) -> float:
        """Range of the law, which sets how near to the real axis psi can have a singularity."""
        return float(max(self.points.max() - self.points.min(), self.top * (1 + self.weights.sum())))

    @property
    def gap(self) -> float:
        """Distance from the largest value to the next (to 0 for a single one)."""
        lower = self.points[self.points < self.top]
        return self.top - float(lower.max(initial=0.0 if lower.size == 0 else -np.inf))

    @property
    def variance(self) -> float:
        """Second moment about the centre."""
        return float(self.weights @ self.points**2)

    def derivatives(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """psi, psi', psi'' at x : (n,)."""
        size = max(1, _CHUNK // self.points.size)
        parts = [self._some(x[i : i + size]) for i in range(0, x.size, size)]
        psi, first, second = (np.concatenate(p) for p in zip(*parts, strict=True))
        return psi, first, second

    def _some(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        big = x * self.top > _BIG
        if not big.any():
            return self._series(x)
        out = np.empty((3, x.size))
        out[:, ~big] = self._series(x[~big])
        out[:, big] = self._largest(x[big])
        return out[0], out[1], out[2]

    def _series(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        arg = x[:, None] * self.points
        phi = _phi(arg)
        excess = self.slope * x + phi @ self.weights
        first = (self.slope + (phi + arg) @ (self.weights * self.points)) / (1 + excess)
        second = (phi + arg + 1) @ (self.weights * self.points**2) / (1 + excess) - first**2
        return np.log1p(excess), first, second

    def _largest(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        scaled = self.weights * np.exp(x[:, None] * (self.points - self.top))
        # What is no exponential: nothing for a law, but 1 - q - q x for `per_term`, which counts for tiny q.
        rest, rise = 1 - self.weights.sum(), self.slope - self.weights @ self.points
        small = np.exp(-x * self.top)
        mass = scaled.sum(axis=1) + (rest + rise * x) * small
        first = (scaled @ self.points + rise * small) / mass
        return x * self.top + np.log(mass), first, scaled @ self.points**2 / mass - first**2


def per_term(q: float) -> LogMoment:
    """Bennett's bound for each term, variance q in units of U^2 (q > 0)."""
    return LogMoment(np.ones(1), np.array([q]))


def two_point(q: float) -> LogMoment:
    """The extreme law for given mean 0, variance q and upper end 1 (q > 0): values 1 and -q."""
    return LogMoment(np.array([1.0, -q]), np.array([q, 1.0]) / (1 + q))


def full_law(values: FloatArray, probs: FloatArray) -> LogMoment:
    """A law with `values` (J,), already minus mu and over U, and `probs` (J,) adding up to 1."""
    keep = probs > 0
    return LogMoment(values[keep], probs[keep], float(probs @ values))


def rate(y: float, T: int, psi: LogMoment) -> float:
    """max over theta >= 0 of theta y - sum_{t<=T} psi(theta / sqrt(t)): minus the log of the bound.

    Parameters
    ----------
    y : float
        Deviation eps / (eta L^2 U), > 0.
    T : int
        Number of terms.
    psi : LogMoment
        One term in units of U.

    Returns
    -------
    float
        0 where the bound is vacuous, inf where the event is impossible.

    Notes
    -----
    Safeguarded Newton's method from Bennett's minimiser. Any theta gives a valid bound, and the value depends
    on the error of theta only to second order.
    """
    h_T, H_T = (float(v) for v in _harmonic(np.asarray(float(T))))
    end = psi.top * h_T
    if y > end:
        return np.inf
    if y <= psi.slope * h_T:
        return 0.0
    variance = psi.variance * H_T
    if variance == 0:
        return np.inf
    theta = float(np.logaddexp(0, np.log(psi.top) + np.log(y) - np.log(variance))) / psi.top
    low, high, best = 0.0, np.inf, 0.0
    for _ in range(200):
        t, weight = clock_nodes(T, int(np.ceil(np.log2(max(theta * psi.spread, 1.0)))))
        a = t**-0.5
        value, first, second = psi.derivatives(theta * a)
        best = max(best, theta * y - float(weight @ value))
        gap = float((weight * a) @ first) - y
        curvature = float((weight * a * a) @ second)
        low, high = (theta, high) if gap < 0 else (low, theta)
        step = gap / curvature if curvature > 0 else np.inf
        new = theta - step
        if not low < new < high:
            new = 2 * theta if high == np.inf else (low + high) / 2
        if abs(new - theta) <= 1e-10 * theta or new * psi.gap > _SATURATED * np.sqrt(T):
            return best
        theta = new
    return best

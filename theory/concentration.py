"""Bernstein's and Bennett's inequality, as exponents, inverses and bounds for any step schedule.

For independent mean-zero X_t <= M with sum of variances V:

    P(sum X_t >= eps) <= exp(-eps^2 / (2 V + 2 M eps / 3))            Bernstein
    P(sum X_t >= eps) <= exp(-(V / M^2) h(M eps / V)),
                         h(r) = (1 + r) ln(1 + r) - r                 Bennett

[1410.8043, Thm 5] is Bernstein with V = eta^2 L^4 sigma (ln T + 1), M = eta L^2 P (2 s + 1), eps = T tau.
Every formula is written so that no intermediate square over- or underflows and small r lose no digits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, non_negative, positive, sweep
from theory.bound import Bound, probability

_SERIES = 12  # terms of the odd series below; (1/5)^(2 * 12) < 1e-16
_FAR = 1e100  # beyond, r + 1 = r, and V / M^2 may lie outside the range of numbers
_INDEPENDENT = ("X_1..X_T independent with mean 0, X_t <= M, sum of the variances <= V",)


def bennett_h(r: FloatArray) -> FloatArray:
    """h(r) = (1 + r) ln(1 + r) - r for r >= 0, to full relative precision.

    Below r = 1/2 the two terms cancel, so there h(r) = r^2 / (2 + r) + 2 (1 + r) (z^3/3 + z^5/5 + ...), z = r
    / (2 + r), whose terms are all positive.
    """
    r = np.asarray(r, dtype=np.float64)
    small = np.minimum(r, 0.5)
    z = small / (2 + small)
    tail = np.zeros_like(z)
    for k in range(_SERIES, 0, -1):
        tail = tail * z**2 + 1 / (2 * k + 1)
    series = small**2 / (2 + small) + 2 * (1 + small) * z**3 * tail
    return np.where(r <= 0.5, series, (1 + r) * np.log1p(r) - r)


def bernstein_exponent(eps: FloatArray, V: FloatArray, M: FloatArray) -> FloatArray:
    """eps^2 / (2 V + 2 M eps / 3); infinite for V = M = 0."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(eps / (2 * (V / eps) + 2 * M / 3))


def bernstein_inverse(log_inverse: FloatArray, V: FloatArray, M: FloatArray) -> FloatArray:
    """The eps whose Bernstein exponent is l = `log_inverse`: M l / 3 + sqrt((M l / 3)^2 + 2 V l)."""
    half = M * log_inverse / 3
    return np.asarray(half + np.hypot(half, np.sqrt(2 * V * log_inverse)))


def bennett_exponent(eps: FloatArray, V: FloatArray, M: FloatArray) -> FloatArray:
    """(V / M^2) h(M eps / V); infinite for V = 0, Gaussian eps^2 / (2 V) for M = 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        r = M * eps / V
        far = np.log(M) + np.log(eps) - np.log(V) - 1  # h(r)/r, all but 1/r
        ratio = np.where(r < _FAR, bennett_h(r) / r, far)
        exponent = np.where(r > 0, eps / M * ratio, eps * (eps / V) / 2)
    return np.where(V > 0, exponent, np.inf)


def bennett_inverse(log_inverse: FloatArray, V: FloatArray, M: FloatArray) -> FloatArray:
    """The eps whose Bennett exponent is `log_inverse`; 0 for V = 0.

    Solves h(r) = c by Newton's method from the right, where it converges monotonically because h is convex.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        c = np.where(V > 0, np.minimum(log_inverse * M * M / V, _FAR), 0.0)
        r = bernstein_inverse(c, np.ones_like(c), np.ones_like(c))
        for _ in range(60):
            step = np.where(r > 0, (bennett_h(r) - c) / np.log1p(r), 0.0)
            r = np.maximum(r - step, 0.0)
            if np.all(np.abs(step) <= 1e-15 * r):
                break
        eps = np.where(c > 0, r * V / M, np.sqrt(2 * V * log_inverse))
        eps = np.where(c < _FAR, eps, _far_inverse(log_inverse, V, M))
    return np.where(V > 0, eps, 0.0)


def _far_inverse(log_inverse: FloatArray, V: FloatArray, M: FloatArray) -> FloatArray:
    """The same where r is so large that h(r) = r (ln r - 1) to rounding: y + ln(y - 1) = ln c, y = ln r."""
    log_c = np.log(log_inverse) + 2 * np.log(M) - np.log(V)
    y = log_c
    for _ in range(8):  # concave and rising, from the right: quadratic
        y = y - (y + np.log(y - 1) - log_c) / (1 + 1 / (y - 1))
    return np.asarray(np.exp(y + np.log(V) - np.log(M)))


def bernstein_tail(eps: ArrayLike, V: ArrayLike, M: ArrayLike) -> Bound:
    """Bernstein's bound on P(sum X_t >= eps), for step schedules and per-t variances of your own.

    Parameters
    ----------
    eps : float or (...)
        Deviation of the sum, > 0; T tau in Theorem 5. Same unit as `M`.
    V : float or (...)
        Sum of the variances, sum_t a_t^2 sigma_t with a_t = eta_t L^2 in Theorem 5.
    M : float or (...)
        Largest value of a single X_t, max_t a_t U.

    Returns
    -------
    Bound
        Probability, shape of the sweep.

    Raises
    ------
    ValueError
        If eps <= 0, V < 0 or M < 0, or the shapes do not broadcast.
    """
    return probability(bernstein_exponent(*_checked(eps, V, M)), _INDEPENDENT, "[Bernstein 1946]")


def bennett_tail(eps: ArrayLike, V: ArrayLike, M: ArrayLike) -> Bound:
    """Bennett's bound on P(sum X_t >= eps); arguments as in `bernstein_tail`, never above it."""
    return probability(bennett_exponent(*_checked(eps, V, M)), _INDEPENDENT, "[Bennett 1962]")


def _checked(eps: ArrayLike, V: ArrayLike, M: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    arrays = positive("eps", eps), non_negative("V", V), non_negative("M", M)
    sweep(eps=arrays[0], V=arrays[1], M=arrays[2])
    return arrays

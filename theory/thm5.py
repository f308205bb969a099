"""Theorem 5: a tail bound on the regret from the mean and the variance of the measured staleness.

Problem: SGD on stale views, eta_t = eta/sqrt(t), T reads by P workers with slack s; gamma_t = |x~_t - x_t| /
ubar_t.

Theorem (as printed):

    P(R/T - (eta L^2 + F^2/eta + 2 eta L^2 mu) / sqrt(T) >= tau)
        <= exp(-T tau^2 / (2 etabar_T sigma + (2/3) eta L^2 (2s+1) P tau)),  etabar_T = eta^2 L^4 (ln T + 1) /
        T

mu and sigma are mean and VARIANCE of gamma_t. The constants are right, although the printed proof leans on
Lemma 4, which is false pointwise (see `theory.lemma4`). The independence of gamma_1..gamma_T (A1) is needed
and fails in every run: with dependence use `method="chi_bernstein"`, `thm5_tail_counts` or, valid always,
`run_tail`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory import _ladder
from theory._check import FloatArray, fraction, non_negative, positive, sweep, unwrap, whole
from theory._ladder import METHODS, SOURCES, Law, Method
from theory._sums import _harmonic
from theory.bound import CONVEX, DISTANCE, OWN, Bound, probability, regret

__all__ = ["METHODS", "Law", "Method", "thm5_center", "thm5_deviation", "thm5_tail"]

_A1 = "A1: gamma_1..gamma_T independent with common mean mu_gamma and variance var_gamma (fails in real runs)"
_CLASSES = (
    "gamma_t identically distributed, and independent within each of chi classes of reads (in place of A1)"
)
_MEAN = "mu_gamma at least the weighted mean sum w_t mu_t / sum w_t (the pooled mean can lie below it)"
_DOUBLINGS = 60
_HYPOTHESES = (CONVEX, DISTANCE, OWN, "eta_t = eta/sqrt(t)", _MEAN)


def thm5_center(
    eta: ArrayLike, L: ArrayLike, F2: ArrayLike, T: ArrayLike, mu_gamma: ArrayLike, exact: bool = False
) -> Bound:
    """Centre of Theorem 5: what R/T stays below, up to the deviation tau.

    Parameters
    ----------
    eta : float or (...)
        Base step, eta_t = eta/sqrt(t), > 0; parameter^2 per loss.
    L : float or (...)
        Lipschitz constant, > 0; loss per parameter.
    F2 : float or (...)
        F^2, bound on HALF the squared distance to x*, >= 0.
    T : whole number or (...)
        Reads, >= 1.
    mu_gamma : float or (...)
        Mean of gamma (weighted, see `Moments.mu_weighted`), >= 0; dimensionless.
    exact : bool
        False: (eta L^2 + F^2/eta + 2 eta L^2 mu)/sqrt(T) as printed. True: the same with the exact sum h_T.

    Returns
    -------
    Bound
        Loss per read; `details` holds the terms `gradient`, `distance`, `staleness`.

    Raises
    ------
    ValueError
        On values outside these ranges or shapes that do not broadcast.
    """
    eta, L, F2, mu = (
        positive("eta", eta),
        positive("L", L),
        non_negative("F2", F2),
        non_negative("mu_gamma", mu_gamma),
    )
    count = whole("T", T, 1)
    sweep(eta=eta, L=L, F2=F2, T=count, mu_gamma=mu)
    h = _harmonic(count)[0] if exact else 2 * np.sqrt(count)
    terms = {
        "gradient": eta * L**2 * h / (2 * count),
        "distance": F2 / (eta * np.sqrt(count)),
        "staleness": eta * L**2 * mu * h / count,
    }
    source = "[1410.8043, Thm 5] with the exact sum h_T" if exact else SOURCES["paper"]
    return regret(terms, L * np.sqrt(2 * F2), (*_HYPOTHESES, _A1), source)


def thm5_tail(
    tau: ArrayLike,
    eta: ArrayLike,
    L: ArrayLike,
    P: ArrayLike,
    s: ArrayLike,
    T: ArrayLike,
    mu_gamma: ArrayLike,
    var_gamma: ArrayLike,
    method: Method = "bernstein_centred",
    law: Law | None = None,
    chi: ArrayLike = 1,
) -> Bound:
    """Bound on P(R/T - centre >= tau) by one of the rungs of the ladder, each at most the one before.

    Parameters
    ----------
    tau : float or (...)
        Deviation, > 0; loss per read.
    eta, L, T
        As in `thm5_center`.
    P, s : whole number or (...)
        Workers, >= 1, and slack in clocks, >= 0; gamma lies in [0, P(2s+1)] (Lemma 4).
    mu_gamma, var_gamma : float or (...)
        Mean, 0 <= mu <= P(2s+1), and variance, >= 0, of gamma.
    method : str
        "paper" (printed), "bernstein" (exact H_T), "bernstein_centred" and "bennett" (largest value P(2s+1) -
        mu), "per_term", "two_point", "cramer" (Chernoff over terms eta L^2/sqrt(t)), "chi_bernstein"
        (dependent gamma).
    law : (values, probs), each (J,)
        Law of gamma, read by "cramer" only; values in [0, P(2s+1)].
    chi : float or (...)
        Classes of independent gamma_t, >= 1, for "chi_bernstein" only (m-dependent: chi = m + 1).

    Returns
    -------
    Bound
        Probability of the sweep's shape; `details["log"]` is its natural logarithm.

    Raises
    ------
    ValueError
        On values outside these ranges, shapes that do not broadcast, an unknown method or a `law` that is
        none.
    """
    arguments = _ladder.checked(eta, L, P, s, T, mu_gamma, var_gamma, method, chi)
    deviation = positive("tau", tau)
    sweep(tau=deviation, **arguments)
    exponent = _ladder.exponent(method, law, arguments)(_eps(deviation, arguments))
    return probability(exponent, _assumptions(method), SOURCES[method])


def thm5_deviation(
    delta: ArrayLike,
    eta: ArrayLike,
    L: ArrayLike,
    P: ArrayLike,
    s: ArrayLike,
    T: ArrayLike,
    mu_gamma: ArrayLike,
    var_gamma: ArrayLike,
    method: Method = "bernstein_centred",
    law: Law | None = None,
    chi: ArrayLike = 1,
) -> Bound:
    """The tau at which `thm5_tail` equals `delta`: R/T <= centre + tau with probability 1 - delta.

    Parameters
    ----------
    delta : float or (...)
        Allowed probability, > 0 and < 1.
    eta, L, P, s, T, mu_gamma, var_gamma, method, law, chi
        As in `thm5_tail`.

    Returns
    -------
    Bound
        tau, loss per read: for Bernstein [M l/3 + sqrt((M l/3)^2 + 2 V l)]/T with l = ln(1/delta), else a
        root; rounded up until `thm5_tail` is `delta` at most. It is 0 where gamma is constant, and just past
        the end of the law where the bound jumps over delta there.

    Raises
    ------
    ValueError
        As `thm5_tail`.
    """
    arguments = _ladder.checked(eta, L, P, s, T, mu_gamma, var_gamma, method, chi)
    level = fraction("delta", delta)
    sweep(delta=level, **arguments)
    eps = _ladder.deviation(method, law, arguments, -np.log(level))
    tau = eps * (arguments["eta"] * arguments["L"] ** 2) / arguments["T"]
    exponent = _ladder.exponent(method, law, arguments)
    tau, level = (np.array(a) for a in np.broadcast_arrays(tau, level))
    step = np.finfo(np.float64).eps
    for _ in range(_DOUBLINGS):
        # Held against the tail's own floating-point value: the root is of eps, and of ln(1/delta).
        short = (tau > 0) & ~(np.exp(-exponent(_eps(np.where(tau > 0, tau, 1.0), arguments))) <= level)
        if not short.any():
            return Bound(unwrap(tau), _assumptions(method), f"inverse of {SOURCES[method]}")
        tau, step = np.where(short, np.nextafter(tau * (1 + step), np.inf), tau), 2 * step
    raise ValueError(
        "delta: no tau can be told at which the bound is that small; the arguments are too extreme"
    )


def _eps(tau: FloatArray, arguments: dict[str, FloatArray]) -> FloatArray:
    """T tau in units of eta L^2."""
    with np.errstate(over="ignore"):
        return np.asarray(arguments["T"] * (tau / (arguments["eta"] * arguments["L"] ** 2)))


def _assumptions(method: Method) -> tuple[str, ...]:
    if method == "chi_bernstein":
        return (*_HYPOTHESES, _CLASSES)
    if method == "cramer":
        return (*_HYPOTHESES, _A1, "the law of gamma is known (a measured one makes this an estimate)")
    return (*_HYPOTHESES, _A1)

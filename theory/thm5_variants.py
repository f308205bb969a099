"""Tail bounds in the place of Theorem 5 that count delays (5-k) or normalise by the step (5-eta).

5-k (new): the counts k_t of `theory.counts` in place of gamma_t. They satisfy A2 by construction when the
timing does not depend on values, need no Lemma 4, and lie in [0, N_max]:
    P(R/T - [(eta L^2/2) h_T + F^2 sqrt(T)/eta + eta L^2 mu_k h_T]/T >= tau)
        <= exp(-T^2 tau^2 / (2 eta^2 L^4 sigma_k H_T + (2/3) eta L^2 N_max T tau))

5-eta (new): gamma^eta_t = b_t/(eta_t L), so that L b_t = eta_t L^2 gamma^eta_t exactly. The centre is
smallest here. A single term is at most L^2 sum of eta_t' over the window, at most eta L^2 h_n with n = min(T,
P(2s+1)) (the first full window).

The centres are `thm5_center(..., mu_gamma=mu_k or mu_eta, exact=True)`. Both still assume independence in t.
For other step schedules: `bernstein_tail` with V = L^4 sum eta_t^2 sigma_t.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, non_negative, positive, require, sweep, whole
from theory._sums import _harmonic
from theory.bound import CONVEX, DISTANCE, OWN, Bound, probability
from theory.concentration import bernstein_exponent
from theory.thm3 import most_disagreements

_HYPOTHESES = (CONVEX, DISTANCE, OWN, "eta_t = eta/sqrt(t)")
_WEIGHTED = "{0} at least the weighted mean sum eta_t {0},t / sum eta_t"
_A1 = "A1: {}_1..{}_T independent with common mean and variance"


def thm5_tail_counts(
    tau: ArrayLike,
    eta: ArrayLike,
    L: ArrayLike,
    P: ArrayLike,
    s: ArrayLike,
    T: ArrayLike,
    mu_k: ArrayLike,
    var_k: ArrayLike,
    per_row: bool = False,
) -> Bound:
    """5-k: bound on P(R/T - centre(mu_k) >= tau).

    Parameters
    ----------
    tau, eta, L : float or (...)
        Deviation (loss per read), base step, Lipschitz constant, > 0.
    P, s, T : whole number or (...)
        Workers >= 1, slack >= 0, reads >= 1.
    mu_k, var_k : float or (...)
        Mean, 0 <= mu_k <= N_max, and variance, >= 0, of the counts k_t. The mean enters the centre only.
    per_row : bool
        N_max for rows of different age, see `n_max`.

    Returns
    -------
    Bound
        Probability; `details["log"]` is its natural logarithm.

    Raises
    ------
    ValueError
        On values outside these ranges or shapes that do not broadcast.
    """
    a = _checked(tau, eta, L, P, s, T)
    mean, variance = non_negative("mu_k", mu_k), non_negative("var_k", var_k)
    sweep(**a, mu_k=mean, var_k=variance)
    most = most_disagreements(a["P"], a["s"], per_row)
    require("mu_k", mean, mean <= most, "<= N_max, the largest possible count")
    assumed = (*_HYPOTHESES, _WEIGHTED.format("mu_k"), _A1.format("k", "k"))
    return probability(_bernstein(a, variance, most), assumed, "new: Theorem 5 for counts (5-k)")


def thm5_tail_steps(
    tau: ArrayLike,
    eta: ArrayLike,
    L: ArrayLike,
    P: ArrayLike,
    s: ArrayLike,
    T: ArrayLike,
    mu_eta: ArrayLike,
    var_eta: ArrayLike,
) -> Bound:
    """5-eta: bound on P(R/T - centre(mu_eta) >= tau).

    Parameters
    ----------
    tau, eta, L, P, s, T
        As in `thm5_tail_counts`.
    mu_eta, var_eta : float or (...)
        Mean, 0 <= mu_eta <= 2 P(2s+1), and variance, >= 0, of gamma^eta. The mean enters the centre only.

    Returns
    -------
    Bound
        Probability; `details["log"]` is its natural logarithm.

    Raises
    ------
    ValueError
        As `thm5_tail_counts`.
    """
    a = _checked(tau, eta, L, P, s, T)
    mean, variance = non_negative("mu_eta", mu_eta), non_negative("var_eta", var_eta)
    sweep(**a, mu_eta=mean, var_eta=variance)
    window = a["P"] * (2 * a["s"] + 1)
    require("mu_eta", mean, mean <= 2 * window, "<= 2 P(2s+1), as kappa <= 2 (Lemma 4 corrected)")
    largest = _harmonic(np.minimum(a["T"], window))[0]
    assumed = (*_HYPOTHESES, _WEIGHTED.format("mu_eta"), _A1.format("gamma^eta", "gamma^eta"))
    return probability(_bernstein(a, variance, largest), assumed, "new: Theorem 5, step-normalised (5-eta)")


def _checked(
    tau: ArrayLike, eta: ArrayLike, L: ArrayLike, P: ArrayLike, s: ArrayLike, T: ArrayLike
) -> dict[str, FloatArray]:
    return {
        "tau": positive("tau", tau),
        "eta": positive("eta", eta),
        "L": positive("L", L),
        "P": whole("P", P, 1),
        "s": whole("s", s, 0),
        "T": whole("T", T, 1),
    }


def _bernstein(a: dict[str, FloatArray], variance: FloatArray, largest: FloatArray) -> FloatArray:
    """Exponent in units of eta L^2."""
    with np.errstate(over="ignore"):
        eps = a["T"] * (a["tau"] / (a["eta"] * a["L"] ** 2))
    return bernstein_exponent(eps, variance * _harmonic(a["T"])[1], largest)

"""Theorem 5: a tail bound on the regret from the mean and the variance of the measured staleness.

Problem: SGD with stale views, eta_t = eta / sqrt(t), T reads by P workers with slack s; gamma_t = |x~_t - x_t| / ubar_t.

Theorem (as printed):

    P(R/T - (eta L^2 + F^2/eta + 2 eta L^2 mu) / sqrt(T) >= tau)
        <= exp(-T tau^2 / (2 etabar_T sigma + (2/3) eta L^2 (2s+1) P tau)),   etabar_T = eta^2 L^4 (ln T + 1) / T

mu and sigma are mean and VARIANCE of gamma_t. The constants are right, although the printed proof leans on Lemma 4, which
is false pointwise (see `theory.lemma4`). The independence of gamma_1..gamma_T (A1) is needed and never holds in a run: with
dependence use `method="chi_bernstein"`, `thm5_tail_counts` or, always valid, `run_tail`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from theory import chernoff, concentration
from theory._check import FloatArray, fraction, law, non_negative, numbers, positive, require, sweep, unwrap, whole
from theory._sums import _harmonic
from theory.bound import CONVEX, DISTANCE, OWN, Bound, probability, regret

Method = Literal[
    "paper", "bernstein", "bernstein_centred", "bennett", "per_term", "two_point", "cramer", "chi_bernstein"
]
METHODS: tuple[Method, ...] = get_args(Method)
Law = tuple[ArrayLike, ArrayLike]

_A1 = "A1: gamma_1..gamma_T independent with common mean mu_gamma and variance var_gamma (fails in real runs)"
_MEAN = "mu_gamma at least the weighted mean sum w_t mu_t / sum w_t (the pooled mean can lie below it)"
_HYPOTHESES = (CONVEX, DISTANCE, OWN, "eta_t = eta/sqrt(t)", _MEAN, _A1)
_SOURCES: dict[Method, str] = {
    "paper": "[1410.8043, Thm 5] as printed",
    "bernstein": "[1410.8043, Thm 5] with the exact sum H_T in place of ln T + 1",
    "bernstein_centred": "new: Bernstein with M = eta L^2 (P(2s+1) - mu)",
    "bennett": "new: Bennett with M = eta L^2 (P(2s+1) - mu)",
    "per_term": "new: Bennett's bound for each term, minimised once",
    "two_point": "new: sharp two-point Chernoff bound for given mean, variance and range",
    "cramer": "new: Cramer's bound with the full law of gamma",
    "chi_bernstein": "new: Bernstein for chi classes of independent gamma_t (V -> chi V, M -> chi M)",
}


def thm5_center(
    eta: ArrayLike, L: ArrayLike, F2: ArrayLike, T: ArrayLike, mu_gamma: ArrayLike, exact: bool = False
) -> Bound:
    """Centre of Theorem 5: what R/T stays below, up to the deviation tau.

    Parameters
    ----------
    eta : float or (...)
        Base step, eta_t = eta/sqrt(t), > 0. Unit: parameter^2 per loss.
    L : float or (...)
        Lipschitz constant, > 0. Unit: loss per parameter.
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
        In loss per read; `details` has the terms `gradient`, `distance`, `staleness`.

    Raises
    ------
    ValueError
        On values outside these ranges or shapes that do not broadcast.
    """
    eta, L, F2, mu = positive("eta", eta), positive("L", L), non_negative("F2", F2), non_negative("mu_gamma", mu_gamma)
    count = whole("T", T, 1)
    sweep(eta=eta, L=L, F2=F2, T=count, mu_gamma=mu)
    h = _harmonic(count)[0] if exact else 2 * np.sqrt(count)
    terms = {
        "gradient": eta * L**2 * h / (2 * count),
        "distance": F2 / (eta * np.sqrt(count)),
        "staleness": eta * L**2 * mu * h / count,
    }
    source = "[1410.8043, Thm 5] with the exact sum h_T" if exact else "[1410.8043, Thm 5] as printed"
    return regret(terms, L * np.sqrt(2 * F2), _HYPOTHESES, source)


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
    """Bound on P(R/T - centre >= tau), one of the rungs of the ladder (each at most the one before).

    Parameters
    ----------
    tau : float or (...)
        Deviation in loss per read, > 0.
    eta, L, T
        As in `thm5_center`.
    P, s : whole number or (...)
        Workers, >= 1, and slack in clocks, >= 0; gamma lies in [0, P(2s+1)] (Lemma 4).
    mu_gamma, var_gamma : float or (...)
        Mean, 0 <= mu <= P(2s+1), and variance, >= 0, of gamma.
    method : str
        One of `METHODS`: "paper" (printed), "bernstein" (exact H_T), "bernstein_centred", "bennett" (largest value
        P(2s+1) - mu), "per_term", "two_point", "cramer" (terms eta L^2/sqrt(t)), "chi_bernstein" (dependent gamma).
    law : (values, probs), each (J,)
        Law of gamma, read by "cramer" only; values in [0, P(2s+1)].
    chi : float or (...)
        Classes of independent gamma_t, >= 1, read by "chi_bernstein" only (m-dependent: chi = m + 1).

    Returns
    -------
    Bound
        Probability of the sweep's shape; `details["log"]` is its natural logarithm.

    Raises
    ------
    ValueError
        On values outside these ranges, shapes that do not broadcast, an unknown method or a law that is none.
    """
    arguments = _checked(eta, L, P, s, T, mu_gamma, var_gamma, method, chi)
    tau = positive("tau", tau)
    sweep(tau=tau, **arguments)
    with np.errstate(over="ignore"):
        scaled = arguments["T"] * (tau / (arguments["eta"] * arguments["L"] ** 2))
    exponent = _exponent_of(method, law, arguments)(scaled)
    assumptions = _HYPOTHESES
    if method == "chi_bernstein":
        split = "the reads split into chi classes, within each of which the gamma_t are independent (in place of A1)"
        assumptions = (*_HYPOTHESES[:-1], split)
    if method == "cramer":
        assumptions = (*_HYPOTHESES, "the law of gamma is known (a measured law makes this an estimate)")
    return probability(exponent, assumptions, _SOURCES[method])


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
        tau in loss per read: closed form for Bernstein, [M l/3 + sqrt((M l/3)^2 + 2 V l)]/T with l = ln(1/delta); root for
        the others. 0 where gamma is constant; where the bound jumps past delta, at the end of the law, that end.

    Raises
    ------
    ValueError
        As `thm5_tail`.
    """
    arguments = _checked(eta, L, P, s, T, mu_gamma, var_gamma, method, chi)
    level = fraction("delta", delta)
    sweep(delta=level, **arguments)
    wanted = -np.log(level)
    if method in ("per_term", "two_point", "cramer"):
        M, V = arguments["range"] - arguments["mu_gamma"], arguments["var_gamma"] * _harmonic(arguments["T"])[1]
        start = concentration.bernstein_inverse(wanted, V, M)
        scaled = _roots(_exponent_of(method, law, arguments), wanted, start)
    else:
        V, M = _moments(method, arguments)
        inverse = concentration.bennett_inverse if method == "bennett" else concentration.bernstein_inverse
        scaled = inverse(wanted, V, M)
    tau = scaled * (arguments["eta"] * arguments["L"] ** 2) / arguments["T"]
    return Bound(unwrap(tau), _HYPOTHESES, f"inverse of {_SOURCES[method]}")


def _checked(
    eta: ArrayLike,
    L: ArrayLike,
    P: ArrayLike,
    s: ArrayLike,
    T: ArrayLike,
    mu_gamma: ArrayLike,
    var_gamma: ArrayLike,
    method: Method,
    chi: ArrayLike,
) -> dict[str, FloatArray]:
    if method not in METHODS:
        raise ValueError(f"method: got {method!r}, but must be one of {', '.join(METHODS)}")
    workers, slack, mu = whole("P", P, 1), whole("s", s, 0), non_negative("mu_gamma", mu_gamma)
    classes = numbers("chi", chi)
    require("chi", classes, classes >= 1, ">= 1")
    if method != "chi_bernstein":
        require("chi", classes, classes == 1, "1 unless method is 'chi_bernstein'")
    arguments = {
        "eta": positive("eta", eta),
        "L": positive("L", L),
        "P": workers,
        "s": slack,
        "T": whole("T", T, 1),
        "mu_gamma": mu,
        "var_gamma": non_negative("var_gamma", var_gamma),
        "chi": classes,
    }
    sweep(**arguments)
    top = workers * (2 * slack + 1)
    require("mu_gamma", mu, mu <= top, "<= P(2s+1), the largest possible gamma (Lemma 4)")
    return arguments | {"range": top}


def _moments(method: Method, a: dict[str, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """V and M of the sum, in units of (eta L^2)^2 and eta L^2."""
    sum_of_squares = np.log(a["T"]) + 1 if method == "paper" else _harmonic(a["T"])[1]
    centred = method in ("bernstein_centred", "bennett")
    largest = a["range"] - a["mu_gamma"] if centred else a["range"]
    return a["chi"] * a["var_gamma"] * sum_of_squares, a["chi"] * largest


def _exponent_of(method: Method, known: Law | None, a: dict[str, FloatArray]) -> Callable[[FloatArray], FloatArray]:
    """The function eps / (eta L^2) -> minus the log of the bound."""
    if method in ("per_term", "two_point", "cramer"):
        values, probs = _known_law(known, a["range"]) if method == "cramer" else (np.zeros(1), np.ones(1))

        def one(eps: float, top: float, mu: float, var: float, count: float) -> float:
            width = top - mu
            if method == "cramer":
                unit = max(width, 1.0)
                return chernoff.rate(eps / unit, int(count), chernoff.full_law((values - mu) / unit, probs))
            if var == 0:
                return np.inf
            if width == 0:
                return float(concentration.bennett_exponent(*map(np.asarray, (eps, var * _harmonic(np.asarray(count))[1], 0.0))))
            family = chernoff.per_term if method == "per_term" else chernoff.two_point
            return chernoff.rate(eps / width, int(count), family(var / width**2))

        each = np.vectorize(one, otypes=[np.float64])
        return lambda eps: np.asarray(each(eps, a["range"], a["mu_gamma"], a["var_gamma"], a["T"]))
    V, M = _moments(method, a)
    exponent = concentration.bennett_exponent if method == "bennett" else concentration.bernstein_exponent
    return lambda eps: exponent(eps, V, M)


def _known_law(known: Law | None, top: FloatArray) -> tuple[FloatArray, FloatArray]:
    if known is None:
        raise ValueError("law: got None, but method 'cramer' needs the pair (values, probs)")
    values, probs = non_negative("law values", known[0]), law("law probs", known[1])
    if values.shape != probs.shape:
        raise ValueError(f"law: got {values.shape} values and {probs.shape} probs, but their shapes must be equal")
    require("law values", values, values <= top.min(), "<= P(2s+1), the largest possible gamma (Lemma 4)")
    return values, probs


def _roots(exponent: Callable[[FloatArray], FloatArray], wanted: FloatArray, start: FloatArray) -> FloatArray:
    ...

"""The rungs of the ladder of Theorem 5: each method as a function eps -> exponent, and its inverse.

Everything is in units of eta L^2: eps = T tau / (eta L^2), V = sigma H_T, M = U, so that extreme steps and
Lipschitz constants never meet in a square.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from theory import chernoff, concentration
from theory._check import FloatArray, law, non_negative, numbers, positive, require, sweep, whole
from theory._sums import _harmonic

Method = Literal[
    "paper", "bernstein", "bernstein_centred", "bennett", "per_term", "two_point", "cramer", "chi_bernstein"
]
METHODS: tuple[Method, ...] = get_args(Method)
CHERNOFF: tuple[Method, ...] = ("per_term", "two_point", "cramer")
Law = tuple[ArrayLike, ArrayLike]
Exponent = Callable[[FloatArray], FloatArray]

SOURCES: dict[Method, str] = {
    "paper": "[1410.8043, Thm 5] as printed",
    "bernstein": "[1410.8043, Thm 5] with the exact sum H_T in place of ln T + 1",
    "bernstein_centred": "new: Bernstein with M = eta L^2 (P(2s+1) - mu)",
    "bennett": "new: Bennett with M = eta L^2 (P(2s+1) - mu)",
    "per_term": "new: Bennett's bound for each term, minimised once",
    "two_point": "new: Chernoff bound, sharp for given mean, variance and range",
    "cramer": "new: Cramer's bound with the full law of gamma",
    "chi_bernstein": "new: Bernstein over chi classes of independent gamma_t (V -> chi V, M -> chi M)",
}


def checked(
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
    """The arguments as arrays, with `range` = P(2s+1) added; ValueError on a bad one."""
    if method not in METHODS:
        raise ValueError(f"method: got {method!r}, but must be one of {', '.join(METHODS)}")
    arguments = {
        "eta": positive("eta", eta),
        "L": positive("L", L),
        "P": whole("P", P, 1),
        "s": whole("s", s, 0),
        "T": whole("T", T, 1),
        "mu_gamma": non_negative("mu_gamma", mu_gamma),
        "var_gamma": non_negative("var_gamma", var_gamma),
        "chi": numbers("chi", chi),
    }
    sweep(**arguments)
    require("chi", arguments["chi"], arguments["chi"] >= 1, ">= 1")
    if method != "chi_bernstein":
        require("chi", arguments["chi"], arguments["chi"] == 1, "1 unless method is 'chi_bernstein'")
    top = arguments["P"] * (2 * arguments["s"] + 1)
    mu = arguments["mu_gamma"]
    require("mu_gamma", mu, mu <= top, "<= P(2s+1), the largest possible gamma (Lemma 4)")
    return arguments | {"range": top}


def exponent(method: Method, known: Law | None, a: dict[str, FloatArray]) -> Exponent:
    """The function eps -> minus the logarithm of the bound, over the sweep `a` of `checked` arguments."""
    if method == "cramer":
        return _cramer(known, a)
    if method in CHERNOFF:
        return _two_moment(chernoff.per_term if method == "per_term" else chernoff.two_point, a)
    V, M = _moments(method, a)
    of = concentration.bennett_exponent if method == "bennett" else concentration.bernstein_exponent
    return lambda eps: of(eps, V, M)


def deviation(method: Method, known: Law | None, a: dict[str, FloatArray], wanted: FloatArray) -> FloatArray:
    """The eps at which the exponent is `wanted`."""
    V, M = _moments(method, a)
    if method == "bennett":
        return concentration.bennett_inverse(wanted, V, M)
    eps = concentration.bernstein_inverse(wanted, V, M)
    if method not in CHERNOFF:
        return eps
    points = np.broadcast_arrays(wanted, eps, *a.values())
    found = [
        _root(exponent(method, known, dict(zip(a, rest, strict=True))), float(level), float(start))
        for level, start, *rest in zip(*(p.ravel() for p in points), strict=True)
    ]
    return np.array(found).reshape(points[0].shape)


def _moments(method: Method, a: dict[str, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """V and M of the sum for the rungs that need no more."""
    sum_of_squares = np.log(a["T"]) + 1 if method == "paper" else _harmonic(a["T"])[1]
    uncentred = method in ("paper", "bernstein", "chi_bernstein")
    largest = a["range"] if uncentred else a["range"] - a["mu_gamma"]
    return a["chi"] * a["var_gamma"] * sum_of_squares, a["chi"] * largest


def _two_moment(family: Callable[[float], chernoff.LogMoment], a: dict[str, FloatArray]) -> Exponent:
    def one(eps: float, width: float, variance: float, count: float) -> float:
        if width == 0 or variance == 0:  # gamma <= mu or gamma = mu: no deviation upwards
            return np.inf
        return chernoff.rate(eps / width, int(count), family(variance / width**2))

    each = np.vectorize(one, otypes=[np.float64])
    return lambda eps: np.asarray(each(eps, a["range"] - a["mu_gamma"], a["var_gamma"], a["T"]))


def _cramer(known: Law | None, a: dict[str, FloatArray]) -> Exponent:
    if known is None:
        raise ValueError("law: got None, but method 'cramer' needs the pair (values, probs)")
    values, probs = non_negative("law values", known[0]), law("law probs", known[1])
    if values.shape != probs.shape:
        raise ValueError(
            f"law: got {values.shape} values and {probs.shape} probs, but the shapes must be equal"
        )
    require(
        "law values", values, values <= a["range"].min(), "<= P(2s+1), the largest possible gamma (Lemma 4)"
    )

    def one(eps: float, top: float, mu: float, count: float) -> float:
        return chernoff.rate(eps / top, int(count), chernoff.full_law((values - mu) / top, probs))

    each = np.vectorize(one, otypes=[np.float64])
    return lambda eps: np.asarray(each(eps, a["range"], a["mu_gamma"], a["T"]))


def _root(of: Exponent, wanted: float, start: float) -> float:
    """The eps at which the exponent reaches `wanted`, to rounding; 0 where it does so at once."""
    from scipy.optimize import brentq  # slow to import

    if float(of(np.asarray(np.finfo(np.float64).tiny))) >= wanted:
        return 0.0

    def gap(eps: float) -> float:
        return min(float(of(np.asarray(eps))), 2 * wanted) - wanted if eps > 0 else -wanted

    low = high = max(start, np.finfo(np.float64).tiny)
    while gap(high) < 0:
        low, high = high, 2 * high
    while gap(low) >= 0:
        low, high = low * (low / high if low < high else 0.5), low
    while high > 2 * low:  # to one binade, whatever the size
        middle = float(np.sqrt(low) * np.sqrt(high))
        low, high = (middle, high) if gap(middle) < 0 else (low, middle)
    return float(brentq(gap, low, high, xtol=1e-300, rtol=8.9e-16))

"""Theorem 1: regret of SGD under VAP (value-bounded asynchronous parallel).

Problem: the aggregate of the updates a view does not hold is at most v_t = v0/sqrt(t) in the infinity norm;
eta_t = eta/sqrt(max(1, t - r)), r reads of drift.

As printed:  R <= (eta L^2 + F^2/eta + sqrt(d) L v0) sqrt(T)
Corrected:   R <= (eta L^2/2)(r + h_{T-r}) + F^2 sqrt(T-r)/eta + sqrt(d) L v0 h_T,  h_T <= 2 sqrt(T)

The printed last term lacks a factor 2, and the printed step is undefined for t <= r. The printed condition
bounds each worker's own unseen sum only: then the aggregate is at most P - 1 times as large, and the sums
must be taken per (producer, reader) pair.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, non_negative, positive, require, sweep, whole
from theory._sums import _harmonic
from theory.bound import CONVEX, DISTANCE, Bound, regret

_AGGREGATE = "|view - x_t|_inf <= v0/sqrt(t) for the aggregate of all unseen updates"
_PAIRS = "each (producer, reader) pair's unseen sum is at most v0/sqrt(t) in the infinity norm"


def thm1_regret(
    eta: ArrayLike,
    L: ArrayLike,
    F2: ArrayLike,
    d: ArrayLike,
    v0: ArrayLike,
    T: ArrayLike,
    r: ArrayLike = 0,
    aggregate: bool = True,
    P: ArrayLike | None = None,
) -> Bound:
    """Corrected Theorem 1.

    Parameters
    ----------
    eta, L : float or (...)
        Base step and Lipschitz constant, > 0.
    F2 : float or (...)
        F^2, bound on HALF the squared distance to x*, >= 0.
    d, T : whole number or (...)
        Dimension and number of reads, >= 1.
    v0 : float or (...)
        Threshold v_t = v0/sqrt(t), >= 0; parameter units.
    r : whole number or (...)
        Drift of the step index, 0 <= r < T.
    aggregate : bool
        True: the threshold holds for the sum over producers. False: for each pair, v0 counts P - 1 times.
    P : whole number or (...), optional
        Workers, needed when `aggregate` is False.

    Returns
    -------
    Bound
        Regret R (not divided by T), loss units; `details`: terms `gradient`, `distance`, `staleness`.

    Raises
    ------
    ValueError
        On values outside these ranges, a missing `P`, or shapes that do not broadcast.
    """
    step, lipschitz, half, dim, threshold, count = _checked(eta, L, F2, d, v0, T)
    drift = whole("r", r, 0)
    producers = np.ones(())
    if not aggregate:
        if P is None:
            raise ValueError(
                "P: got None, but must be given when aggregate is False (the threshold counts P - 1 times)"
            )
        producers = whole("P", P, 1) - 1
    sweep(eta=step, L=lipschitz, F2=half, d=dim, v0=threshold, T=count, r=drift, P=producers)
    require("r", drift, drift < count, "< T")
    terms = {
        "gradient": step * lipschitz**2 / 2 * (drift + _harmonic(count - drift)[0]),
        "distance": half * np.sqrt(count - drift) / step,
        "staleness": np.sqrt(dim) * lipschitz * threshold * producers * _harmonic(count)[0],
    }
    assumed = (CONVEX, DISTANCE, _AGGREGATE if aggregate else _PAIRS, "eta_t = eta/sqrt(max(1, t - r))")
    return regret(terms, count * lipschitz * np.sqrt(2 * half), assumed, "[1410.8043, Thm 1] corrected")


def thm1_regret_printed(
    eta: ArrayLike, L: ArrayLike, F2: ArrayLike, d: ArrayLike, v0: ArrayLike, T: ArrayLike
) -> Bound:
    """Theorem 1 as printed, (eta L^2 + F^2/eta + sqrt(d) L v0) sqrt(T): NOT valid, the last term lacks a 2.

    Parameters, returns and errors as `thm1_regret` (r = 0, aggregate).
    """
    step, lipschitz, half, dim, threshold, count = _checked(eta, L, F2, d, v0, T)
    sweep(eta=step, L=lipschitz, F2=half, d=dim, v0=threshold, T=count)
    root = np.sqrt(count)
    terms = {
        "gradient": step * lipschitz**2 * root,
        "distance": half * root / step,
        "staleness": np.sqrt(dim) * lipschitz * threshold * root,
    }
    assumed = (CONVEX, DISTANCE, _AGGREGATE, "the printed constant were right: it lacks a factor 2")
    return regret(
        terms, count * lipschitz * np.sqrt(2 * half), assumed, "[1410.8043, Thm 1] as printed, not valid"
    )


def _checked(
    eta: ArrayLike, L: ArrayLike, F2: ArrayLike, d: ArrayLike, v0: ArrayLike, T: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    return (
        positive("eta", eta),
        positive("L", L),
        non_negative("F2", F2),
        whole("d", d, 1),
        non_negative("v0", v0),
        whole("T", T, 1),
    )

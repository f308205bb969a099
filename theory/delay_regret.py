"""Regret bounds from a run's own delays: C2 (counts) and C3 (smooth losses, second order in the delay).

C2 (new): exchanging two sums, sum_t L b_t <= L^2 sum_t eta_t k_t, k_t the number of views in which update t
is missing or extra:
    R <= (L^2/2) sum eta_t + F^2 V(1/eta) + L^2 sum eta_t k_t,
V(1/eta) = 1/eta_T for non-increasing steps. With a constant step this is the form of Quanrud and Khashabi
2015.

C3 (new): for convex M-smooth f_t the regret at the REFERENCE x_t, sum f_t(x_t) - f_t(x*), is at most
    sum eta_t |g_t|^2 / 2 + F^2 V(1/eta) + (M/2) sum b_t^2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, non_negative, positive, steps, unwrap
from theory.appendix_a1 import variation
from theory.bound import CONVEX, DISTANCE, Bound, regret


def delay_adaptive_regret(eta_t: ArrayLike, L: ArrayLike, F2: ArrayLike, k: ArrayLike) -> Bound:
    """C2: regret at the views from the delay counts alone.

    Parameters
    ----------
    eta_t : (T,)
        Steps, > 0, in the order of the references; they need not decrease.
    L : float
        Lipschitz constant, > 0.
    F2 : float
        F^2, bound on HALF the squared distance to x*, >= 0.
    k : (..., T)
        Views in which update t is missing or extra, >= 0 (`theory.counts`).

    Returns
    -------
    Bound
        Regret R of each run, loss units; `details`: terms `gradient`, `distance`, `staleness`.

    Raises
    ------
    ValueError
        On values outside these ranges or wrong shapes.
    """
    step = steps("eta_t", eta_t)
    lipschitz, half = positive("L", L), non_negative("F2", F2)
    counts = _per_read("k", k, step.size)
    terms = {
        "gradient": lipschitz**2 * step.sum() / 2,
        "distance": half * variation(step),
        "staleness": lipschitz**2 * (counts @ step),
    }
    source = "new: delay-adaptive regret (C2), after Quanrud and Khashabi 2015"
    return regret(terms, step.size * lipschitz * np.sqrt(2 * half), (CONVEX, DISTANCE), source)


def smooth_regret(
    eta_t: ArrayLike, grad_norms: ArrayLike, F2: ArrayLike, M: ArrayLike, b: ArrayLike
) -> Bound:
    """C3: regret at the references x_t for smooth losses.

    Parameters
    ----------
    eta_t : (T,)
        Steps, > 0.
    grad_norms, b : (..., T)
        |g_t| and displacements b_t = |x~_t - x_t|, >= 0.
    F2 : float
        F^2, bound on HALF the squared distance to x*, >= 0.
    M : float
        Smoothness constant of every f_t, >= 0.

    Returns
    -------
    Bound
        sum_t f_t(x_t) - f_t(x*), loss units; `details`: terms `gradient`, `distance`, `staleness`.

    Raises
    ------
    ValueError
        On values outside these ranges or wrong shapes.
    """
    step = steps("eta_t", eta_t)
    norms, moved = _per_read("grad_norms", grad_norms, step.size), _per_read("b", b, step.size)
    terms = {
        "gradient": norms**2 @ step / 2,
        "distance": non_negative("F2", F2) * variation(step),
        "staleness": non_negative("M", M) / 2 * np.sum(moved**2, axis=-1),
    }
    pieces = {name: unwrap(np.asarray(value)) for name, value in terms.items()}
    total = unwrap(np.asarray(sum(terms.values()), dtype=np.float64))
    assumed = ("each f_t convex and M-smooth on all of R^d, no projection", DISTANCE)
    return Bound(
        total, assumed, "new: regret at the references, second order in the delay (C3)", None, pieces
    )


def _per_read(name: str, value: ArrayLike, length: int) -> FloatArray:
    array = non_negative(name, value)
    if array.ndim == 0 or array.shape[-1] != length:
        raise ValueError(f"{name}: got shape {array.shape}, but must be (..., {length}), one value per read")
    return array

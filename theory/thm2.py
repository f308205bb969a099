"""Theorem 2: how the variance of the parameters changes in one step under VAP.

Problem: delta_t = x_view - x_t with |delta_t|_inf <= v_t = v0/sqrt(t); cov(a, b) = E[a.b] - E[a].E[b] and
Var(a) = cov(a, a).

As printed:  Var_{t+1} = Var_t - 2 cov(x_t, E[g_t]) + O(...)         the first term lacks eta_t
Corrected:   the exact identity of `theory.thm6_terms`, whose first term is -2 eta_t cov(x_t, g_t), with

    |2 cov(x_{t+1}, delta_{t+1}) - 2 cov(x_t, delta_t)| <= 2 sqrt(d) (v_t sd(x_t) + v_{t+1} sd(x_{t+1}))
    |Var(delta_{t+1}) - Var(delta_t)|                   <= d max(v_t, v_{t+1})^2
    |2 eta_t cov(x_t, r_t)|                             <= 2 eta_t sd(x_t) M sqrt(d) v_t

for the terms view:cross, view:vardelta and ref:stale1, the last with M-smooth f_t and
r_t = grad f_t(view) - grad f_t(x_t).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory._check import Values, non_negative, numbers, positive, sweep, unwrap, whole
from theory.bound import Bound


def thm2_remainder(
    d: ArrayLike,
    v0: ArrayLike,
    t: ArrayLike,
    sd_t: ArrayLike,
    sd_next: ArrayLike,
    eta_t: ArrayLike = 0.0,
    M: ArrayLike = 0.0,
) -> Bound:
    """Bound on the terms of Theorem 2 that come from the views: explicit constants for the paper's O().

    Parameters
    ----------
    d, t : whole number or (...)
        Dimension and read index, >= 1.
    v0 : float or (...)
        Threshold v_t = v0/sqrt(t), >= 0; parameter units.
    sd_t, sd_next : float or (...)
        Standard deviations sqrt(Var(x_t)), sqrt(Var(x_{t+1})), >= 0; parameter units.
    eta_t, M : float or (...)
        Step and smoothness constant, >= 0. Their product 0 leaves out the gradient term `ref:stale1`.

    Returns
    -------
    Bound
        Sum of the bounds on |view:cross|, |view:vardelta| and |ref:stale1|, squared parameter units; each in
        `details`.

    Raises
    ------
    ValueError
        On values outside these ranges or shapes that do not broadcast.
    """
    dim, index, threshold = whole("d", d, 1), whole("t", t, 1), non_negative("v0", v0)
    now, after = non_negative("sd_t", sd_t), non_negative("sd_next", sd_next)
    step, smooth = non_negative("eta_t", eta_t), non_negative("M", M)
    sweep(d=dim, v0=threshold, t=index, sd_t=now, sd_next=after, eta_t=step, M=smooth)
    v_t, v_next = threshold / np.sqrt(index), threshold / np.sqrt(index + 1)
    terms = {
        "view:cross": 2 * np.sqrt(dim) * (v_t * now + v_next * after),
        "view:vardelta": dim * np.maximum(v_t, v_next) ** 2,
        "ref:stale1": 2 * step * now * smooth * np.sqrt(dim) * v_t,
    }
    total = np.asarray(sum(terms.values()), dtype=np.float64)
    assumed = ("|view - x_t|_inf <= v0/sqrt(t) for every seed", "f_t M-smooth, for the term ref:stale1")
    pieces = {name: unwrap(np.asarray(value)) for name, value in terms.items()}
    return Bound(unwrap(total), assumed, "[1410.8043, Thm 2] with explicit constants", None, pieces)


def thm2_drift(eta_t: ArrayLike, cov_x_g: ArrayLike) -> Values:
    """First term of Theorem 2, corrected: -2 eta_t cov(x_t, g_t); squared parameter units."""
    return unwrap(np.asarray(-2 * positive("eta_t", eta_t) * numbers("cov_x_g", cov_x_g)))


def thm2_drift_printed(cov_x_g: ArrayLike) -> Values:
    """First term of Theorem 2 as printed: -2 cov(x_t, g_t), which lacks the step and has the wrong unit."""
    return unwrap(np.asarray(-2 * numbers("cov_x_g", cov_x_g)))

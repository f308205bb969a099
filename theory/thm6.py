"""Theorem 6 (and 2): the change of the variance in one step, as an exact identity on an ensemble of N seeds.

cov(a, b) = E[a.b] - E[a].E[b] with 1/N moments, Var(a) = cov(a, a), summed over components. With delta_t =
x~_t - x_t, h_t = grad f_t(x_t) the fresh gradient (same sample), g_t = grad f_t(x~_t), r_t = g_t - h_t,
x_{t+1} = x_t - eta g_t:

    Var(x_{t+1}) - Var(x_t) = -2 eta cov(x, h)      ref:drift
                              + eta^2 Var(h)        ref:fresh_noise   paper: O(eta_t^2 rho_t^2)
                              - 2 eta cov(x, r)     ref:stale1        paper: -2 eta cov(x, E[g]) with drift
                              + 2 eta^2 cov(h, r)   ref:stale2
                              + eta^2 Var(r)        ref:stale3
    Var(x~_{t+1}) - Var(x~_t) = all of these
                              + 2 [cov(x_{t+1}, delta_{t+1}) - cov(x_t, delta_t)]   view:cross
                              + Var(delta_{t+1}) - Var(delta_t)                     view:vardelta

view:cross contains the paper's O(eta_t xi_t).

As printed: Var_{t+1} = Var_t - 2 eta_t cov(x_t, E[g_t]) + O(eta_t xi_t) + O(eta_t^2 rho_t^2) + O*(gamma_t),
the last "of 5th order or higher". That is true only if eta, rho AND gamma are counted together: in (eta, rho)
stale1 has the order of fresh_noise when all grad f_t(x*) = 0, and without that staleness does not vanish near
x*. Under VAP (Theorem 2) delta_t = x_view - x_t, and the identity is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, Values, numbers, positive, sweep, unwrap

REFERENCE = ("ref:drift", "ref:fresh_noise", "ref:stale1", "ref:stale2", "ref:stale3")
VIEW = ("view:cross", "view:vardelta")


class Closure(NamedTuple):
    """Errors of the identity, relative to the larger variance: reference side and view side."""

    reference: Values
    view: Values


def thm6_terms(
    x: ArrayLike,
    x_next: ArrayLike,
    g: ArrayLike,
    h: ArrayLike,
    delta: ArrayLike,
    delta_next: ArrayLike,
    eta: ArrayLike,
) -> dict[str, Values]:
    """The seven terms of Theorem 6 on an ensemble.

    Parameters
    ----------
    x, x_next : (..., N, d)
        References x_t and x_{t+1}, one row per seed.
    g, h : (..., N, d)
        Gradients of the same sample at the view and at the reference.
    delta, delta_next : (..., N, d)
        View minus reference at t and t + 1.
    eta : float or (...)
        Step eta_t, > 0.

    Returns
    -------
    dict
        `ref:drift`, `ref:fresh_noise`, `ref:stale1`, `ref:stale2`, `ref:stale3`, `view:cross`,
        `view:vardelta`: floats or arrays over the leading axes; squared parameter units.

    Raises
    ------
    ValueError
        On shapes that differ, seeds of unequal number, or eta <= 0.

    Notes
    -----
    [1410.8043, Thm 6 and Thm 2], exact for every N and any objective.
    """
    now, after, stale, fresh, gap, gap_next = _ensemble(x, x_next, g, h, delta, delta_next)
    step = positive("eta", eta)
    sweep(eta=step, x=now[..., 0, 0])
    rest = stale - fresh
    terms = {
        "ref:drift": -2 * step * covariance(now, fresh),
        "ref:fresh_noise": step**2 * covariance(fresh, fresh),
        "ref:stale1": -2 * step * covariance(now, rest),
        "ref:stale2": 2 * step**2 * covariance(fresh, rest),
        "ref:stale3": step**2 * covariance(rest, rest),
        "view:cross": 2 * (covariance(after, gap_next) - covariance(now, gap)),
        "view:vardelta": covariance(gap_next, gap_next) - covariance(gap, gap),
    }
    return {name: unwrap(np.asarray(value)) for name, value in terms.items()}


def thm6_closure(
    x: ArrayLike, x_next: ArrayLike, delta: ArrayLike, delta_next: ArrayLike, terms: Mapping[str, Values]
) -> Closure:
    """How exactly the terms add up: |sum of terms - change of the variance| / the larger variance.

    Parameters
    ----------
    x, x_next, delta, delta_next : (..., N, d)
        As in `thm6_terms`.
    terms : mapping
        Its result.

    Returns
    -------
    Closure
        About 1e-14 in double precision; larger when x_{t+1} is not x_t - eta g_t.

    Raises
    ------
    ValueError
        As `thm6_terms`.
    """
    now, after, gap, gap_next = _ensemble(x, x_next, delta, delta_next)
    reference = np.sum(np.stack([np.asarray(terms[name]) for name in REFERENCE]), axis=0)
    view = reference + np.sum(np.stack([np.asarray(terms[name]) for name in VIEW]), axis=0)
    return Closure(_error(now, after, reference), _error(now + gap, after + gap_next, view))


def thm6_as_printed(terms: Mapping[str, Values]) -> dict[str, Values]:
    """The exact terms gathered as Theorem 6 prints them.

    Parameters
    ----------
    terms : mapping
        Result of `thm6_terms`.

    Returns
    -------
    dict
        `-2 eta cov(x, E g)`, `O(eta xi)`, `O(eta^2 rho^2)`, `O*(gamma)`: together the change of the variance
        of the views.
    """
    return {
        "-2 eta cov(x, E g)": terms["ref:drift"] + terms["ref:stale1"],
        "O(eta xi)": terms["view:cross"],
        "O(eta^2 rho^2)": terms["ref:fresh_noise"],
        "O*(gamma)": terms["ref:stale2"] + terms["ref:stale3"] + terms["view:vardelta"],
    }


def covariance(a: FloatArray, b: FloatArray) -> FloatArray:
    """sum over components of the 1/N covariance over the ensemble axis; (..., N, d) -> (...)."""
    centred = a - a.mean(axis=-2, keepdims=True), b - b.mean(axis=-2, keepdims=True)
    return np.asarray(np.sum(centred[0] * centred[1], axis=(-2, -1)) / a.shape[-2])


def _error(now: FloatArray, after: FloatArray, change: FloatArray) -> Values:
    before, later = covariance(now, now), covariance(after, after)
    scale = np.maximum(before, later)
    gap = np.abs(change - (later - before))
    return unwrap(np.divide(gap, scale, out=np.asarray(gap), where=scale > 0))


def _ensemble(*arrays: ArrayLike) -> tuple[FloatArray, ...]:
    names = (
        ("x", "x_next", "g", "h", "delta", "delta_next")
        if len(arrays) == 6
        else ("x", "x_next", "delta", "delta_next")
    )
    checked = [numbers(name, a) for name, a in zip(names, arrays, strict=True)]
    if checked[0].ndim < 2:
        raise ValueError(f"x: got shape {checked[0].shape}, but must be (..., N, d), one row per seed")
    for name, a in zip(names, checked, strict=True):
        if a.shape != checked[0].shape:
            raise ValueError(
                f"{name}: got shape {a.shape}, but must equal the shape {checked[0].shape} of x (same seeds)"
            )
    return tuple(checked)

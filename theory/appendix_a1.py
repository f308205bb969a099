"""Lemma A.1 and certificate C0: the regret of one run, exactly decomposed.

Lemma A.1 (identity, any vectors, x_{t+1} = x_t - eta_t g_t, x_t the reference BEFORE update t):

    <x~_t - x*, g_t> = eta_t |g_t|^2 / 2 + (D(x*, x_t) - D(x*, x_{t+1})) / eta_t + <x~_t - x_t, g_t>,  D(a, b)
    = |a-b|^2/2

As printed, x_t contains update t itself; then the quadratic term changes its sign.

C0 (new): for convex f_t, R <= A + B + S, with equality for linear f_t:
    A = sum eta_t |g_t|^2 / 2,  B = sum (D_t - D_{t+1}) / eta_t,  S = sum <x~_t - x_t, g_t> (signed).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, Values, numbers, positive, shape, steps, sweep, unwrap

_TOLERANCE = 1e-6  # of the largest coordinate: single-precision tables pass, projections do not


class Certificate(NamedTuple):
    """R <= A + B + S (C0): gradient term, distance term and signed staleness term, each in loss units."""

    A: Values
    B: Values
    S: Values


def lemma_a1(
    x_star: ArrayLike, x: ArrayLike, x_next: ArrayLike, view: ArrayLike, g: ArrayLike, eta: ArrayLike
) -> tuple[Values, Values]:
    """Both sides of Lemma A.1 for one read (or a batch of reads along the leading axes).

    Parameters
    ----------
    x_star, x, x_next, view, g : (..., d)
        Comparator, reference before and after the update, view, gradient at the view.
    eta : float or (...)
        Step of the update, > 0.

    Returns
    -------
    lhs, rhs : float or (...)
        Equal when x_next = x - eta g.

    Raises
    ------
    ValueError
        On shapes that do not broadcast or eta <= 0.
    """
    star, before, after = numbers("x_star", x_star), numbers("x", x), numbers("x_next", x_next)
    seen, gradient, step = numbers("view", view), numbers("g", g), positive("eta", eta)
    for name, array in {"x_star": star, "x_next": after, "view": seen, "g": gradient}.items():
        shape(name, array, (before.shape[-1] if before.ndim else None,))
    lhs = np.sum((seen - star) * gradient, axis=-1)
    half_distance = np.sum((before - star) ** 2 - (after - star) ** 2, axis=-1) / 2
    rhs = (
        step * np.sum(gradient**2, axis=-1) / 2
        + half_distance / step
        + np.sum((seen - before) * gradient, axis=-1)
    )
    return unwrap(lhs), unwrap(rhs)


def regret_certificate(
    eta_t: ArrayLike, g: ArrayLike, x: ArrayLike, views: ArrayLike, x_star: ArrayLike
) -> Certificate:
    """Certificate C0 of a run: R <= A + B + S for every comparator x*, with no assumption but convexity.

    Parameters
    ----------
    eta_t : (T,)
        Steps, > 0, in the order in which the references are built.
    g, views : (..., T, d)
        Gradients and views of the reads, in that order.
    x : (..., T+1, d)
        References: x[t-1] is x_t, x[T] the state after all updates.
    x_star : (d,)
        Comparator.

    Returns
    -------
    Certificate
        A, B, S: floats, or arrays over the leading axes (seeds).

    Raises
    ------
    ValueError
        On wrong shapes, and when x_{t+1} is not x_t - eta_t g_t (a projection makes the certificate false).

    Notes
    -----
    Any order of the updates gives the same A + B + S; only the share of S differs.
    """
    gradients = numbers("g", g)
    if gradients.ndim < 2:
        raise ValueError(f"g: got shape {gradients.shape}, but must be (..., T, d)")
    count, dim = gradients.shape[-2:]
    step = steps("eta_t", eta_t, count)
    references = shape("x", numbers("x", x), (count + 1, dim))
    seen = shape("views", numbers("views", views), (count, dim))
    star = shape("x_star", numbers("x_star", x_star), (dim,))
    sweep(g=gradients[..., 0, 0], x=references[..., 0, 0], views=seen[..., 0, 0])
    moves = np.diff(references, axis=-2)
    gap = np.max(np.abs(moves + step[:, None] * gradients))
    limit = _TOLERANCE * max(float(np.abs(references).max()), float(np.abs(moves).max()))
    if gap > limit:
        raise ValueError(f"x: got a gap of {gap:g}, but x[t+1] must be x[t] - eta_t[t] g[t] (no projection)")
    middle = (references[..., 1:, :] + references[..., :-1, :]) / 2 - star
    return Certificate(
        A=unwrap(np.sum(step * np.sum(gradients**2, axis=-1), axis=-1) / 2),
        B=unwrap(-np.sum(np.sum(moves * middle, axis=-1) / step, axis=-1)),
        S=unwrap(np.sum((seen - references[..., :-1, :]) * gradients, axis=(-2, -1))),
    )


def variation(step: FloatArray) -> float:
    """1/eta_1 + sum of the increases of 1/eta_t: B <= F^2 times this (1/eta_T if steps never increase)."""
    inverse = 1 / step
    return (
        float(inverse[0] + np.maximum(np.diff(inverse), 0).sum()) if inverse.size > 1 else float(inverse[0])
    )

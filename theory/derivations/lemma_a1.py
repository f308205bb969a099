"""Lemma A.1: the regret identity of one read, and why x_t must not contain update t."""

from __future__ import annotations

import sympy as sp

DIM = 2
x, view, g, star = (sp.Matrix(sp.symbols(f"{name}0:{DIM}", real=True)) for name in ("x", "v", "g", "s"))
eta = sp.Symbol("eta", positive=True)


def half_square(vector: sp.Matrix) -> sp.Expr:
    """|vector|^2 / 2, the D of the paper for a difference."""
    return vector.dot(vector) / 2


def sides() -> tuple[sp.Expr, sp.Expr]:
    """Left and right side for x_{t+1} = x_t - eta g."""
    after = x - eta * g
    rhs = eta * half_square(g) + (half_square(star - x) - half_square(star - after)) / eta + (view - x).dot(g)
    return (view - star).dot(g), rhs


def gap() -> sp.Expr:
    """Left minus right side; 0."""
    lhs, rhs = sides()
    return sp.expand(lhs - rhs)


def gap_as_printed() -> sp.Expr:
    """The same when x_t contains update t already: -eta |g|^2, so the quadratic term changes its sign."""
    before = x + eta * g
    rhs = (
        eta * half_square(g) + (half_square(star - before) - half_square(star - x)) / eta + (view - x).dot(g)
    )
    return sp.expand((view - star).dot(g) - rhs)

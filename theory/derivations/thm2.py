"""Theorem 2: the factor eta_t of the first term, and the constants of the remainder."""

from __future__ import annotations

import sympy as sp

d, t = sp.symbols("d t", positive=True, integer=True)
v0, sd_t, sd_next, eta_t, smooth = sp.symbols("v0 sd_t sd_next eta_t M", positive=True)


def drift_coefficient() -> sp.Expr:
    """Coefficient of cov(x, g) in Var(x - eta_t g): -2 eta_t, not the printed -2."""
    var_x, var_g, cov = sp.symbols("var_x var_g cov")
    weights = sp.Matrix([1, -eta_t])
    change = (weights.T * sp.Matrix([[var_x, cov], [cov, var_g]]) * weights)[0] - var_x
    return sp.expand(change).coeff(cov)


def remainder() -> sp.Expr:
    """Cauchy-Schwarz with |delta_t|_2 <= sqrt(d) v_t, so that Var(delta_t) lies in [0, d v_t^2]."""
    v = [v0 / sp.sqrt(t), v0 / sp.sqrt(t + 1)]
    sd_delta = [sp.sqrt(d) * size for size in v]
    cross = 2 * (sd_t * sd_delta[0] + sd_next * sd_delta[1])
    return cross + sd_delta[0] ** 2 + 2 * eta_t * sd_t * smooth * sd_delta[0]

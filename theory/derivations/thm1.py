"""Theorem 1: the regret under VAP term by term, and the factor 2 the paper lost."""

from __future__ import annotations

from itertools import pairwise

import sympy as sp

eta, L, F2, v0 = sp.symbols("eta L F2 v0", positive=True)
d, T, r = sp.symbols("d T r", positive=True, integer=True)
t = sp.Symbol("t", positive=True, integer=True)


def regret(reads: int, drift: int) -> sp.Expr:
    """A + B + S of C0 with the step of Theorem 1, |g| <= L, D_t <= F^2, |view - x|_inf <= v0/sqrt(t)."""
    steps = [eta / sp.sqrt(max(1, i - drift)) for i in range(1, reads + 1)]
    gradient = L**2 / 2 * sum(steps)
    distance = F2 * (1 / steps[0] + sum(1 / b - 1 / a for a, b in pairwise(steps)))
    staleness = sum(sp.sqrt(d) * L * v0 / sp.sqrt(i) for i in range(1, reads + 1))
    return gradient + distance + staleness


def lower_end_of_staleness() -> sp.Expr:
    """The staleness term is at least sqrt(d) L v0 (2 sqrt(T+1) - 2), see `lemma4.telescoped_lower`."""
    return sp.sqrt(d) * L * v0 * (2 * sp.sqrt(T + 1) - 2)


def printed_staleness() -> sp.Expr:
    """What the paper prints: sqrt(d) L v0 sqrt(T), below that lower end from T = 2 on."""
    return sp.sqrt(d) * L * v0 * sp.sqrt(T)

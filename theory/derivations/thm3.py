"""Theorem 3: best step, its value, and the ratio to the older bound."""

from __future__ import annotations

import sympy as sp

eta, L, F, T, N = sp.symbols("eta L F T N", positive=True)
P, s = sp.symbols("P s", positive=True)


def regret() -> sp.Expr:
    """[eta L^2 (1 + 2 N) + F^2/eta] sqrt(T)."""
    return (eta * L**2 * (1 + 2 * N) + F**2 / eta) * sp.sqrt(T)


def best_step() -> sp.Expr:
    """Zero of the derivative in eta: F/(L sqrt(1 + 2 N))."""
    (found,) = sp.solve(sp.diff(regret(), eta), eta)
    return sp.simplify(found)


def best_value() -> sp.Expr:
    """2 F L sqrt((1 + 2 N) T)."""
    return sp.simplify(regret().subs(eta, best_step()))


def ratio_to_ho() -> sp.Expr:
    """Best value over 4 F L sqrt(2 (s+1) P T), squared, with N = (P-1)(s+1); at most 1/4."""
    older = 4 * F * L * sp.sqrt(2 * (s + 1) * P * T)
    return sp.simplify((best_value().subs(N, (P - 1) * (s + 1)) / older) ** 2)


def constant_step() -> tuple[sp.Expr, sp.Expr]:
    """C2 at constant step with total delay N: best step and value 2 F L sqrt(T/2 + N)."""
    bound = L**2 * eta * T / 2 + F**2 / eta + L**2 * eta * N
    (found,) = sp.solve(sp.diff(bound, eta), eta)
    return sp.simplify(found), sp.simplify(bound.subs(eta, found))

"""Lemma A.2: the constant 1/2 is sharp, and M3 of the logistic loss."""

from __future__ import annotations

import sympy as sp

r, third = sp.symbols("r M3", positive=True)
z = sp.Symbol("z", real=True)


def remainder(loss: sp.Expr, at: sp.Expr) -> sp.Expr:
    """f'(at + r) - f'(at) - f''(at) r for a loss in z."""
    slope = sp.diff(loss, z)
    return slope.subs(z, at + r) - slope.subs(z, at) - sp.diff(slope, z).subs(z, at) * r


def sharpness() -> sp.Expr:
    """Remainder over M3 r^2 for the cubic M3 z^3/6 + z^2/2 at 0: 1/2."""
    return sp.simplify(remainder(third * z**3 / 6 + z**2 / 2, sp.Integer(0)) / (third * r**2))


def logistic_third_derivative() -> sp.Expr:
    """sup of |f'''| for f = ln(1 + e^z): 1/(6 sqrt(3)), where p = f' solves 6 p^2 - 6 p + 1 = 0."""
    p = sp.Symbol("p", positive=True)
    third_derivative = p * (1 - p) * (1 - 2 * p)
    return sp.simplify(
        max(sp.Abs(third_derivative.subs(p, root)) for root in sp.solve(sp.diff(third_derivative, p), p))
    )

"""Clopper-Pearson: the binomial tail at the upper end is the allowed error."""

from __future__ import annotations

import sympy as sp

prob = sp.Symbol("p", positive=True)
delta = sp.Symbol("delta", positive=True)


def tail(k: int, n: int) -> sp.Expr:
    """P(Bin(n, p) <= k), decreasing in p; the upper end is the p at which it is delta."""
    return sum(sp.binomial(n, i) * prob**i * (1 - prob) ** (n - i) for i in range(k + 1))


def no_hits(n: int) -> sp.Expr:
    """Upper end for k = 0: 1 - delta^(1/n)."""
    return 1 - delta ** sp.Rational(1, n)

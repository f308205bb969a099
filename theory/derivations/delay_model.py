"""Iid-delay model: stationary variances in closed form, and the largest stable step."""

from __future__ import annotations

import sympy as sp

a, sig2, h = sp.symbols("a sigma2 h", positive=True)  # a = eta h
p = sp.Symbol("p", positive=True)  # share of reads with delay 1


def stationary_variance(delay: int) -> sp.Expr:
    """Var(x) at constant step for a fixed delay, from S = A S A' + eta^2 sig2 e_0 e_0'."""
    size = delay + 1
    A = sp.zeros(size)
    for i in range(delay):
        A[i + 1, i] = 1
    A[0, 0] += 1
    A[0, delay] -= a
    entries = {(i, j): sp.Symbol(f"S{min(i, j)}{max(i, j)}") for i in range(size) for j in range(size)}
    S = sp.Matrix(size, size, lambda i, j: entries[i, j])
    noise = sp.zeros(size)
    noise[0, 0] = (a / h) ** 2 * sig2
    solution = sp.solve(list(S - A * S * A.T - noise), sorted(set(entries.values()), key=str), dict=True)[0]
    return sp.factor(solution[entries[0, 0]])


def mixture_condition() -> sp.Expr:
    """1 - a^2 excess for delays 0 (share 1-p) and 1 (share p): stable while this is positive.

    The mean recursion x' = (1 - a(1-p)) x - a p x_{-1} has the autocovariances r_0, r_1 under unit noise; the
    random delay adds noise of variance a^2 (E x_tau^2 - (mean over tau of x_tau)^2).
    """
    first, second = 1 - a * (1 - p), -a * p
    r0, r1 = sp.symbols("r0 r1")
    found = sp.solve(
        [r1 - first * r0 - second * r1, r0 - first * r1 - second * (first * r1 + second * r0) - 1], [r0, r1]
    )
    excess = found[r0] * (1 - (1 - p) ** 2 - p**2) - 2 * p * (1 - p) * found[r1]
    return sp.factor(sp.simplify(1 - a**2 * excess))

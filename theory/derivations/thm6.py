"""Theorems 6 and 2: the identity with symbolic seeds, and its prediction under A1 and A2."""

from __future__ import annotations

from itertools import product

import sympy as sp

SEEDS, DIM = 3, 2
eta = sp.Symbol("eta", positive=True)
Vectors = list[sp.Matrix]


def ensemble(name: str) -> Vectors:
    """One symbolic vector per seed."""
    return [sp.Matrix(sp.symbols(f"{name}{i}_0:{DIM}", real=True)) for i in range(SEEDS)]


def cov(a: Vectors, b: Vectors) -> sp.Expr:
    """E[a.b] - E[a].E[b] with 1/N moments."""
    means = [sum(v, sp.zeros(len(v[0]), 1)) / len(v) for v in (a, b)]
    return sum(p.dot(q) for p, q in zip(a, b, strict=True)) / len(a) - means[0].dot(means[1])


def gaps() -> tuple[sp.Expr, sp.Expr]:
    """Sum of the terms minus the change of the variance, reference and view side; 0, 0."""
    x, h, r, delta, delta_next = (ensemble(name) for name in ("x", "h", "r", "a", "b"))
    after = [p - eta * (q + w) for p, q, w in zip(x, h, r, strict=True)]
    reference = (
        -2 * eta * cov(x, h)
        + eta**2 * cov(h, h)
        - 2 * eta * cov(x, r)
        + 2 * eta**2 * cov(h, r)
        + eta**2 * cov(r, r)
    )
    view = [p + q for p, q in zip(x, delta, strict=True)]
    view_after = [p + q for p, q in zip(after, delta_next, strict=True)]
    extra = 2 * (cov(after, delta_next) - cov(x, delta)) + cov(delta_next, delta_next) - cov(delta, delta)
    return (
        sp.expand(reference - cov(after, after) + cov(x, x)),
        sp.expand(reference + extra - cov(view_after, view_after) + cov(view, view)),
    )


def independent_gaps() -> dict[str, sp.Expr]:
    """Terms of an ensemble in which gamma IS independent, minus the formulas of `theory.thm6_moments`; all 0.

    Two equally likely values of (x, h, H, ubar) and, independently, two of gamma, all symbolic, in `DIM`
    dimensions.
    """
    x, h = ([sp.Matrix(sp.symbols(f"{n}{i}_0:{DIM}", real=True)) for i in range(2)] for n in ("x", "h"))
    hessian = [sp.Matrix(DIM, DIM, sp.symbols(f"H{i}_0:{DIM * DIM}", real=True)) for i in range(2)]
    ubar = sp.symbols("u0:2", positive=True)
    gamma = [sp.Matrix(sp.symbols(f"g{i}_0:{DIM}", real=True)) for i in range(2)]
    pairs = list(product(range(2), range(2)))
    delta = [ubar[i] * gamma[j] for i, j in pairs]
    r = [hessian[i] * delta[n] for n, (i, _) in enumerate(pairs)]
    xs, hs = [x[i] for i, _ in pairs], [h[i] for i, _ in pairs]

    mean = (gamma[0] + gamma[1]) / 2
    spread = sum(((g - mean) * (g - mean).T for g in gamma), sp.zeros(DIM)) / 2
    K = [u * H for u, H in zip(ubar, hessian, strict=True)]
    mean_k = (K[0] + K[1]) / 2

    def cross(a: Vectors) -> sp.Expr:
        centre = (a[0] + a[1]) / 2
        return sum((a[i] - centre).dot((K[i] - mean_k) * mean) for i in range(2)) / 2

    second = sum((k.T * k for k in K), sp.zeros(DIM)) / 2
    mean_ubar, mean_square = (ubar[0] + ubar[1]) / 2, (ubar[0] ** 2 + ubar[1] ** 2) / 2
    predicted = {
        "cov(x, r)": cov(xs, r) - cross(x),
        "cov(h, r)": cov(hs, r) - cross(h),
        "Var(r)": cov(r, r)
        - (second * (spread + mean * mean.T)).trace()
        + (mean_k * mean).dot(mean_k * mean),
        "Var(delta)": cov(delta, delta)
        - mean_square * spread.trace()
        - (mean_square - mean_ubar**2) * mean.dot(mean),
        "cov(x, delta)": cov(xs, delta)
        - mean.dot(
            sum(((x[i] - (x[0] + x[1]) / 2) * (ubar[i] - mean_ubar) for i in range(2)), sp.zeros(DIM, 1)) / 2
        ),
    }
    return {name: sp.expand(gap) for name, gap in predicted.items()}

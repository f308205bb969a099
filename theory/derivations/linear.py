"""Linear recursion unrolled for a small schedule: every x_t and view as a symbolic sum of noises."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

lam, eta, sig2, start = sp.symbols("lambda eta sigma2 e0", positive=True)


def unroll(vc: Sequence[Sequence[Sequence[int]]], order: Sequence[int]) -> dict[str, list[sp.Expr]]:
    """E and Var of x_t - x*, Cov(x_t, x~_t), Cov(x_t, zeta_t), one mode, eta_t = eta/sqrt(t), clock-major.

    Parameters
    ----------
    vc : (C, P, P)
        Clocks of worker q in the view of worker p in clock c.
    order : (T,)
        Clock-major indices of the reads in the order of their starts.
    """
    workers = len(vc[0])
    count = len(vc) * workers
    noise = sp.symbols(f"z0:{count}")
    update: dict[int, sp.Expr] = {}
    view: dict[int, sp.Expr] = {}
    for t in order:
        c, p = divmod(t, workers)
        seen = [i * workers + q for q in range(workers) for i in range(vc[c][p][q])]
        view[t] = sp.expand(start + sum(update[i] for i in seen))
        update[t] = sp.expand(-eta / sp.sqrt(t + 1) * (lam * view[t] + noise[t]))
    x = [sp.expand(start + sum(update[i] for i in range(t))) for t in range(count + 1)]

    def cov(first: sp.Expr, second: sp.Expr) -> sp.Expr:
        return sig2 * sum(sp.diff(first, z) * sp.diff(second, z) for z in noise)

    return {
        "mean": [e.subs(dict.fromkeys(noise, 0)) for e in x],
        "cov": [cov(e, e) for e in x],
        "cov_x_view": [cov(x[t], view[t]) for t in range(count)],
        "cov_x_noise": [cov(x[t], noise[t]) for t in range(count)],
    }

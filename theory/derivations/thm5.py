"""Theorem 5: the printed bound from Bernstein's inequality, and the higher rungs of the ladder."""

from __future__ import annotations

import sympy as sp

eta, L, tau, T, P, sigma, mu = sp.symbols("eta L tau T P sigma mu", positive=True)
s = sp.Symbol("s", nonnegative=True)
eps, V, M, lam, U, log_inverse, chi = sp.symbols("epsilon V M lambda U l chi", positive=True)


def bernstein() -> sp.Expr:
    """Exponent eps^2 / (2 V + 2 M eps / 3)."""
    return eps**2 / (2 * V + 2 * M * eps / 3)


def printed() -> sp.Expr:
    """Exponent as printed in Theorem 5."""
    etabar = eta**2 * L**4 * (sp.log(T) + 1) / T
    return T * tau**2 / (2 * etabar * sigma + sp.Rational(2, 3) * eta * L**2 * (2 * s + 1) * P * tau)


def printed_minus_bernstein() -> sp.Expr:
    """Printed exponent minus Bernstein with V = eta^2 L^4 sigma (ln T + 1), M = eta L^2 P (2s+1); 0."""
    put_in = {eps: T * tau, V: eta**2 * L**4 * sigma * (sp.log(T) + 1), M: eta * L**2 * P * (2 * s + 1)}
    return sp.simplify(printed() - bernstein().subs(put_in, simultaneous=True))


def bernstein_inverse() -> sp.Expr:
    """Positive root of bernstein() = l."""
    return next(
        root
        for root in sp.solve(sp.Eq(eps**2, log_inverse * (2 * V + 2 * M * eps / 3)), eps)
        if root.is_positive
    )


def bennett() -> sp.Expr:
    """Exponent: max over lambda of lambda eps - (V/M^2)(e^(lambda M) - 1 - lambda M)."""
    objective = lam * eps - V / M**2 * (sp.exp(lam * M) - 1 - lam * M)
    (best,) = sp.solve(sp.diff(objective, lam), lam)
    return sp.simplify(objective.subs(lam, best))


def bennett_minus_h() -> sp.Expr:
    """bennett() minus (V/M^2) h(M eps/V), h(u) = (1+u) ln(1+u) - u; 0."""
    u = M * eps / V
    return sp.simplify(sp.expand_log(bennett() - V / M**2 * ((1 + u) * sp.log(1 + u) - u), force=True))


def chi_rule() -> sp.Expr:
    """Bernstein with V -> chi V, M -> chi M, minus the exponent over chi; 0."""
    return sp.simplify(bernstein().subs({V: chi * V, M: chi * M}, simultaneous=True) - bernstein() / chi)


def two_point_moments() -> tuple[sp.Expr, sp.Expr]:
    """Mean 0 and variance sigma of the law on U and -sigma/U with p = sigma/(sigma + U^2)."""
    p = sigma / (sigma + U**2)
    mean = p * U - (1 - p) * sigma / U
    second = p * U**2 + (1 - p) * (sigma / U) ** 2
    return sp.simplify(mean), sp.simplify(second)


def two_point() -> sp.Expr:
    """Log-moment function of that law at lambda."""
    p = sigma / (sigma + U**2)
    return sp.log(p * sp.exp(lam * U) + (1 - p) * sp.exp(-lam * sigma / U))


def per_term() -> sp.Expr:
    """Bennett's bound on the log-moment function at lambda."""
    return sp.log(1 + sigma / U**2 * (sp.exp(lam * U) - 1 - lam * U))


def small_lambda() -> tuple[sp.Expr, sp.Expr]:
    """Both log-moment functions begin with sigma lambda^2 / 2."""
    return tuple(sp.limit(f / lam**2, lam, 0) for f in (two_point(), per_term()))

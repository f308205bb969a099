"""Lemma 4 corrected: kappa_t = sqrt(t) w_t is at most 2, and 2 is approached."""

from __future__ import annotations

import sympy as sp

t, clock = sp.symbols("t c", positive=True)


def telescoped_upper() -> sp.Expr:
    """2 w - 1/sqrt(t) - w^2/sqrt(t) with w = sqrt(t) - sqrt(t-1); 0, so that 1/sqrt(t) <= 2 w.

    Summed over t = 1..T: h_T <= 2 sqrt(T) [1410.8043, eq. 10]; over a window a..b the mean is at most
    2/(sqrt(a-1) + sqrt(b)).
    """
    step = sp.sqrt(t) - sp.sqrt(t - 1)
    return sp.simplify(2 * step - 1 / sp.sqrt(t) - step**2 / sp.sqrt(t))


def telescoped_lower() -> sp.Expr:
    """1/sqrt(t) - 2 w - w^2/sqrt(t) with w = sqrt(t+1) - sqrt(t); 0, so that h_T >= 2 sqrt(T+1) - 2."""
    step = sp.sqrt(t + 1) - sp.sqrt(t)
    return sp.simplify(1 / sp.sqrt(t) - 2 * step - step**2 / sp.sqrt(t))


def kappa_many_workers() -> sp.Expr:
    """Kappa of the last read of clock c, s = 0, P to oo: 2 sqrt(c) (sqrt(c) - sqrt(c-1)); 2 at c = 1."""
    mean = sp.integrate(1 / sp.sqrt(t), (t, clock - 1, clock))
    return sp.sqrt(clock) * mean

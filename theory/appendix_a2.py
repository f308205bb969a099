"""Lemma A.2: the gradient is linear near the minimiser.

grad f(x) = Omega (x - x*) + rem, |rem| <= (M3/2) rho^2 with rho = |x - x*|, Omega the Hessian at x*, M3 its
Lipschitz constant. The constant 1/2 is sharp (cubics); quadratics have M3 = 0, ln(1 + e^x) has M3 = 1/(6
sqrt(3)).

It is a statement about f with grad f(x*) = 0. For a single f_t it holds only where grad f_t(x*) = 0
(interpolation): without that, |g_t| = O(rho_t), which Theorem 6 uses, is false.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from theory._check import non_negative, sweep, unwrap
from theory.bound import Bound


def lemma_a2_remainder(M3: ArrayLike, rho: ArrayLike) -> Bound:
    """Bound (M3/2) rho^2 on |grad f(x) - Omega (x - x*)|.

    Parameters
    ----------
    M3 : float or (...)
        Lipschitz constant of the Hessian, >= 0; loss per parameter^3.
    rho : float or (...)
        Distance |x - x*|, >= 0; parameter units.

    Returns
    -------
    Bound
        Gradient units.

    Raises
    ------
    ValueError
        On negative values or shapes that do not broadcast.
    """
    third, distance = non_negative("M3", M3), non_negative("rho", rho)
    sweep(M3=third, rho=distance)
    assumed = ("grad f(x*) = 0", "the Hessian of f is M3-Lipschitz on the segment")
    return Bound(unwrap(third * distance**2 / 2), assumed, "[1410.8043, Lemma A.2] with its constant")

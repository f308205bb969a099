"""Theorem 3: pathwise regret of SGD under SSP and ESSP.

Problem: eta_t = eta/sqrt(t); every view holds all updates of clocks <= c - s - 1. Then at most N_max updates
of a view are missing or extra, and each update is missing or extra in at most N_max views.

Theorem (new constant; C2 with k_t <= N_max):

    R <= (eta L^2/2) h_T + F^2 sqrt(T)/eta + eta L^2 N_max h_T  <=  [eta L^2 (1 + 2 N_max) + F^2/eta] sqrt(T)

With eta* = F/(L sqrt(1 + 2 N_max)): R <= 2 F L sqrt((1 + 2 N_max) T), at most half of the bound of Ho et al.
2013. The paper states O(sqrt(T)) and refers to Ho et al. for the constant.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, Values, non_negative, positive, sweep, unwrap, whole
from theory._sums import _harmonic
from theory.bound import CONVEX, DISTANCE, OWN, Bound, regret

_VIEWS = "views are prefixes of each worker's updates, hold clocks <= c-s-1 and never go back"
_ASSUMED = (CONVEX, DISTANCE, OWN, _VIEWS)


def n_max(P: ArrayLike, s: ArrayLike, per_row: bool = False) -> int | Values:
    """Largest possible count of missing and extra updates of one view.

    Parameters
    ----------
    P, s : whole number or (...)
        Workers, >= 1, and slack in clocks, >= 0.
    per_row : bool
        False: (P-1)(s+1), all rows of a view have one age (a worker is behind or ahead, never both). True:
        (P-1)(2s+1), the union over rows of different age.

    Returns
    -------
    int or (...) float64

    Raises
    ------
    ValueError
        If P < 1, s < 0 or one of them is no whole number.
    """
    count = most_disagreements(whole("P", P, 1), whole("s", s, 0), per_row)
    return int(count) if count.ndim == 0 else count


def most_disagreements(workers: FloatArray, slack: FloatArray, per_row: bool) -> FloatArray:
    """`n_max` of checked values."""
    return np.asarray((workers - 1) * (2 * slack + 1 if per_row else slack + 1))


def thm3_regret(
    eta: ArrayLike,
    L: ArrayLike,
    F2: ArrayLike,
    P: ArrayLike,
    s: ArrayLike,
    T: ArrayLike,
    exact: bool = True,
    per_row: bool = False,
) -> Bound:
    """Bound of Theorem 3 for a given step.

    Parameters
    ----------
    eta, L : float or (...)
        Base step and Lipschitz constant, > 0.
    F2 : float or (...)
        F^2, bound on HALF the squared distance to x*, >= 0.
    P, s, T : whole number or (...)
        Workers >= 1, slack >= 0, reads >= 1.
    exact : bool
        True: with the exact sum h_T. False: with 2 sqrt(T) in its place.
    per_row : bool
        As in `n_max`.

    Returns
    -------
    Bound
        Regret R (not divided by T), loss units; `details`: terms `gradient`, `distance`, `staleness`.

    Raises
    ------
    ValueError
        On values outside these ranges or shapes that do not broadcast.
    """
    step, lipschitz, half = positive("eta", eta), positive("L", L), non_negative("F2", F2)
    workers, slack, count = whole("P", P, 1), whole("s", s, 0), whole("T", T, 1)
    sweep(eta=step, L=lipschitz, F2=half, P=workers, s=slack, T=count)
    h = _harmonic(count)[0] if exact else 2 * np.sqrt(count)
    terms = {
        "gradient": step * lipschitz**2 * h / 2,
        "distance": half * np.sqrt(count) / step,
        "staleness": step * lipschitz**2 * most_disagreements(workers, slack, per_row) * h,
    }
    source = f"new constant for [1410.8043, Thm 3]{', exact sum h_T' if exact else ''}"
    return regret(terms, count * lipschitz * np.sqrt(2 * half), (*_ASSUMED, "eta_t = eta/sqrt(t)"), source)


def thm3_optimal(
    L: ArrayLike, F: ArrayLike, P: ArrayLike, s: ArrayLike, T: ArrayLike, per_row: bool = False
) -> Bound:
    """Bound of Theorem 3 at its best step eta* = F/(L sqrt(1 + 2 N_max)): 2 F L sqrt((1 + 2 N_max) T).

    Parameters
    ----------
    L, F : float or (...)
        Lipschitz constant and F (the root of F^2), > 0.
    P, s, T, per_row
        As in `thm3_regret`.

    Returns
    -------
    Bound
        Regret R, loss units; `details["eta"]` is eta*.

    Raises
    ------
    ValueError
        As `thm3_regret`.
    """
    lipschitz, distance, workers, slack, count = _checked(L, F, P, s, T)
    most = most_disagreements(workers, slack, per_row)
    value = 2 * distance * lipschitz * np.sqrt((1 + 2 * most) * count)
    eta = distance / (lipschitz * np.sqrt(1 + 2 * most))
    return _at_step(
        value, eta, lipschitz, distance, most, count, "new constant for [1410.8043, Thm 3], best step"
    )


def thm3_ho2013(L: ArrayLike, F: ArrayLike, P: ArrayLike, s: ArrayLike, T: ArrayLike) -> Bound:
    """The older bound 4 F L sqrt(2 (s+1) P T), for comparison; arguments and errors as `thm3_optimal`.

    [Ho et al. 2013, Thm 1], quoted from memory, at eta = F/(L sqrt(2 (s+1) P)) (in `details`).
    """
    lipschitz, distance, workers, slack, count = _checked(L, F, P, s, T)
    factor = 2 * (slack + 1) * workers
    value = 4 * distance * lipschitz * np.sqrt(factor * count)
    eta = distance / (lipschitz * np.sqrt(factor))
    return _at_step(
        value,
        eta,
        lipschitz,
        distance,
        most_disagreements(workers, slack, False),
        count,
        "[Ho et al. 2013, Thm 1]",
    )


def _at_step(
    value: FloatArray,
    eta: FloatArray,
    L: FloatArray,
    F: FloatArray,
    most: FloatArray,
    count: FloatArray,
    source: str,
) -> Bound:
    """A bound at a chosen step; what is known without it is R <= L T sqrt(2) F + eta L^2 N_max h_T."""
    known = np.sqrt(2) * L * F * count + eta * L**2 * most * _harmonic(count)[0]
    assumed = (*_ASSUMED, "eta_t = eta/sqrt(t) with the eta in details")
    return Bound(unwrap(value), assumed, source, unwrap(known), {"eta": unwrap(eta)})


def _checked(
    L: ArrayLike, F: ArrayLike, P: ArrayLike, s: ArrayLike, T: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    arrays = positive("L", L), positive("F", F), whole("P", P, 1), whole("s", s, 0), whole("T", T, 1)
    sweep(**dict(zip(("L", "F", "P", "s", "T"), arrays, strict=True)))
    return arrays

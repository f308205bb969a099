"""Lemma 4: gamma_t <= P(2s+1), and the size of the mean update ubar_t of a window.

Window W_t = {t' : |clock(t') - clock(t)| <= s}, cut to 1..T, clock(t) = floor((t-1)/P) + 1.
ubar_t = (1/(P(2s+1))) sum of |u_t'| over W_t.

As printed: ubar_t <= eta L / sqrt(t). This is false pointwise: W_t holds earlier, larger steps.
Corrected: ubar_t <= eta L w_t, w_t = (1/(P(2s+1))) sum over W_t of t'^(-1/2); kappa_t = sqrt(t) w_t is at
most 2. sum w_t <= h_T, sum w_t^2 <= H_T and max w_t <= 1 hold all the same, and Theorem 5 uses nothing else:
its constants survive.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from theory._check import FloatArray, one_length, one_whole, positive, unwrap, whole
from theory.bound import OWN, Bound


def lemma4_gamma(P: ArrayLike, s: ArrayLike) -> Bound:
    """Largest possible gamma_t: P(2s+1), the number of updates in a full window.

    Parameters
    ----------
    P, s : whole number or (...)
        Workers, >= 1, and slack in clocks, >= 0.

    Returns
    -------
    Bound
        Dimensionless.

    Raises
    ------
    ValueError
        If P < 1, s < 0 or one of them is no whole number.

    Notes
    -----
    [1410.8043, Lemma 4], by the triangle inequality; the Lipschitz property is not needed.
    """
    top = whole("P", P, 1) * (2 * whole("s", s, 0) + 1)
    unseen = "missing and extra updates of a view lie in the window c-s..c+s"
    return Bound(unwrap(top), (OWN, unseen), "[1410.8043, Lemma 4]")


def lemma4_weights(P: int, s: int, T: int, half_open: bool = False) -> FloatArray:
    """Weights w_t with ubar_t <= eta L w_t, the corrected second half of Lemma 4.

    Parameters
    ----------
    P, s, T : int
        Workers >= 1, slack >= 0, reads, 1 to 1e7 (the last clock may be incomplete).
    half_open : bool
        True: the printed window c-s..c+s-1, for comparison only. It is empty at s = 0 and misses updates of
        clock c + s; the normaliser stays P(2s+1).

    Returns
    -------
    (T,) float64
        Dimensionless; w[t-1] belongs to t.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    count = one_length("T", T)
    roots = np.arange(1, count + 1, dtype=np.float64) ** -0.5
    return window_means(roots, one_whole("P", P, 1), one_whole("s", s, 0), half_open)


def lemma4_ubar(eta: ArrayLike, L: ArrayLike, P: int, s: int, T: int) -> Bound:
    """ubar_t <= eta L w_t for t = 1..T, corrected; `details["printed"]` is the false eta L / sqrt(t).

    Parameters
    ----------
    eta, L : float
        Base step and Lipschitz constant, > 0.
    P, s, T : int
        As in `lemma4_weights`.

    Returns
    -------
    Bound
        Value (T,), parameter units; `details["kappa"]` = sqrt(t) w_t is above 1 where the printed bound
        fails.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    weights = lemma4_weights(P, s, T)
    scale = positive("eta", eta) * positive("L", L)
    root = np.sqrt(np.arange(1, weights.size + 1, dtype=np.float64))
    details = {"printed": scale / root, "kappa": root * weights}
    assumed = ("|g_t| <= L", "eta_t = eta/sqrt(t), t clock-major")
    return Bound(scale * weights, assumed, "[1410.8043, Lemma 4] corrected", None, details)


def window_means(values: FloatArray, P: int, s: int, half_open: bool = False) -> FloatArray:
    """Sum of values (..., T) over the window of each t, divided by P(2s+1); shape (..., T).

    Sums are taken over clocks and windows directly: differences of running sums would lose the digits of
    small, late updates.
    """
    count = values.shape[-1]
    normaliser = P * (2 * s + 1)
    P = min(P, count)  # a first clock that is incomplete has no other after it
    clocks = -(-count // P)
    reach = min(s, clocks)
    spare = [(0, 0)] * (values.ndim - 1)
    per_clock = (
        np.pad(values, [*spare, (0, clocks * P - count)]).reshape(*values.shape[:-1], clocks, P).sum(-1)
    )
    padded = np.pad(per_clock, [*spare, (reach, reach)])
    if half_open:
        padded = padded[..., : clocks + 2 * reach - 1] if reach else np.zeros_like(padded)
    width = 2 * reach + (0 if half_open and reach else 1)
    sums = sliding_window_view(padded, width, axis=-1).sum(axis=-1)
    return np.asarray(np.repeat(sums, P, axis=-1)[..., :count] / normaliser)

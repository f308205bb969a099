"""Iid-delay model of SGD on a quadratic: exact mean, variance and stability from a measured law of delays.

    x_{t+1} = x_t - eta_t (h x_{t - tau_t} + z_t),  tau_t iid with law p_0..p_K,  z_t iid with variance sig2

per eigenmode h, x_t = x_0 for t < 0. With the state y = (x_t, ..., x_{t-K}), A_k the shift whose first row is
e_0 - eta h e_k:

    m <- sum p_k A_k m
    S <- sum p_k A_k S A_k' + (eta h)^2 Var_p(m_k) e_0 e_0' + eta^2 sig2 e_0 e_0'      (S the covariance)

An approximation of real runs: their views do not have iid delays of ONE iterate (7 to 13% off in stationary
variance). The exact recursion for a recorded schedule is `theory.linear_recursion`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory._check import FloatArray, Values, law, non_negative, numbers, positive, sweep, unwrap

_GRID = 128


def delay_moments(
    h: ArrayLike, eta_seq: ArrayLike, probs: ArrayLike, noise_var: ArrayLike, x0: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of x_0..x_T.

    Parameters
    ----------
    h : float or (m,)
        Curvatures (eigenmodes), finite.
    eta_seq : (T,)
        Steps, > 0.
    probs : (K+1,)
        Law of the delay in steps, p_0..p_K, adding up to 1.
    noise_var : float or (m,)
        Variance of z_t, >= 0.
    x0 : float or (m,)
        Start, relative to the minimiser.

    Returns
    -------
    mean, var : (T+1,) or (T+1, m) float64
        Index t belongs to x_t, index 0 to the start.

    Raises
    ------
    ValueError
        On values outside these ranges, wrong shapes, or modes that do not broadcast.
    """
    curvature, noise, start = numbers("h", h), non_negative("noise_var", noise_var), numbers("x0", x0)
    step = positive("eta_seq", eta_seq)
    if step.ndim != 1:
        raise ValueError(f"eta_seq: got shape {step.shape}, but must be (T,)")
    modes = sweep(h=curvature, noise_var=noise, x0=start)
    p = law("probs", probs)
    curvature, noise, start = (np.broadcast_to(a, modes).ravel() for a in (curvature, noise, start))
    mean = np.repeat(start[:, None], p.size, axis=1)
    cov = np.zeros((start.size, p.size, p.size))
    means, variances = [start], [np.zeros_like(start)]
    for eta in step:
        a = eta * curvature
        delayed = mean @ p
        mixed = p @ cov  # (modes, K+1): covariance of the delayed value with each lag
        new_mean = mean[:, 0] - a * delayed
        across = cov[:, 0, :] - a[:, None] * mixed
        spread = np.einsum("k,mkk->m", p, cov) + ((mean - delayed[:, None]) ** 2) @ p
        new_var = cov[:, 0, 0] - 2 * a * mixed[:, 0] + a**2 * spread + eta**2 * noise
        cov[:, 1:, 1:] = cov[:, :-1, :-1].copy()
        cov[:, 0, 1:] = cov[:, 1:, 0] = across[:, :-1]
        cov[:, 0, 0] = new_var
        mean = np.concatenate([new_mean[:, None], mean[:, :-1]], axis=1)
        means.append(new_mean)
        variances.append(new_var)
    shape = (step.size + 1, *modes)
    return np.array(means).reshape(shape), np.array(variances).reshape(shape)


def largest_stable_step(h: ArrayLike, probs: ArrayLike) -> Values:
    """Largest constant step below which the variance of the delay model stays bounded.

    Parameters
    ----------
    h : float or (m,)
        Curvatures, > 0; the largest one decides.
    probs : (K+1,)
        Law of the delay in steps.

    Returns
    -------
    float
        sup of the interval (0, eta) of steps with spectral radius of sum p_k A_k x A_k below 1: 2/h without
        delay, 1/h for delay 1, (2/h) sin(pi/(2(2k+1))) for a fixed delay k.

    Raises
    ------
    ValueError
        If h <= 0 or probs is no law.

    Notes
    -----
    sum p_k A_k x A_k is Abar x Abar plus a term of rank one, so its radius is below 1 iff the mean is stable
    and (eta h)^2 (r_0 - sum p_i p_j r_{i-j}) < 1, r the autocovariance of the mean recursion driven by unit
    noise. Both come from the Schur-Cohn (step-down) recursion in O(K^2), where the (K+1)^2 matrix would take
    O(K^6).
    """
    top = float(positive("h", h).max())
    p = law("probs", probs)
    low, high = 0.0, 2.0
    for _ in range(8):  # every pass narrows the first loss of stability by the size of the grid
        grid = np.linspace(low, high, _GRID + 1)[1:]
        unstable = np.flatnonzero(~_stable(grid, p))
        first = int(unstable[0]) if unstable.size else grid.size - 1
        low, high = (float(grid[first - 1]) if first else low), float(grid[first])
    return unwrap(np.asarray(high / top))


def _stable(a: FloatArray, p: FloatArray) -> NDArray[np.bool_]:
    """Is the variance bounded at a = eta h?  (n,) -> (n,) bool."""
    order = p.size
    coefficients = np.zeros((a.size, order + 1))
    coefficients[:, 0] = 1
    coefficients[:, 1] -= 1
    coefficients[:, 1:] += a[:, None] * p
    predictors = [coefficients]
    stable = np.ones(a.size, dtype=np.bool_)
    noise = np.ones(a.size)
    for m in range(order, 0, -1):
        reflection = coefficients[:, m]
        stable &= np.abs(reflection) < 1
        reflection = np.where(stable, reflection, 0.0)
        rest = 1 - reflection**2
        noise = noise / rest
        coefficients = (coefficients[:, :m] - reflection[:, None] * coefficients[:, m:0:-1]) / rest[:, None]
        predictors.append(coefficients)
    r = np.zeros((a.size, order))
    r[:, 0] = noise
    for m in range(1, order):
        r[:, m] = -np.sum(predictors[order - m][:, 1:] * r[:, m - 1 :: -1][:, :m], axis=1)
    lags = np.abs(np.subtract.outer(np.arange(order), np.arange(order)))
    excess = r[:, 0] - np.einsum("i,nij,j->n", p, r[:, lags], p)
    return np.asarray(stable & (a**2 * excess < 1))

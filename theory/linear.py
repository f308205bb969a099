"""Exact mean and covariance of SGD on a quadratic, given the recorded schedule of a run.

Problem: g_t = H (x~_t - x*) + zeta_t, zeta_t iid with covariance Sigma, u_t = -eta_t g_t, x~_t = x_0 + sum of
the updates the view holds. Given the schedule, every view is a linear function of x_0 and of the noises: no
assumption on gamma at all.

Form A (`theory._linear_matrix`): any visibility matrix. Form B (`theory._linear_ring`): prefix views, faster.
Both work in the eigenbasis of H; they agree to rounding. Schedule and noise must come from separate seeds for
the test against an ensemble.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theory import _linear_matrix, _linear_ring
from theory._check import FloatArray, numbers, steps
from theory.staleness import visibility


@dataclass(frozen=True, slots=True)
class LinearMoments:
    """Result of `linear_recursion`; unpacks into mean, cov, cov_x_view, cov_x_noise.

    Attributes
    ----------
    mean : (T+1, d) float64
        E x_1 .. E x_{T+1} (clock-major references, the last one after all updates).
    cov : (T+1, d, d) float64
        Cov(x_t).
    cov_x_view : (T, d, d) float64
        Cov(x_t, x~_t); rows belong to x_t.
    cov_x_noise : (T, d, d) float64
        Cov(x_t, zeta_t): not 0 where a later read that x_t contains saw update t.
    cov_view : (T, d, d) float64
        Cov(x~_t).
    mean_view : (T, d) float64
        E x~_t.
    """

    mean: FloatArray
    cov: FloatArray
    cov_x_view: FloatArray
    cov_x_noise: FloatArray
    cov_view: FloatArray
    mean_view: FloatArray

    def __iter__(self) -> Iterator[FloatArray]:
        return iter((self.mean, self.cov, self.cov_x_view, self.cov_x_noise))


def linear_recursion(
    included: ArrayLike | tuple[ArrayLike, ArrayLike],
    eta_t: ArrayLike,
    hessian: ArrayLike,
    noise_cov: ArrayLike,
    x0: ArrayLike,
    x_star: ArrayLike,
    x0_cov: ArrayLike | None = None,
) -> LinearMoments:
    """Moments of x_t for a quadratic under a recorded schedule.

    Parameters
    ----------
    included : (T, T) bool, or the pair (vc, order)
        included[t, t']: the view of read t holds update t' (form A). Or prefix views (form B): vc (C, P, P),
        clocks of worker q in the view of worker p in clock c with vc[c, p, p] = c (counted from 0), and order
        (T,), the clock-major indices 0..T-1 of the reads in the order of their starts.
    eta_t : (T,)
        Steps, > 0, clock-major.
    hessian : (d, d) or (d,)
        Symmetric Hessian, or the diagonal of one; a number for d = 1.
    noise_cov : (d, d) or (d,)
        Covariance of zeta_t, or its diagonal; a number for d = 1.
    x0, x_star : (d,)
        Start, or its mean, and minimiser.
    x0_cov : (d, d) or (d,), optional
        Covariance of a random start that is independent of the noise, or its diagonal.

    Returns
    -------
    LinearMoments

    Raises
    ------
    ValueError
        On wrong shapes, a matrix that is not symmetric, a covariance with a negative eigenvalue, or a
        schedule in which a view holds its own update, one that starts later, or lacks an own one.
    """
    step = steps("eta_t", eta_t)
    start = np.atleast_1d(numbers("x0", x0))
    star = np.atleast_1d(numbers("x_star", x_star))
    if start.ndim != 1 or star.shape != start.shape:
        raise ValueError(f"x0, x_star: got shapes {start.shape} and {star.shape}, but both must be (d,)")
    modes, basis = np.linalg.eigh(_symmetric("hessian", hessian, start.size))
    noise = basis.T @ _covariance("noise_cov", noise_cov, start.size) @ basis
    if isinstance(included, tuple):
        vc, order = included
        found = _linear_ring.moments(vc, order, step, modes, noise)
    else:
        found = _linear_matrix.moments(visibility(included, step.size), step, modes, noise)
    of_x, of_view, cov, cov_x_view, cov_x_noise, cov_view = found
    if x0_cov is not None:
        spread = basis.T @ _covariance("x0_cov", x0_cov, start.size) @ basis
        cov += spread * of_x[:, :, None] * of_x[:, None, :]
        cov_x_view += spread * of_x[:-1, :, None] * of_view[:, None, :]
        cov_view += spread * of_view[:, :, None] * of_view[:, None, :]
    offset = basis.T @ (start - star)
    return LinearMoments(
        mean=star + (offset * of_x) @ basis.T,
        cov=basis @ cov @ basis.T,
        cov_x_view=basis @ cov_x_view @ basis.T,
        cov_x_noise=basis @ cov_x_noise @ basis.T,
        cov_view=basis @ cov_view @ basis.T,
        mean_view=star + (offset * of_view) @ basis.T,
    )


def linear_terms(
    moments: LinearMoments, eta_t: ArrayLike, hessian: ArrayLike, noise_cov: ArrayLike
) -> dict[str, FloatArray]:
    """The exact terms of Theorem 6 for every step, keys as `theory.thm6_terms`.

    With xx = Cov(x_t), xd = Cov(x_t, delta_t), dd = Cov(delta_t), xz and dz the covariances with the own
    noise, per mode h:

        drift = -2 eta (h xx + xz)      fresh_noise = eta^2 (h^2 xx + 2 h xz + sig2)
        stale1 = -2 eta h xd            stale2 = 2 eta^2 (h^2 xd + h dz)               stale3 = eta^2 h^2 dd

    Parameters
    ----------
    moments : LinearMoments
        Result of `linear_recursion`.
    eta_t, hessian, noise_cov
        As given to it.

    Returns
    -------
    dict
        `ref:*` (T,), and `view:*` (T-1,) as the last read has no next view; squared parameter units.

    Raises
    ------
    ValueError
        On wrong shapes.
    """
    dim = moments.mean.shape[1]
    eta = steps("eta_t", eta_t, moments.cov_view.shape[0])
    H, sigma = _symmetric("hessian", hessian, dim), _symmetric("noise_cov", noise_cov, dim)
    xx, xv, xz = moments.cov[:-1], moments.cov_x_view, moments.cov_x_noise
    xd = xv - xx
    dd = moments.cov_view - xv - np.swapaxes(xv, 1, 2) + xx
    dz = -xz  # a view holds neither its own noise nor anything later
    trace_xd, trace_dd = np.trace(xd, axis1=1, axis2=2), np.trace(dd, axis1=1, axis2=2)

    def weighted(matrix: FloatArray, covariance: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ij,tji->t", matrix, covariance))

    return {
        "ref:drift": -2 * eta * (weighted(H, xx) + np.trace(xz, axis1=1, axis2=2)),
        "ref:fresh_noise": eta**2 * (weighted(H @ H, xx) + 2 * weighted(H, xz) + np.trace(sigma)),
        "ref:stale1": -2 * eta * weighted(H, xd),
        "ref:stale2": 2 * eta**2 * (weighted(H @ H, xd) + weighted(H, dz)),
        "ref:stale3": eta**2 * weighted(H @ H, dd),
        "view:cross": 2 * np.diff(trace_xd),
        "view:vardelta": np.diff(trace_dd),
    }


def _symmetric(name: str, value: ArrayLike, dim: int) -> FloatArray:
    array = np.atleast_1d(numbers(name, value))
    matrix = np.diag(array) if array.ndim == 1 else array
    if matrix.shape != (dim, dim):
        raise ValueError(f"{name}: got shape {array.shape}, but must be ({dim}, {dim}) or ({dim},)")
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0):
        raise ValueError(f"{name}: got a matrix with {name}[i, j] != {name}[j, i], but must be symmetric")
    return (matrix + matrix.T) / 2


def _covariance(name: str, value: ArrayLike, dim: int) -> FloatArray:
    matrix = _symmetric(name, value, dim)
    smallest = float(np.linalg.eigvalsh(matrix).min())
    if smallest < -1e-12 * float(np.abs(matrix).max()):
        raise ValueError(f"{name}: got the eigenvalue {smallest:g}, but a covariance has none below 0")
    return matrix

"""Theorem 6 under A1 and A2: its terms predicted from the measured moments of gamma.

With gbar = E gamma and K = ubar_t H_t (H stays inside the moment: it correlates with ubar when random), r_t =
K gamma_t, and gamma_t independent of everything else:

    stale1 = -2 eta sum_ij Cov(x_i, K_ij) gbar_j
    stale2 = 2 eta^2 sum_ij Cov(h_i, K_ij) gbar_j
    stale3 = eta^2 { tr(E[K'K] (Cov gamma + gbar gbar')) - |E[K] gbar|^2 }
    Var(delta) = E[ubar^2] tr Cov gamma + Var(ubar) |gbar|^2;  view:vardelta is its change
    view:cross = 2 gbar . (Cov(x_{t+1}, ubar_{t+1}) - Cov(x_t, ubar_t))

drift and fresh noise do not depend on gamma. On runs A2 fails (x_t contains the missing updates): Var(delta)
comes out within some 10%, stale1 and cov(x, delta) 10^2 to 10^5 times too small; `thm6_defect` is the
difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, Values, numbers, positive, shape
from theory.moments import Moments
from theory.thm6 import REFERENCE, VIEW, covariance


@dataclass(frozen=True, slots=True)
class Thm6Samples:
    """One step of an ensemble: N seeds, d dimensions.

    Attributes
    ----------
    x, x_next, h : (N, d)
        References and the fresh gradient at x.
    hessian : (N, d, d) or (d, d)
        H_t with grad f_t(x~) - grad f_t(x) = H_t delta.
    ubar, ubar_next : (N,)
        Mean updates of the windows.
    """

    x: ArrayLike
    x_next: ArrayLike
    h: ArrayLike
    hessian: ArrayLike
    ubar: ArrayLike
    ubar_next: ArrayLike


@dataclass(frozen=True, slots=True)
class Thm6SampleMoments:
    """The moments of `Thm6Samples` that the prediction needs (1/N throughout).

    Attributes
    ----------
    cov_x_h, var_h : float
    cov_xk, cov_hk : (d,) float64
        sum_i Cov(x_i, K_ij) and sum_i Cov(h_i, K_ij), K = ubar H.
    mean_k, mean_kk : (d, d) float64
        E[K] and E[K'K].
    cov_x_ubar, cov_x_ubar_next : (d,) float64
        Cov(x_t, ubar_t) and Cov(x_{t+1}, ubar_{t+1}).
    ubar, ubar_next : (float, float)
        E[ubar^2] and Var(ubar) at t and t + 1.
    """

    cov_x_h: float
    var_h: float
    cov_xk: FloatArray
    cov_hk: FloatArray
    mean_k: FloatArray
    mean_kk: FloatArray
    cov_x_ubar: FloatArray
    cov_x_ubar_next: FloatArray
    ubar: tuple[float, float]
    ubar_next: tuple[float, float]


def thm6_sample_moments(samples: Thm6Samples) -> Thm6SampleMoments:
    """Moments of an ensemble.

    Raises
    ------
    ValueError
        On wrong shapes or values that are not finite.
    """
    x = numbers("x", samples.x)
    if x.ndim != 2:
        raise ValueError(f"x: got shape {x.shape}, but must be (N, d)")
    seeds, dim = x.shape
    after, fresh = (
        shape("x_next", numbers("x_next", samples.x_next), (seeds, dim)),
        shape("h", numbers("h", samples.h), (seeds, dim)),
    )
    means = shape("ubar", numbers("ubar", samples.ubar), (seeds,))
    means_next = shape("ubar_next", numbers("ubar_next", samples.ubar_next), (seeds,))
    hessian = shape("hessian", numbers("hessian", samples.hessian), (dim, dim))
    K = np.broadcast_to(means[:, None, None] * hessian, (seeds, dim, dim))
    spread = K - K.mean(axis=0)
    return Thm6SampleMoments(
        cov_x_h=float(covariance(x, fresh)),
        var_h=float(covariance(fresh, fresh)),
        cov_xk=np.einsum("ni,nij->j", x - x.mean(axis=0), spread) / seeds,
        cov_hk=np.einsum("ni,nij->j", fresh - fresh.mean(axis=0), spread) / seeds,
        mean_k=K.mean(axis=0),
        mean_kk=np.einsum("nki,nkj->ij", K, K) / seeds,
        cov_x_ubar=(x - x.mean(axis=0)).T @ (means - means.mean()) / seeds,
        cov_x_ubar_next=(after - after.mean(axis=0)).T @ (means_next - means_next.mean()) / seeds,
        ubar=(float(np.mean(means**2)), float(means.var())),
        ubar_next=(float(np.mean(means_next**2)), float(means_next.var())),
    )


def thm6_from_moments(
    moments: Moments, samples: Thm6Samples | Thm6SampleMoments, eta: float
) -> dict[str, float]:
    """What A1 and A2 predict for the terms of Theorem 6.

    Parameters
    ----------
    moments : Moments
        Of the vector gamma: mu (d,) and var (d, d), see `theory.vector_moments`.
    samples : Thm6Samples or Thm6SampleMoments
        The ensemble, or its moments.
    eta : float
        Step, > 0.

    Returns
    -------
    dict
        The seven keys of `thm6_terms`, squared parameter units.

    Raises
    ------
    ValueError
        On wrong shapes or eta <= 0.
    """
    m = thm6_sample_moments(samples) if isinstance(samples, Thm6Samples) else samples
    dim = m.cov_xk.size
    mean = np.atleast_1d(numbers("moments.mu", moments.mu))
    spread = np.atleast_2d(numbers("moments.var", moments.var))
    if mean.shape != (dim,) or spread.shape != (dim, dim):
        raise ValueError(
            f"moments: got mu {mean.shape} and var {spread.shape}, but must be ({dim},) and ({dim}, {dim})"
        )
    step = float(positive("eta", eta))
    second = spread + np.outer(mean, mean)
    size, trace = float(mean @ mean), float(np.trace(spread))

    def var_delta(ubar: tuple[float, float]) -> float:
        return ubar[0] * trace + ubar[1] * size

    return {
        "ref:drift": -2 * step * m.cov_x_h,
        "ref:fresh_noise": step**2 * m.var_h,
        "ref:stale1": -2 * step * float(m.cov_xk @ mean),
        "ref:stale2": 2 * step**2 * float(m.cov_hk @ mean),
        "ref:stale3": step**2 * (float(np.sum(m.mean_kk * second)) - float(np.sum((m.mean_k @ mean) ** 2))),
        "view:cross": 2 * float(mean @ (m.cov_x_ubar_next - m.cov_x_ubar)),
        "view:vardelta": var_delta(m.ubar_next) - var_delta(m.ubar),
    }


def thm6_defect(measured: Mapping[str, Values], predicted: Mapping[str, Values]) -> dict[str, Values]:
    """Measured minus predicted, term by term: what the failure of A2 costs.

    Parameters
    ----------
    measured, predicted : mapping
        Results of `thm6_terms` and `thm6_from_moments`.

    Returns
    -------
    dict
        The seven keys.
    """
    return {name: measured[name] - predicted[name] for name in (*REFERENCE, *VIEW)}

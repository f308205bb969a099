"""Theorem 6 on runs: what every run adds to a term, what A1 and A2 predict of it, and what it is exactly.

Ensembles of N runs of one length, read t clock-major. The arithmetic of the theorem is that of `theory`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import theory
from theory.thm6 import REFERENCE, VIEW

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TERMS = (*REFERENCE, *VIEW)
"""Names of the terms, in the order of all arrays (7, ...) here."""


CHECKPOINTS = 20


def checkpoints(steps: int) -> Ints:
    """Indices of 20 fixed steps of a run, evenly spaced from the second clock on; workers take turns."""
    return np.linspace(7, steps - 3, CHECKPOINTS).astype(np.int64)


def late(steps: int) -> slice:
    """The second half of a run."""
    return slice(steps // 2, steps)


def root_mean_square(curve: Floats) -> float:
    """Of a term that may change its sign."""
    return float(np.sqrt((curve**2).mean()))


class Sampled(NamedTuple):
    """An unbiased estimate from N runs, with its standard error; equal shapes."""

    value: Floats
    error: Floats


def sampled_terms(
    x: Floats, x_next: Floats, g: Floats, h: Floats, delta: Floats, delta_next: Floats, eta: Floats
) -> Sampled:
    """The terms of Theorem 6 with standard errors, (7, T), from the spread of `term_products` over runs.

    `theory.thm6_terms` has the same values with 1/N where this has 1/(N - 1).
    """
    return estimated(term_products(x, x_next, g, h, delta, delta_next, eta))


def term_products(
    x: Floats, x_next: Floats, g: Floats, h: Floats, delta: Floats, delta_next: Floats, eta: Floats
) -> Floats:
    """What every run adds to the terms of Theorem 6, (7, T, N).

    Every term is a sum of covariances, so a mean over runs of products of deviations.

    Parameters
    ----------
    x, x_next, g, h, delta, delta_next : (T, N, d) float64
        As in `theory.thm6_terms`; N >= 2.
    eta : (T,) float64
    """
    x, x_next, g, h, delta, delta_next = (
        a - a.mean(axis=1, keepdims=True) for a in (x, x_next, g, h, delta, delta_next)
    )
    rest, step = g - h, eta[:, None]

    def products(a: Floats, b: Floats) -> Floats:
        return np.asarray(np.einsum("tnd,tnd->tn", a, b))

    return np.stack(
        [
            -2 * step * products(x, h),
            step**2 * products(h, h),
            -2 * step * products(x, rest),
            2 * step**2 * products(h, rest),
            step**2 * products(rest, rest),
            2 * (products(x_next, delta_next) - products(x, delta)),
            products(delta_next, delta_next) - products(delta, delta),
        ]
    )


def estimated(products: Floats) -> Sampled:
    """Mean over the runs of products of deviations, (..., N) to (...)."""
    runs = products.shape[-1]
    return Sampled(products.mean(axis=-1) * runs / (runs - 1), products.std(axis=-1, ddof=1) / np.sqrt(runs))


class Predicted(NamedTuple):
    """What A1 and A2 make of measured moments of gamma: terms (7, T - 1), Var(delta) (T,)."""

    terms: Floats
    var_delta: Floats


def predicted_terms(
    x: Floats, h: Floats, ubar: Floats, vectors: Floats, eta: Floats, hessian: Floats, pooled: bool
) -> Predicted:
    """The terms of Theorem 6 from the measured moments of gamma.

    Parameters
    ----------
    x, h, vectors : (N, T, d) float64
        References, fresh gradients, vectors gamma_t.
    ubar : (N, T) float64
        Mean updates of the windows.
    eta : (T,) float64
    hessian : (d, d) float64
    pooled : bool
        Moments over runs and reads together, as A1 says that all gamma_t have one law; else those of the read
        at hand over the runs, which leaves the independence alone (A2).
    """
    common = theory.vector_moments(vectors) if pooled else None
    reads = vectors.shape[1]
    terms, var_delta = np.empty((len(TERMS), reads - 1)), np.empty(reads)
    for t in range(reads):
        moments = common or theory.vector_moments(vectors[:, t])
        mean, spread = np.asarray(moments.mu), np.asarray(moments.var)
        var_delta[t] = (ubar[:, t] ** 2).mean() * np.trace(spread) + ubar[:, t].var() * (mean @ mean)
        if t + 1 < reads:
            samples = theory.Thm6Samples(x[:, t], x[:, t + 1], h[:, t], hessian, ubar[:, t], ubar[:, t + 1])
            found = theory.thm6_from_moments(moments, samples, float(eta[t]))
            terms[:, t] = [found[name] for name in TERMS]
    return Predicted(terms, var_delta)


class AtStep(NamedTuple):
    """Exact values for one constant step: terms (7, T - 1), and Var(x_t) (T,)."""

    terms: Floats
    var: Floats


def terms_at_steps(
    included: Ints,
    order: Ints,
    steps: Sequence[float],
    curvature: Floats,
    noise_var: float,
    start_var: float,
) -> list[AtStep]:
    """Exact terms on a quadratic for several constant steps on one recorded schedule, each as `AtStep`.

    A mode of curvature h at the step eta is one of curvature eta h at the step 1 whose noise is eta times as
    large; so all modes at all steps are one recursion.

    Parameters
    ----------
    included, order
        See `pskit.analysis.gamma.Steps`.
    steps : sequence of float
    curvature : (d,) float64
        Eigenvalues of the Hessian.
    noise_var, start_var : float
        Variances of the gradient noise and of the start in each mode.
    """
    dim, size = len(curvature), np.repeat(steps, len(curvature))
    zero, reads = np.zeros(size.size), len(order)
    found = theory.linear_recursion(
        (included, order),
        np.ones(reads),
        size * np.tile(curvature, len(steps)),
        noise_var * size**2,
        zero,
        zero,
        np.full(size.size, start_var),
    )
    values = []
    for place, step in enumerate(steps):
        at = slice(place * dim, (place + 1) * dim)
        moments = theory.LinearMoments(
            found.mean[:, at],
            found.cov[:, at, at],
            found.cov_x_view[:, at, at],
            found.cov_x_noise[:, at, at] / step,
            found.cov_view[:, at, at],
            found.mean_view[:, at],
        )
        terms = theory.linear_terms(moments, np.full(reads, step), curvature, np.full(dim, noise_var))
        stacked = np.stack([terms[name][: reads - 1] for name in TERMS])
        values.append(AtStep(stacked, np.einsum("tii->t", moments.cov[:-1])))
    return values


def iid_variance(
    delays: Ints, eta: Floats, curvature: Floats, noise_var: float, offset: Floats
) -> tuple[Floats, Floats]:
    """Var(x_t) if every gradient were taken at one older iterate, with iid delays of the measured law.

    Parameters
    ----------
    delays : (T,) int64
        Updates that had started before each read and that its view lacks: `Steps.read_start`.
    eta : (T,) float64
    curvature, offset : (d,) float64
        Eigenvalues of the Hessian; start minus minimiser.
    noise_var : float

    Returns
    -------
    var : (T + 1,) float64
    law : (K + 1,) float64
        Of the delays.
    """
    law = np.bincount(delays) / len(delays)
    _, var = theory.delay_moments(curvature, eta, law, noise_var, offset)
    return var.sum(axis=1), law

"""`Moments`: the mean and variance of a measured gamma, with honest confidence intervals.

Reads of one run depend on each other, so the interval for the mean is a t-interval over RUN means, valid
under any dependence within a run; sqrt(var/(N T)) is 1.3 to 2.2 times too narrow. A single run is cut into
about sqrt(T) batches that take the place of runs. The variance is the law of total variance, within runs plus
between runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, Values, fraction, non_negative, numbers, one_whole, require
from theory.lemma4 import lemma4_weights

_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Moments:
    """What a measured gamma becomes.

    Attributes
    ----------
    mu, var : float, or (d,) and (d, d) float64 for the vector gamma of Theorem 6
        Pooled mean (for display) and total variance (covariance).
    mu_weighted : float or (d,) float64
        sum w_t mu_t / sum w_t with the weights of Lemma 4: the mean to put into a bound. Equals `mu` for
        vectors.
    ci_mu, ci_var : (lower, upper)
        Confidence intervals; for vectors the trivial ones.
    n_runs, n_reads : int
        Runs N and reads T per run.
    within, between : float
        The two parts of `var`: mean over runs of the variance in a run, variance of the run means.
    """

    mu: Values
    var: Values
    mu_weighted: Values
    ci_mu: tuple[float, float]
    ci_var: tuple[float, float]
    n_runs: int
    n_reads: int
    within: float = np.nan
    between: float = np.nan


def gamma_moments(gamma: ArrayLike, P: int, s: int, delta: float = 0.05, seed: int = 0) -> Moments:
    """Moments of the scalar gamma_t over runs.

    Parameters
    ----------
    gamma : (N, T) or (T,)
        One row per run (seed), clock-major, in [0, P(2s+1)].
    P, s : int
        Workers >= 1 and slack >= 0: the weights w_t and the range.
    delta : float
        1 - delta is the confidence of each interval; > 0 and < 1.
    seed : int
        Seed of the bootstrap over runs that gives `ci_var`; >= 0.

    Returns
    -------
    Moments
        The intervals are the trivial ones, [0, P(2s+1)] and its variance, where there are fewer than two
        batches.

    Raises
    ------
    ValueError
        If gamma is out of range, its seeds have unequal lengths, or another argument is out of range.
    """
    table = non_negative("gamma", gamma)
    if table.ndim not in (1, 2):
        raise ValueError(f"gamma: got shape {table.shape}, but must be (N, T) or (T,)")
    table = np.atleast_2d(table)
    workers, slack = one_whole("P", P, 1), one_whole("s", s, 0)
    level, start = float(fraction("delta", delta)), one_whole("seed", seed, 0)
    top = float(workers * (2 * slack + 1))
    require("gamma", table, table <= top * (1 + 1e-12), "<= P(2s+1) (Lemma 4)")
    runs, reads = table.shape
    groups = table if runs > 1 else _batches(table[0])
    weights = lemma4_weights(workers, slack, reads)
    means, variances = groups.mean(axis=1), groups.var(axis=1)
    ci_mu, ci_var = (0.0, top), (0.0, top**2 / 4)
    if means.size > 1:
        ci_mu = _t_interval(means, level)
        pick = np.random.default_rng(start).integers(0, means.size, (_RESAMPLES, means.size))
        resampled = variances[pick].mean(axis=1) + means[pick].var(axis=1)
        low, high = np.quantile(resampled, [level / 2, 1 - level / 2])
        ci_var = (float(low), float(high))
    return Moments(
        mu=float(table.mean()),
        var=float(table.var()),
        mu_weighted=float(table.mean(axis=0) @ weights / weights.sum()),
        ci_mu=ci_mu,
        ci_var=ci_var,
        n_runs=runs,
        n_reads=reads,
        within=float(table.var(axis=1).mean()),
        between=float(table.mean(axis=1).var()),
    )


def vector_moments(gamma_vec: ArrayLike) -> Moments:
    """Moments of the vector gamma of Theorem 6: mean (d,) and covariance (d, d), both with 1/N.

    Parameters
    ----------
    gamma_vec : (..., d)
        Vectors (`theory.gamma_vectors`); all leading axes are pooled, (N, d) for one t over N runs.

    Returns
    -------
    Moments

    Raises
    ------
    ValueError
        If there is no vector axis or a value is not finite.
    """
    vectors = numbers("gamma_vec", gamma_vec)
    if vectors.ndim < 2:
        raise ValueError(f"gamma_vec: got shape {vectors.shape}, but must be (..., d) with at least two axes")
    runs = vectors.shape[0]
    flat = vectors.reshape(-1, vectors.shape[-1])
    mean = flat.mean(axis=0)
    centred = flat - mean
    unknown = (-np.inf, np.inf)
    return Moments(
        mean, centred.T @ centred / len(flat), mean, unknown, (0.0, np.inf), runs, len(flat) // runs
    )


def _batches(run: FloatArray) -> FloatArray:
    """The run cut into about sqrt(T) batches of equal length (the first few reads may be left out)."""
    number = max(1, int(np.sqrt(run.size)))
    length = run.size // number
    return run[run.size - number * length :].reshape(number, length)


def _t_interval(means: FloatArray, level: float) -> tuple[float, float]:
    from scipy.special import stdtrit  # slow to import

    half = float(stdtrit(means.size - 1, 1 - level / 2)) * float(means.std(ddof=1)) / np.sqrt(means.size)
    return float(means.mean() - half), float(means.mean() + half)

"""Confidence bounds over independent runs: the tail and the mean that need no independence within a run.

Seeds give independent runs whatever the dependence inside them, so these hold where Theorem 5 does not (bound
5-run).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, fraction, non_negative, numbers, positive, require, sweep, unwrap, whole
from theory.bound import Bound

_RUNS = "runs are independent and identically distributed (separate seeds)"


def clopper_pearson_upper(k: ArrayLike, n: ArrayLike, delta: ArrayLike) -> Bound:
    """One-sided upper confidence bound on a probability from k hits in n trials.

    Parameters
    ----------
    k, n : whole number or (...)
        Hits, 0 <= k <= n, and trials, >= 1.
    delta : float or (...)
        Allowed error, > 0 and < 1.

    Returns
    -------
    Bound
        Exceeds the true probability with confidence 1 - delta: 1 - delta^(1/n) for k = 0, 1 for k = n, else a
        Beta quantile.

    Raises
    ------
    ValueError
        On values outside these ranges or shapes that do not broadcast.

    Notes
    -----
    [Clopper and Pearson 1934].
    """
    hits, trials, error = whole("k", k, 0), whole("n", n, 1), fraction("delta", delta)
    sweep(k=hits, n=trials, delta=error)
    require("k", hits, hits <= trials, "<= n")
    level = f"holds with confidence 1 - delta, delta = {unwrap(error)}"
    return Bound(unwrap(_upper(hits, trials, error)), (_RUNS, level), "[Clopper and Pearson 1934]", 1.0)


def _upper(hits: FloatArray, trials: FloatArray, error: FloatArray) -> FloatArray:
    from scipy.special import betainccinv  # slow to import

    inside = betainccinv(hits + 1, np.maximum(trials - hits, 1), error)
    inside = np.where(np.isnan(inside), 1.0, inside)  # SciPy's where it is within rounding of 1
    none = -np.expm1(np.log(error) / trials)
    return np.where(hits == trials, 1.0, np.where(hits == 0, none, inside))


def maurer_pontil_upper(z: ArrayLike, z_max: ArrayLike, delta: ArrayLike) -> Bound:
    """One-sided upper confidence bound on a mean, valid for every N.

    m + sqrt(2 S^2 ln(2/delta)/N) + 7 z_max ln(2/delta)/(3 (N-1)), S^2 the sample variance (N - 1).

    Parameters
    ----------
    z : (..., N)
        Independent values, one per run, in [0, z_max]; N >= 2 on the last axis.
    z_max : float
        Upper end of the range, > 0.
    delta : float
        Allowed error, > 0 and < 1.

    Returns
    -------
    Bound
        Exceeds the true mean with confidence 1 - delta; vacuous from z_max on.

    Raises
    ------
    ValueError
        On values outside these ranges or fewer than two runs.

    Notes
    -----
    [Maurer and Pontil 2009, Thm 4].
    """
    values, top, error = non_negative("z", z), positive("z_max", z_max), fraction("delta", delta)
    if values.ndim == 0 or values.shape[-1] < 2:
        raise ValueError(f"z: got shape {values.shape}, but must hold at least 2 runs on its last axis")
    require("z", values, values <= top, f"<= z_max = {float(np.max(top)):g}")
    runs = values.shape[-1]
    log = np.log(2 / error)
    spread = np.sqrt(2 * values.var(axis=-1, ddof=1) * log / runs)
    upper = np.asarray(values.mean(axis=-1) + spread + 7 * top * log / (3 * (runs - 1)))
    level = f"holds with confidence 1 - delta, delta = {unwrap(error)}"
    return Bound(
        unwrap(upper), (_RUNS, "0 <= z <= z_max", level), "[Maurer and Pontil 2009, Thm 4]", unwrap(top)
    )


def run_tail(z: ArrayLike, thresholds: ArrayLike, delta: ArrayLike) -> Bound:
    """5-run (new): P(Z > threshold) for the value Z of a run, valid under any dependence within the run.

    Parameters
    ----------
    z : (N,)
        One value per run: R/T itself, the certificate C0/T, or (A + F^2/eta_T + L sum b_t)/T.
    thresholds : float or (m,)
        Levels, fixed before the runs were seen.
    delta : float
        Allowed error at each threshold, > 0 and < 1.

    Returns
    -------
    Bound
        Clopper-Pearson upper ends; `details`: `exceedances`, `runs`, `level` = 1 - delta.

    Raises
    ------
    ValueError
        If z is not one-dimensional or a value is out of range.
    """
    values, levels, error = numbers("z", z), numbers("thresholds", thresholds), fraction("delta", delta)
    if values.ndim != 1:
        raise ValueError(f"z: got shape {values.shape}, but must be (N,), one value per run")
    sweep(thresholds=levels, delta=error)
    hits = np.sum(values > levels[..., None], axis=-1).astype(np.float64)
    upper = _upper(hits, np.asarray(float(values.size)), error)
    details = {"exceedances": unwrap(hits), "runs": float(values.size), "level": unwrap(1 - error)}
    assumed = (_RUNS, "thresholds fixed beforehand", "each value holds with confidence details['level']")
    return Bound(
        unwrap(upper), assumed, "new: run-level tail (5-run), [Clopper and Pearson 1934]", 1.0, details
    )

"""Diagnostics of the two assumptions of Theorems 5 and 6.

A1: gamma_1..gamma_T independent, with common mean and variance. Windows overlap and P reads share one, so it
always fails in a run; the numbers here say by how much. The dispersion index (DI) is the factor by which the
variance of the weighted sum in Theorem 5 exceeds what A1 makes of it.
A2: gamma_t independent of x_t and ubar_t. It fails because x_t contains the updates that the view lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, non_negative, numbers, one_whole, positive, shape

_LEVEL = 1e-3


@dataclass(frozen=True, slots=True)
class AssumptionReport:
    """Numbers, and what they say.

    Attributes
    ----------
    acf : dict
        {lag: autocorrelation about the pooled mean} at the lags 1, P, sP, (2s+1)P.
    A1 : dict
        `tau_int`, `T_eff`, `ljung_box` (sum over runs),
        `ljung_box_lags`, `ljung_box_p`; with two runs or more `f_ratio` = T between/within, `f_p`,
        `dispersion_index`, `dispersion_p`.
    A2 : dict or None
        `corr_distance` = corr(gamma_t, |x_t - x*|) and `corr_ubar` = corr(gamma_t, ubar_t), pooled over reads
        and runs, and their t statistics over runs `t_distance`, `t_ubar` (NaN for one run).
    verdict : str
    """

    acf: dict[int, float]
    A1: dict[str, float]
    A2: dict[str, float] | None
    verdict: str


class PairedTest(NamedTuple):
    """Mean gamma of one problem minus that of another, t statistic over schedules, two-sided p-value."""

    difference: float
    t: float
    p: float


def check_assumptions(
    gamma: ArrayLike,
    P: int,
    s: int,
    eta: ArrayLike,
    L: ArrayLike,
    x: ArrayLike | None = None,
    ubar: ArrayLike | None = None,
    x_star: ArrayLike | None = None,
) -> AssumptionReport:
    """Diagnostics of A1 (always) and A2 (when x and ubar are given).

    Parameters
    ----------
    gamma : (N, T) or (T,)
        One row per run (seed).
    P, s : int
        Workers >= 1 and slack >= 0; they set the lags 1, P, sP, (2s+1)P and the 2P(2s+1) (at most T/2) of
        Ljung-Box.
    eta : float or (T,)
        Base step (eta_t = eta/sqrt(t)) or the steps themselves, > 0: weights of the dispersion index.
    L : float
        Lipschitz constant, > 0.
    x : (N, T, d) or (N, T+1, d), optional
        References.
    ubar : (N, T), optional
        Mean updates of the windows.
    x_star : (d,), optional
        Minimiser; the mean of the last references when not given.

    Returns
    -------
    AssumptionReport

    Raises
    ------
    ValueError
        On wrong shapes, seeds of unequal length, or values out of range.
    """
    table = np.atleast_2d(non_negative("gamma", gamma))
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(f"gamma: got shape {table.shape}, but must be (N, T) or (T,) with T >= 2")
    workers, slack = one_whole("P", P, 1), one_whole("s", s, 0)
    step, reads = positive("eta", eta), table.shape[1]
    eta_t = step / np.sqrt(np.arange(1, reads + 1)) if step.ndim == 0 else shape("eta", step, (reads,))
    acf, report, words = _a1(table, workers, slack, eta_t * positive("L", L) ** 2)
    if (x is None) != (ubar is None):
        raise ValueError("x, ubar: got only one of them, but the check of A2 needs both")
    if x is None or ubar is None:
        return AssumptionReport(acf, report, None, f"{words} A2 not tested: x and ubar were not given.")
    second, more = _a2(table, numbers("x", x), numbers("ubar", ubar), x_star)
    return AssumptionReport(acf, report, second, f"{words} {more}")


def same_schedule_test(gamma: ArrayLike, gamma_other: ArrayLike) -> PairedTest:
    """Does the mean gamma change when only the problem changes? Under A2 it must not.

    Parameters
    ----------
    gamma, gamma_other : (N, T)
        Staleness on two problems, row i of both from the same schedule; N >= 2.

    Returns
    -------
    PairedTest

    Raises
    ------
    ValueError
        On unequal or wrong shapes.
    """
    first = numbers("gamma", gamma)
    if first.ndim != 2 or first.shape[0] < 2:
        raise ValueError(f"gamma: got shape {first.shape}, but must be (N, T) with N >= 2")
    second = shape("gamma_other", numbers("gamma_other", gamma_other), first.shape)
    gaps = first.mean(axis=1) - second.mean(axis=1)
    t = _t_statistic(gaps)
    from scipy.special import stdtr  # slow to import

    return PairedTest(float(gaps.mean()), t, float(2 * stdtr(gaps.size - 1, -abs(t))))


def _a1(
    table: FloatArray, workers: int, slack: int, weights: FloatArray
) -> tuple[dict[int, float], dict[str, float], str]:
    from scipy.special import chdtrc, fdtrc  # slow to import

    runs, reads = table.shape
    rho = _autocorrelation(table)
    lags = sorted(
        {lag for lag in (1, workers, slack * workers, (2 * slack + 1) * workers) if 0 < lag < reads}
    )
    acf = {lag: float(rho[lag]) for lag in lags}
    used = min(2 * workers * (2 * slack + 1), max(1, reads // 2))
    k = np.arange(1, used + 1)
    each = _autocorrelations(table)[:, 1 : used + 1]
    box = float(reads * (reads + 2) * np.sum(each**2 / (reads - k)))
    tau = _integrated_time(rho)
    report = {
        "tau_int": tau,
        "T_eff": reads / tau,
        "ljung_box": box,
        "ljung_box_lags": float(used),
        "ljung_box_p": float(chdtrc(runs * used, box)),
    }
    against = []
    if report["ljung_box_p"] < _LEVEL:
        against.append(f"reads of a run are correlated (lag 1: {rho[1]:.2f}, tau_int {tau:.1f})")
    if runs > 1:
        within, between = float(table.var(axis=1, ddof=1).mean()), float(table.mean(axis=1).var(ddof=1))
        ratio = reads * between / within if within > 0 else np.inf if between > 0 else 1.0
        total = float(table.var()) * float(weights @ weights)
        index = float((table @ weights).var(ddof=1)) / total if total > 0 else 1.0
        report |= {
            "f_ratio": ratio,
            "f_p": float(fdtrc(runs - 1, runs * (reads - 1), ratio)) if np.isfinite(ratio) else 0.0,
            "dispersion_index": index,
            "dispersion_p": float(chdtrc(runs - 1, (runs - 1) * index)),
        }
        if report["f_p"] < _LEVEL:
            against.append(f"runs differ from each other (F = {ratio:.3g})")
        if report["dispersion_p"] < _LEVEL:
            against.append(f"the weighted sum varies {index:.3g} times as much as A1 says")
    if against:
        advice = "the iid tail bounds of Theorem 5 do not apply; use run_tail"
        return acf, report, f"A1 fails: {'; '.join(against)}: {advice}."
    return acf, report, f"A1 not rejected at level {_LEVEL:g} by {runs} run(s) of {reads} reads."


def _a2(
    table: FloatArray, x: FloatArray, ubar: FloatArray, x_star: ArrayLike | None
) -> tuple[dict[str, float], str]:
    runs, reads = table.shape
    references = x[None] if x.ndim == 2 else x
    means = shape("ubar", np.atleast_2d(ubar), table.shape)
    if references.ndim != 3 or references.shape[0] != runs or references.shape[1] - reads not in (0, 1):
        raise ValueError(
            f"x: got shape {x.shape}, but must be ({runs}, {reads}, d) or ({runs}, {reads + 1}, d)"
        )
    star = references[:, -1].mean(axis=0) if x_star is None else numbers("x_star", x_star)
    shape("x_star", star, references.shape[-1:])
    distance = np.linalg.norm(references[:, :reads] - star, axis=-1)
    report: dict[str, float] = {}
    against = []
    for name, other, words in (("distance", distance, "|x_t - x*|"), ("ubar", means, "ubar_t")):
        pooled = _correlation(table.ravel(), other.ravel())
        t = _t_statistic(np.array([_correlation(a, b) for a, b in zip(table, other, strict=True)]))
        report |= {f"corr_{name}": pooled, f"t_{name}": t}
        if abs(t) > 4:
            against.append(f"gamma_t correlates with {words} ({pooled:+.2f}, t = {t:+.1f} over {runs} runs)")
    if against:
        return report, f"A2 fails: {'; '.join(against)}."
    return (
        report,
        f"A2 not rejected by {runs} run(s)." if runs > 1 else "A2 not tested: it needs two runs or more.",
    )


def _autocorrelations(table: FloatArray) -> FloatArray:
    """Autocovariances of each run about the POOLED mean, divided by the run's own lag 0 (N, T)."""
    reads = table.shape[1]
    centred = table - table.mean()
    spectrum = np.abs(np.fft.rfft(centred, 2 * reads, axis=1)) ** 2
    covariance = np.fft.irfft(spectrum, axis=1)[:, :reads]
    return np.divide(
        covariance, covariance[:, :1], out=np.zeros_like(covariance), where=covariance[:, :1] > 0
    )


def _autocorrelation(table: FloatArray) -> FloatArray:
    return np.asarray(_autocorrelations(table).mean(axis=0))


def _integrated_time(rho: FloatArray) -> float:
    """tau_int = 1 + 2 sum_{k<=K} rho_k, first K >= 5 tau_int; at least 1 / T_eff = T."""
    tau = 1 + 2 * np.cumsum(rho[1:])
    stop = np.flatnonzero(np.arange(1, rho.size) >= 5 * tau)
    return max(float(tau[stop[0]] if stop.size else tau[-1]), 1.0)


def _correlation(a: FloatArray, b: FloatArray) -> float:
    first, second = a - a.mean(), b - b.mean()
    scale = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / scale if scale > 0 else 0.0


def _t_statistic(values: FloatArray) -> float:
    if values.size < 2:
        return float("nan")
    error = float(values.std(ddof=1)) / np.sqrt(values.size)
    mean = float(values.mean())
    return mean / error if error > 0 else float(np.copysign(np.inf, mean)) if mean else 0.0

"""What Theorem 6 needs of many runs together: the terms of the variance, observed, predicted and exact."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import theory
from pskit.analysis.variance import (
    TERMS,
    estimated,
    iid_variance,
    late,
    predicted_terms,
    term_products,
    terms_at_steps,
)
from pskit.apps import make_app
from pskit.apps.quadratic import QuadraticTerms
from pskit.config import Config
from pskit.convex import ConvexRun, Ensemble, measure
from pskit.running import run

Columns = dict[str, npt.NDArray[Any]]
Floats = npt.NDArray[np.float64]

INTERPOLATING_STEPS = (0.0005, 0.001, 0.002, 0.004)
INTERPOLATING_READS = (20, 60)
FLOOR_STEPS = (0.01, 0.02, 0.05, 0.1, 0.15)
FLOOR_SHARE = 0.75
"""The stationary floor is a mean over the reads from this share of the run on."""
ROUNDING = 1e-12


def variance(configs: Sequence[Config]) -> Columns:
    """An ensemble: the variance of x_t over its N runs, and the terms that it changes by.

    Returns
    -------
    dict
        Per run, (N,): ``final_error`` of x_T rebuilt from the updates, against the final table, and
        ``view_error`` of the views rebuilt from the updates that they contain, against those read; relative.
        Per read, (T,): ``eta``, ``var`` = Var(x_t), ``var_view``, ``var_delta``. Per step, (T - 1,):
        ``closure`` and ``closure_view``, see `theory.thm6_closure`. ``terms`` (7, T - 1), ordered as `TERMS`.
        Of a quadratic also `predictions`, and, where all runs have one schedule, `exact`.
    """
    runs = Ensemble([measure(run(cfg, threads=1), "population") for cfg in configs])
    arrays = runs.variance()
    terms = theory.thm6_terms(**arrays)
    ends = {name: arrays[name] for name in ("x", "x_next", "delta", "delta_next")}
    closure = theory.thm6_closure(**ends, terms=terms)
    x, views = runs.each(lambda one: one.x), runs.each(lambda one: one.views)
    columns: Columns = {
        "final_error": runs.each(lambda one: one.final_error),
        "view_error": runs.each(view_error),
        "eta": runs.first.eta,
        "var": x[:, :-1].var(axis=0).sum(axis=1),
        "var_view": views.var(axis=0).sum(axis=1),
        "var_delta": (views - x[:, :-1]).var(axis=0).sum(axis=1),
        "closure": np.asarray(closure.reference),
        "closure_view": np.asarray(closure.view),
        "terms": np.stack([np.asarray(terms[name]) for name in TERMS]),
    }
    known = make_app(configs[0].app.name).terms(configs[0])
    if not isinstance(known, QuadraticTerms):
        return columns
    columns |= predictions(runs, x, views, known.curvature)
    if len({cfg.run.seed for cfg in configs}) == 1:
        products = term_products(**arrays)
        columns |= exact(runs, x, products, known.curvature, configs[0].app.noise ** 2)
    return columns


def view_error(one: ConvexRun) -> float:
    """Views of a run rebuilt from the updates that the trace says they contain, against those read."""
    rebuilt = one.x[0] + theory.prefix_visibility(one.included) @ one.u
    return float(np.abs(rebuilt - one.views).max() / max(1.0, float(np.abs(one.views).max())))


def predictions(runs: Ensemble, x: Floats, views: Floats, curvature: Floats) -> Columns:
    """What the measured moments of gamma predict, for each read's own law and for one of all reads.

    Returns
    -------
    dict
        ``predicted`` (own law), ``pooled`` (7, T - 1); ``predicted_var_delta``, ``pooled_var_delta`` (T,).
    """
    one = runs.first
    u, h = runs.each(lambda run: run.u), runs.each(lambda run: run.fresh)
    ubar = runs.each(lambda run: run.gamma.ubar)
    vectors = theory.gamma_vectors(x, views, u, one.workers, one.slack)
    columns: Columns = {}
    for name, pooled in (("predicted", False), ("pooled", True)):
        found = predicted_terms(x, h, ubar, vectors, one.eta, np.diag(curvature), pooled)
        columns |= {name: found.terms, f"{name}_var_delta": found.var_delta}
    return columns


def exact(runs: Ensemble, x: Floats, products: Floats, curvature: Floats, noise_var: float) -> Columns:
    """The exact recursion on the recorded schedule, with how far the ensemble is from it in standard errors.

    Returns
    -------
    dict
        ``exact`` (7, T - 1), ``exact_var`` (T + 1,). ``z_terms`` (7, T - 1); ``z_mean`` (T + 1, d) and
        ``z_var`` (T + 1,). ``error_terms`` (7, T - 1), ``error_var`` (T + 1,): standard errors over N runs.
        ``along`` (N, 7): see `along`. ``iid_var`` (T + 1,), with ``delay_law``: see `iid_variance`.
    """
    one, size = runs.first, len(runs)
    assert all((run.included == one.included).all() for run in runs.runs), "one schedule"
    noise = np.full(len(curvature), noise_var)
    known = theory.linear_recursion(
        (one.included, one.order), one.eta, curvature, noise, one.x[0], one.x_star
    )
    terms = theory.linear_terms(known, one.eta, curvature, noise)
    wanted = np.stack([terms[name][: len(one) - 1] for name in TERMS])
    # x_t is normal, so the errors of its mean and covariance are known.
    error_mean = np.sqrt(np.einsum("tii->ti", known.cov) / size)
    error_var = np.sqrt(2 * (known.cov**2).sum(axis=(1, 2)) / (size - 1))
    exact_var = np.einsum("tii->t", known.cov)
    deviation = x - x.mean(axis=0)
    sampled = estimated(np.einsum("ntd,ntd->tn", deviation, deviation)).value
    found = estimated(products)
    iid_var, law = iid_variance(one.read_start, one.eta, curvature, noise_var, one.x[0] - one.x_star)
    return {
        "exact": wanted,
        "exact_var": exact_var,
        "z_terms": np.stack(
            [
                in_errors(value - term, error, float(np.abs(term).max()))
                for value, error, term in zip(*found, wanted, strict=True)
            ]
        ),
        "z_mean": in_errors(x.mean(axis=0) - known.mean, error_mean, float(np.abs(x).max())),
        "z_var": in_errors(sampled - exact_var, error_var, float(exact_var.max())),
        "error_terms": found.error,
        "error_var": error_var,
        "along": along(products, wanted),
        "iid_var": iid_var,
        "delay_law": law,
    }


def along(products: Floats, curve: Floats) -> Floats:
    """Size of each run's terms along a known curve in the second half of the run, 1 on average if it is that.

    Parameters
    ----------
    products : (7, T, N) float64
        See `term_products`.
    curve : (7, T) float64

    Returns
    -------
    (N, 7) float64
        NaN where the curve is 0 throughout.
    """
    half, runs = late(curve.shape[1]), products.shape[-1]
    curve = curve[:, half]
    sizes = np.einsum("ktn,kt->nk", products[:, half], curve) * runs / (runs - 1)
    squares = np.broadcast_to((curve**2).sum(axis=1), sizes.shape)
    return np.divide(sizes, squares, out=np.full_like(sizes, np.nan), where=squares > 0)


def in_errors(difference: Floats, error: Floats, scale: float) -> Floats:
    """z-scores; 0 where the difference is rounding of numbers of the size ``scale``."""
    real = np.abs(difference) > ROUNDING * scale
    with np.errstate(divide="ignore"):  # a difference where nothing varies is infinitely many errors
        return np.divide(difference, error, out=np.zeros_like(difference), where=real)


def scaling(configs: Sequence[Config]) -> Columns:
    """Exact terms for several constant steps on recorded schedules, without and with gradient noise.

    Interpolating: no noise, a start that varies. At the floor: a fixed start, and noise of variance 1.

    Returns
    -------
    dict
        ``interpolating_steps`` (S,), ``interpolating`` (N, S, 8): sums over t = 20 .. 60 of the seven terms
        and, last, of rho_t^2 = E|x_t - x*|^2. ``floor_steps`` (S',), ``floor`` (N, S', 8): means over the
        last quarter of the run, of Var(x_t) last. ``iid_floor`` (N, S'): of Var(x_t) if delays were iid.
    """
    interpolating, floor, iid = [], [], []
    early = slice(INTERPOLATING_READS[0] - 1, INTERPOLATING_READS[1])  # t counts from 1
    for cfg in configs:
        one = measure(run(cfg, threads=1), "population")
        curvature = make_app(cfg.app.name).terms(cfg).curvature
        late = slice(int(FLOOR_SHARE * len(one)), len(one) - 1)
        schedule = one.included, one.order
        found = terms_at_steps(*schedule, INTERPOLATING_STEPS, curvature, 0.0, 1.0)
        interpolating.append([[*at.terms[:, early].sum(axis=1), at.var[early].sum()] for at in found])
        found = terms_at_steps(*schedule, FLOOR_STEPS, curvature, 1.0, 0.0)
        floor.append([[*at.terms[:, late].mean(axis=1), at.var[late].mean()] for at in found])
        steps = [np.full(len(one), step) for step in FLOOR_STEPS]
        far = np.zeros(len(curvature))
        iid.append([iid_variance(one.read_start, eta, curvature, 1.0, far)[0][late].mean() for eta in steps])
    return {
        "interpolating_steps": np.array(INTERPOLATING_STEPS),
        "interpolating": np.array(interpolating),
        "floor_steps": np.array(FLOOR_STEPS),
        "floor": np.array(floor),
        "iid_floor": np.array(iid),
    }

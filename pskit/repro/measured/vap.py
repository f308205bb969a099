"""What the claims about VAP need of a run: the bound of values, Theorem 1, stalls, traffic, and the floor."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

import theory
from pskit.analysis.starts import Started, started
from pskit.analysis.trace import Trace
from pskit.apps import make_app
from pskit.apps.quadratic import Quadratic
from pskit.config import Config
from pskit.repro.measured.theorem5 import stacked
from pskit.running import run
from pskit.runtime.gate import TRAFFIC

Floats = npt.NDArray[np.float64]
ROUNDING = 1e-9
"""By which a distance may exceed v_t: both are sums of float64, added up in another order."""
TRANSIENT = 400
"""Computations before the stationary part: 12 relaxation times of the slowest mode's square at step .06."""


class Reserving(Quadratic):
    """A quadratic that claims a largest gradient, so that VAP can reserve.

    A quadratic has none. `LARGEST` is more than six standard deviations of the gradient noise beyond what the
    runs reach; the column ``gradient`` says how close they came, and a claim checks it.
    """

    LARGEST = 7.0

    def lipschitz_inf(self, cfg: Any) -> float:  # type: ignore[override]
        """`LARGEST`."""
        return self.LARGEST


def bounded(configs: Sequence[Config]) -> dict[str, npt.NDArray[Any]]:
    """Theorem 1 on runs under VAP, aggregate, of terms with a known L.

    Everything is made from views and gradients in the order of the starts; what the run itself says of its
    distances is not used.

    Parameters
    ----------
    configs : sequence of Config
        N runs with ``v_schedule = "inverse-sqrt"`` and ``schedule = "inverse-sqrt-t"``: then eta_t is the
        theorem's, with r = 0.

    Returns
    -------
    dict
        (N,): ``violations``, views with |view - x^_t|_inf > v_t. ``gradient``: largest |g|_inf / L_inf.
        ``step_error``: largest |eta_t sqrt(t) / eta - 1|. ``over``, ``over_printed``: largest R / bound over
        all t, with the constant as corrected and as printed. ``in_flight``: see `flights`.
        (N, T): ``distance`` (|view - x^_t|_inf / v_t), ``regret`` (R after t computations / t), ``bound``,
        ``printed`` (what Theorem 1 allows that to be).
    """
    return stacked([_bounded(cfg) for cfg in configs])


def _bounded(cfg: Config) -> dict[str, Any]:
    trace = run(cfg, threads=1)
    one, gate = started(trace), trace.columns("starts")
    for name in ("worker", "clock"):
        assert np.array_equal(gate[name], getattr(one, name)), "the order of the reads is that of the starts"
    terms = make_app(cfg.app.name).terms(cfg)
    best = terms.comparator("population")
    t = np.arange(1, len(one.f) + 1)
    v0 = float(cfg.ps.v0 or 0)
    distance = np.abs(one.views - one.x[:-1]).max(axis=1) / (v0 / np.sqrt(t))
    at_best = terms.values(best)[one.clock * cfg.workers + one.worker]
    regret = np.cumsum(one.f - at_best)
    F2 = np.maximum.accumulate(((one.x[:-1] - best) ** 2).sum(axis=1)) / 2
    args = (cfg.app.step, terms.lipschitz, F2, terms.dim, v0, t)
    bound, printed = (np.asarray(f(*args).value) for f in (theory.thm1_regret, theory.thm1_regret_printed))
    return {
        "violations": int((~(distance <= 1 + ROUNDING)).sum()),
        "gradient": np.abs(one.g).max() / terms.lipschitz_inf,
        "step_error": np.abs(one.eta * np.sqrt(t) / cfg.app.step - 1).max(),
        "over": (regret / bound).max(),
        "over_printed": (regret / printed).max(),
        "in_flight": flights(trace),
        "distance": distance,
        "regret": regret / t,
        "bound": bound / t,
        "printed": printed / t,
    }


def floor(configs: Sequence[Config]) -> dict[str, npt.NDArray[Any]]:
    """Stalls, traffic and the stationary variance of runs of a quadratic with gradient noise, any policy.

    Returns
    -------
    dict
        (N,) float64 each. ``floor``: mean of |x^_t - x*|^2 over the stationary part, infinite for a run that
        diverged. ``serial``: the same of a serial execution of the very same steps with the very same noise.
        ``waiting``: share of the workers' time. ``in_flight``: see `flights`. ``gradient``: largest |g|_inf.
        Per computation: ``messages`` and ``bytes`` in the emulated network; what a real network would need
        beside them to enforce the bound (0 without a gate), ``sync_messages``, ``sync_bytes``, and of each
        kind ``sync_KIND``, see `pskit.runtime.gate`.
    """
    return stacked([_floor(cfg) for cfg in configs])


def _floor(cfg: Config) -> dict[str, float]:
    trace = run(cfg, threads=1)
    number = cfg.workers * cfg.app.clocks
    sent, gate = trace.messages()["all"], trace.manifest.get("gate")
    kinds = gate["by_kind"] if gate else {}
    found = {
        "waiting": trace.waiting_share(),
        "in_flight": flights(trace),
        "messages": sent["messages"] / number,
        "bytes": sent["bytes"] / number,
        "sync_messages": gate["messages"] / number if gate else 0.0,
        "sync_bytes": gate["bytes"] / number if gate else 0.0,
    }
    found |= {f"sync_{kind}": kinds[kind]["messages"] / number if gate else 0.0 for kind in TRAFFIC}
    if trace.status != "finished":
        return found | {"floor": np.inf, "serial": np.nan, "gradient": np.nan}
    one = started(trace)
    if len(one.f) <= TRANSIENT:
        raise ValueError(f"a run of {len(one.f)} computations has no stationary part after {TRANSIENT}")
    terms = make_app(cfg.app.name).terms(cfg)
    away = one.x[:-1] - terms.best
    alone = serial(one, terms.curvature, terms.best)
    late = slice(TRANSIENT, None)
    return found | {
        "floor": float((away[late] ** 2).sum(axis=1).mean()),
        "serial": float((alone[late] ** 2).sum(axis=1).mean()),
        "gradient": float(np.abs(one.g).max()),
    }


def serial(one: Started, curvature: Floats, best: Floats) -> Floats:
    """x_t - x* (T, d) if each computation had read what all before it have made: same steps, same noise.

    The step is constant. A control variate: most of what chance does to a floor it does to this one as well,
    and its expectation is known, eta/(h (2 - eta h)) for noise of variance 1.
    """
    step = float(one.eta[0])
    noise = one.g - curvature * (one.views - best)
    start = one.x[0] - best
    columns = [
        # y_{t+1} = (1 - eta h) y_t - eta noise_t, from y_1
        lfilter([1.0], [1.0, -(1 - step * h)], np.concatenate([[y], -step * n[:-1]]))
        for h, y, n in zip(curvature, start, noise.T, strict=True)
    ]
    return np.stack(columns, axis=1)


def flights(trace: Trace) -> float:
    """Mean number of computations in flight: all time computed over the length of the run."""
    clocks = trace.columns("clocks")
    length = int(clocks["t_end"].max() - clocks["t_begin"].min()) if len(clocks["t_end"]) else 0
    return float(clocks["t_compute"].sum() / length) if length else 0.0

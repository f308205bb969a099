"""Traces as the paper would have them, made up for the configs of the real experiments."""

import numpy as np

from pskit.analysis.trace import Trace
from pskit.config import Config
from pskit.repro.catalogue import Catalogue, Profile
from pskit.repro.ensemble import Ensemble
from pskit.trace.schema import SCHEMA, as_columns

SECONDS_PER_CLOCK = {"bsp": 2.2, "ssp": 1.5, "essp": 1.1}


def fidelity_of(cfg: Config, verdict: str = "faithful") -> dict:
    """What the manifest of a live run says of its times."""
    late = {"faithful": 0.01, "strained": 0.1, "not faithful": 0.4}[verdict]
    return {
        "time_scale": cfg.run.time_scale,
        "lateness_us": {"p50": 10.0, "p99": 1e6 * late * cfg.run.time_scale, "max": 1e6},
        "verdict": verdict,
        "late_share_of_clock": late,
        "reason": f"1% of messages and computations were late by {late:.1%} of a clock or more",
        "advice": "use fewer workers",
    }


def trace_of(cfg: Config, *, shares=None, losses=None, stopped=None, verdict="faithful") -> Trace:
    """A finished run of `cfg`.

    Parameters
    ----------
    shares : callable, optional
        ``shares(clock)`` -> list of shares of the ages 0, 1, ...; by default as the paper has it.
    losses : (clocks + 1,) float, optional
        Loss after each clock; by default as the paper has it.
    stopped : int, optional
        Clock at which an INC of a value that is not finite stopped the run; no loss is known from there on.
    verdict : str
        Of a live run.
    """
    shares = shares or (lambda clock: paper_ages(cfg, clock))
    losses = paper_losses(cfg) if losses is None else np.asarray(losses, float)
    clocks = cfg.app.clocks
    lines = [
        (clock, age, round(10_000 * share))
        for clock in range(clocks)
        for age, share in enumerate(shares(clock))
        if round(10_000 * share)
    ]
    at = np.arange(0, len(losses) if stopped is None else stopped, cfg.run.eval_every)
    times = np.rint(at * SECONDS_PER_CLOCK[cfg.ps.policy] * 1e9).astype(np.int64)
    histogram = dict(zip(("clock", "age", "count"), np.array(lines).T, strict=True))
    metrics = {"t": times, "clock": at, "name": np.full(len(at), "loss"), "value": losses[at]}
    faults = [] if stopped is None else [(0, "non-finite", 3, stopped, "V", 5, "made up")]
    diverged = bool(faults or (~np.isfinite(losses) | (losses > 10 * losses[0])).any())
    manifest = {
        "status": "diverged" if diverged else "finished",
        "config": cfg.model_dump(mode="json"),
        "workers": cfg.workers,
        "data": "MF, made up; a clock is some of it",
    }
    if cfg.run.runtime == "live":
        manifest["fidelity"] = fidelity_of(cfg, verdict)
    columns = {
        "histogram": as_columns("histogram", histogram),
        "metrics": as_columns("metrics", metrics),
        "faults": as_columns(
            "faults", {name: [row[i] for row in faults] for i, name in enumerate(SCHEMA["faults"])}
        ),
    }
    return Trace(manifest, columns, {})


def paper_ages(cfg: Config, clock: int) -> list[float]:
    """SSP: uniform. ESSP: ages 1 and 2, later when the workers drift apart."""
    if cfg.ps.policy == "bsp" or cfg.ps.slack == 0 or clock == 0:
        return [1.0]
    oldest = min(cfg.ps.slack, clock)
    if cfg.ps.policy == "ssp":
        return [1 / (oldest + 1)] * (oldest + 1)
    if cfg.preset == "straggler":
        return [0.0] * oldest + [1.0]
    if cfg.preset == "exponential":
        return [0.0] * min(round(1 + 2 * clock**0.5), round(0.75 * cfg.ps.slack)) + [1.0]
    return [0.0, 0.5, 0.5] if oldest >= 2 else [0.0, 1.0]


def paper_losses(cfg: Config) -> np.ndarray:
    """Falling like BSP's; SSP leaves that for good from a slack on which depends on minibatch and step."""
    clock = np.arange(cfg.app.clocks + 1)
    losses = 0.6 + 0.7 * np.exp(-4 * clock / cfg.app.clocks)
    if cfg.ps.policy == "ssp" and cfg.app.name != "quadratic":
        losses[len(losses) // 3 : len(losses) // 2] *= 1 + 0.1 * cfg.ps.slack
        if cfg.ps.slack >= 16 * (0.1 / cfg.app.clock_fraction) ** 0.5 * (0.005 / cfg.app.step) ** 0.5:
            losses[len(losses) // 2 :] = np.geomspace(1, 1e5, len(losses) - len(losses) // 2)
    return losses


def ensemble(
    catalogue: Catalogue, *experiments: str, profile: Profile = "default", make=trace_of
) -> Ensemble:
    """All runs of some experiments, each made by `make`."""
    configs = {}
    for name in experiments:
        configs |= {cfg.fingerprint(): cfg for cfg, _ in catalogue.experiments[name].configs(profile)}
    return Ensemble([make(cfg) for cfg in configs.values()])

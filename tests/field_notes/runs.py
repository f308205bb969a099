"""Runs of the applications that meet the faults."""

from typing import Any

import pskit

POLICIES: dict[str, dict[str, Any]] = {
    "ssp": {"policy": "ssp", "slack": 2},
    "ssp, slack 0": {"policy": "ssp", "slack": 0},
    "essp": {"policy": "essp", "slack": 2},
    "essp, deltas": {"policy": "essp", "slack": 1, "push": "deltas"},
    "bsp": {"policy": "bsp"},
    "asp": {"policy": "asp"},
}
BAD_LINKS = {
    "latency": {"model": "exponential", "mean": "500ms"},
    "loss": 0.2,
    "reorder": True,
    "retransmit": "700ms",
}
NO_LATENCY = {"latency": {"model": "constant", "mean": "0s"}}
STEADY = {"model": "constant", "mean": "1s"}


def config(
    app: str, policy: str = "ssp", *, clocks: int = 8, options: Any = None, **given: Any
) -> pskit.Config:
    """A config with a full trace, on two shards unless ``ps`` says otherwise; times vary much."""
    name = app if ":" in app else f"tests.field_notes.apps:{app}"
    tree = {
        "preset": "exponential",
        "run": {"trace": "full"},
        **given,
        "ps": {"shards": 2, **POLICIES[policy], **given.get("ps", {})},
    }
    return pskit.Config(app={"name": name, "clocks": clocks, "options": options or {}}, **tree)


def finished(cfg: pskit.Config) -> pskit.Trace:
    """A run that came to its end and that the auditor has nothing to say about."""
    trace = pskit.run(cfg, threads=1)
    assert trace.status == "finished"
    report = pskit.audit(trace)
    assert report.ok, report.story
    assert report.share == 1
    return trace


def quadratic(policy: str, workers: int, step: float, **given: Any) -> pskit.Trace:
    """A run of the quadratic without noise; its loss starts at 5."""
    app = {"name": "quadratic", "dim": 16, "noise": 0.0, "step": step, "clocks": given.pop("clocks", 30)}
    ps = {**POLICIES[policy], **given.pop("ps", {})}
    return pskit.run(pskit.Config(app=app, ps=ps, cluster={"clients": workers}, **given), threads=1)

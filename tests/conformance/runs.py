"""Configs that mean the same on every runtime, and what must hold of their runs."""

import multiprocessing
from typing import Any

import numpy as np

import pskit
from tests.runtime.live import runs

RUNTIMES = ("sim", "live")
POLICIES: dict[str, dict[str, Any]] = {
    **runs.POLICIES,
    "a user's own": {"policy": "tests.conformance.policies:WarmUp", "slack": 3},
}
LINKS: dict[str, dict[str, Any]] = {"plain": runs.LINKS, "lossy and reordering": runs.BAD_LINKS}
SCALE = 0.004
"""Real seconds per emulated one: no test asks whether times were kept."""
DIGITS, DRIFT = "tests.runtime.apps:Digits", "tests.runtime.apps:Drift"


def run(runtime: str, policy: str, app: str = DIGITS, *, clocks: int = 8, **given: Any) -> Any:
    """Run an application: two clients of two workers, two shards, unless ``given`` says otherwise."""
    scale = {"time_scale": SCALE} if runtime == "live" else {}
    options, ps = given.pop("options", {}), given.pop("ps", {})
    tree = {
        "compute": {"model": "exponential", "mean": "1s"},
        "network": LINKS["plain"],
        "cluster": {"clients": 2, "threads": 2, "placement": "separate"},
        **given,
    }
    cfg = pskit.Config(
        app={"name": app, "clocks": clocks, "options": options},
        ps={"shards": 2, **POLICIES[policy], **ps},
        run={"runtime": runtime, "trace": "full", **scale},
        **tree,
    )
    return pskit.run(cfg)


def check(trace: Any) -> None:
    """The guarantee of every read, own writes, every update once and in order; the tables at the end."""
    assert trace.status == "finished"
    report = pskit.audit(trace)
    assert report.ok, report.story
    assert report.share == 1
    assert report.reads > 0 or not trace.columns("histogram")["count"].sum()
    for table in trace.manifest["layout"]["tables"]:
        initial, incs, final = (trace.table(table["name"], which) for which in ("initial", "incs", "final"))
        if final.dtype.kind == "i":
            assert np.array_equal(final, initial + incs)
        else:
            assert np.allclose(final, initial + incs, rtol=0, atol=1e-4)
    left = sorted(zip(trace.columns("members")["worker"], trace.columns("members")["shard"], strict=True))
    shards = trace.manifest["layout"]["shards"]
    assert left == [(w, j) for w in range(trace.manifest["workers"]) for j in range(shards)]
    assert not multiprocessing.active_children()

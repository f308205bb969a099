"""Runs to audit: every policy, made once."""

from functools import cache
from typing import Any

import pskit

NETWORKS: dict[str, dict[str, Any]] = {
    "reliable": {},
    "lossy": {"loss": 0.2, "retransmit": "500ms"},
    "reordering": {"reorder": True, "retransmit": "500ms"},
    "one bad link": {
        "links": [{"src": "client:1", "dst": "shard:0", "loss": 0.3, "reorder": True}],
        "retransmit": "300ms",
    },
    "slow cards": {"bandwidth": "20kbit/s"},
    "instant": {"latency": {"model": "constant", "mean": "0s"}},
}

POLICIES: dict[str, dict[str, Any]] = {
    "ssp": {"policy": "ssp", "slack": 2},
    "ssp, slack 0": {"policy": "ssp", "slack": 0},
    "essp": {"policy": "essp", "slack": 3},
    "essp, slack 0": {"policy": "essp", "slack": 0},
    "essp, deltas": {"policy": "essp", "slack": 2, "push": "deltas"},
    "bsp": {"policy": "bsp"},
    "asp": {"policy": "asp"},
}
CONVEX: dict[str, dict[str, Any]] = {
    "absolute": {"policy": "ssp", "slack": 2},
    "absolute, vap": {"policy": "vap", "v0": 2.0},
}
"""Runs of an application with recorded views."""
GATED = {
    "vap": {"policy": "vap", "v0": 0.3},
    "vap, nothing reserved": {"policy": "vap", "v0": 0.2},
    "vap, each worker's": {"policy": "vap", "v0": 0.3, "vap_variant": "per_worker", "push": "deltas"},
}
"""Runs under a policy with a gate."""
DEATH = "ssp, a client dies"
"""A live run: worker 2 dies in its clock `workload.LAST`, when the others wait for it."""


def config(
    policy: str = "ssp",
    network: str = "reliable",
    *,
    clocks: int = 8,
    uneven: bool = False,
    clients: int = 3,
    threads: int = 1,
    shards: int = 2,
    cache_rows: int = 0,
    placement: str = "separate",
    straggler: int | None = None,
    even: bool = False,
    trace: str = "full",
    seed: int = 0,
) -> pskit.Config:
    """Config of a run of the test application."""
    app: dict[str, Any] = {"name": "tests.auditing.workload:Tally", "options": {"uneven": uneven}}
    if policy in CONVEX:
        app = {"name": policy.partition(",")[0], "dim": 3, "step": 0.5, "noise": 0.1}
    if policy in GATED:
        options = {"twice": True, "dim": 3, "rows": 2, "unknown": "nothing" in policy}
        app = {"name": "tests.runtime.signs:Medians", "step": 0.1, "options": options}
    live: dict[str, Any] = {}
    if policy == DEATH:
        app = {"name": "tests.auditing.workload:Dying"}
        live = {"runtime": "live", "on_death": "continue", "time_scale": 0.005}
        policy = "ssp"
    return pskit.Config(
        app={**app, "clocks": clocks},
        ps={**(CONVEX | GATED | POLICIES)[policy], "shards": shards, "cache_rows": cache_rows},
        cluster={"clients": clients, "threads": threads, "placement": placement},
        compute={
            **({"model": "constant", "mean": "1s"} if even else {}),
            "stragglers": [] if straggler is None else [{"worker": straggler, "factor": 4.0}],
        },
        network=NETWORKS[network],
        run={"trace": trace, "seed": seed, **live},
    )


@cache
def run(policy: str, network: str = "reliable", **sizes: Any) -> pskit.Trace:
    """A finished run; not to be changed."""
    return pskit.run(config(policy, network, **sizes), threads=1)

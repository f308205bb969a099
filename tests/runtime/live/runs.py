"""Small live runs."""

import pskit

POLICIES = {
    "ssp": {"policy": "ssp", "slack": 2},
    "essp": {"policy": "essp", "slack": 2},
    "essp, deltas": {"policy": "essp", "slack": 2, "push": "deltas"},
    "bsp": {"policy": "bsp"},
    "asp": {"policy": "asp"},
}
LINKS = {"latency": {"model": "exponential", "mean": "200ms"}}
BAD_LINKS = {**LINKS, "loss": 0.2, "reorder": True, "retransmit": "1s"}
SCALE = 0.005
"""Real seconds per emulated one: too fast to be faithful on a busy machine, which no test asks for."""


def config(policy="ssp", app="tests.runtime.apps:Drift", *, clocks=12, runtime="live", scale=SCALE, **given):
    """A config of three clients; `given` are sections, ``ps`` and ``run`` in addition to what is here."""
    options, ps, run = given.pop("options", {}), given.pop("ps", {}), given.pop("run", {})
    scaled = {"time_scale": scale} if runtime == "live" else {}
    tree = {
        "cluster": {"clients": 3, "placement": "separate"},
        "compute": {"model": "exponential", "mean": "1s"},
        "network": LINKS,
        **given,
    }
    return pskit.Config(
        app={"name": app, "clocks": clocks, "options": options},
        ps={**POLICIES[policy], **ps},
        run={"runtime": runtime, "trace": "full", **scaled, **run},
        **tree,
    )

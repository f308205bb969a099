"""Small runs whose schedules (and, of the NumPy twins, values) may not change by accident.

``python -m tests.golden.schedules`` writes their hashes to ``schedules.json``. Do that after a change that
is meant to change schedules, and say so in the changelog.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from pskit.apps import make_app
from pskit.config import Config
from tests.runtime.simulate import POLICIES, Run, ps, simulate

FILE = Path(__file__).with_name("schedules.json")

MF = {"name": "mf", "kernel": "numpy", "rank": 4, "clock_fraction": 0.002, "clocks": 5}
DIGITS = {"name": "tests.runtime.apps:Digits", "clocks": 12, "options": {"rows": 7, "tail": True}}
DRIFT = {"name": "tests.runtime.apps:Drift", "clocks": 15}

CLUSTER = {"clients": 3, "threads": 2}
LOSSY = {
    "latency": {"model": "lognormal", "mean": "300ms", "cv": 1.5},
    "loss": 0.2,
    "reorder": True,
    "retransmit": "600ms",
}
SLOW_CARD = {
    "latency": {"model": "bimodal", "mean": "20ms", "far": "900ms", "p_far": 0.2},
    "bandwidth": "3kB/s",
}
DRAWS = {"model": "pareto", "mean": "1s", "alpha": 1.7, "per_item": "5ms"}
STRAGGLERS = {
    "model": "uniform",
    "low": "500ms",
    "high": "1500ms",
    "stragglers": [{"worker": 1, "factor": 3.0, "probability": 0.5}],
    "pauses": [{"worker": 2, "at": "2s", "duration": "4s"}],
}


def configs() -> dict[str, Config]:
    """The runs by name: every policy under several emulated clusters."""
    out = {}
    for name in POLICIES:
        few = {"run": {"seed": 11}, "cluster": CLUSTER}
        out[f"{name}, digits"] = Config(app=DIGITS, ps=ps(name, 2, shards=2), **few)
        out[f"{name}, digits, small cache"] = Config(
            app=DIGITS, ps=ps(name, 1, shards=3, cache_rows=2), compute=STRAGGLERS, **few
        )
        out[f"{name}, digits, lossy"] = Config(app=DIGITS, ps=ps(name, 1, shards=2), network=LOSSY, **few)
        out[f"{name}, drift, slow card"] = Config(
            app=DRIFT, ps=ps(name, 0, shards=2), network=SLOW_CARD, compute=DRAWS, **few
        )
        out[f"{name}, mf"] = Config(app=MF, ps=ps(name, 3), cluster={"clients": 4}, run={"seed": 1})
    return out


def run(cfg: Config) -> Run:
    return simulate(cfg, make_app(cfg.app.name))


def hashes(cfg: Config) -> dict[str, str]:
    """The schedule hash of a run, and a hash of its final tables."""
    done = run(cfg)
    values = hashlib.sha256()
    for table in done.outcome.final.values():
        values.update(table.astype(table.dtype.newbyteorder("<")).tobytes())
    return {"schedule": done.schedule_hash, "values": values.hexdigest()}


def write() -> None:
    golden: dict[str, Any] = {name: hashes(cfg) for name, cfg in configs().items()}
    FILE.write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    write()

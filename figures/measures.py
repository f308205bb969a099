"""Numbers that a figure shows and a claim is about, defined once."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from figures.kit import Floats, Runs
from pskit.analysis.staleness import Staleness
from pskit.analysis.trace import Trace

LAST_CLOCK = 2**31 - 1
FAITHFUL = "faithful"
"""The verdict of a live run that kept its times."""


def ages(trace: Trace) -> Staleness:
    """Ages of all reads but those of clock 0, where nothing is old yet and all rows are fetched once."""
    return trace.staleness().between(1, LAST_CLOCK)


def shares(traces: Iterable[Trace], slack: int) -> tuple[Floats, Floats]:
    """Differentials that the slack allows, -(s + 1) to -1 (s + 1,), and how many of `ages` are there.

    The shares are (runs, s + 1), of each run's reads.
    """
    differentials = np.arange(-(slack + 1), 0)
    found = [ages(trace).histogram() for trace in traces]
    return differentials, np.array([[each.get(d, 0.0) for d in differentials.tolist()] for each in found])


def distance(one: Trace, other: Trace) -> float:
    """Two-sample distance of two runs: total variation between the histograms of their `ages`, 0 to 1."""
    return ages(one).tv_to(ages(other))


def paired_distances(runs: Runs) -> list[float]:
    """`distance` of each live run to the run in virtual time of its seed, which has the same draws."""
    virtual = {trace.config["run"]["seed"]: trace for trace in runs.select(runtime="sim")}
    return [distance(live, virtual[live.config["run"]["seed"]]) for live in runs.select(runtime="live")]


def seed_distances(runs: Runs) -> list[float]:
    """`distance` of two seeds in virtual time: what chance alone makes. Of disjoint pairs, so independent."""
    virtual = list(runs.select(runtime="sim"))
    return [distance(a, b) for a, b in zip(virtual[::2], virtual[1::2], strict=False)]


def fidelity(trace: Trace) -> Mapping[str, Any]:
    """How true a live run was to its config; see `pskit.runtime.live.fidelity`."""
    found: Mapping[str, Any] = trace.manifest["fidelity"]
    return found


def faithful(trace: Trace) -> bool:
    """Whether a live run kept the times of its config."""
    return bool(fidelity(trace)["verdict"] == FAITHFUL)


def mean_ages(trace: Trace) -> tuple[Floats, Floats]:
    """Clock (n,) from 1 on, and the mean age of the reads at it (n,)."""
    curve = ages(trace).mean_by_clock()
    return curve["clock"], curve["mean"]


def stopped_at(trace: Trace) -> int | None:
    """Clock at which a value that is not finite stopped the run; None if it went on to its end."""
    faults = trace.columns("faults")
    found = [c for what, c in zip(faults["what"], faults["clock"], strict=True) if "non-finite" in what]
    return int(found[0]) if found else None


def final_loss(trace: Trace) -> float:
    """Loss after the last clock. A stopped run has none: infinite, whatever it was when last evaluated."""
    return np.inf if stopped_at(trace) is not None else trace.final_loss()


def excursion(trace: Trace) -> float:
    """Largest loss over the smallest one before it; infinite for a stopped run."""
    return np.inf if stopped_at(trace) is not None else trace.excursion()


def final_over_bsp(runs: Runs, policy: str, slack: int) -> Floats:
    """Final loss over BSP's of the same seed, one value per seed; infinite where it is not finite."""
    ours, bsp = (
        np.array([final_loss(trace) for trace in same])
        for same in (runs.select(policy=policy, slack=slack), runs.select(policy="bsp"))
    )
    return ours / bsp


def to_target(runs: Runs, slack: int, share: float) -> dict[str, dict[str, Floats]]:
    """How long until BSP's loss after ``share`` of its clocks is reached.

    Returns
    -------
    dict
        By policy, ``second`` (emulated) and ``clock``: one value per seed.
    """
    chosen: dict[str, Any] = {"bsp": runs.select(policy="bsp")}
    chosen |= {policy: runs.select(policy=policy, slack=slack) for policy in ("ssp", "essp")}
    targets = [target_loss(trace, share) for trace in chosen["bsp"]]
    return {
        policy: {
            "second": np.array([t.seconds_to(loss) for t, loss in zip(same, targets, strict=True)]),
            "clock": np.array([t.clocks_to(loss) for t, loss in zip(same, targets, strict=True)]),
        }
        for policy, same in chosen.items()
    }


def target_loss(bsp: Trace, share: float) -> float:
    """Loss after ``share`` of the clocks."""
    loss = bsp.loss()
    return float(loss["value"][loss["clock"] <= share * loss["clock"][-1]][-1])

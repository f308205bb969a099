"""A trace in a few numbers with units, as text; every view of a run shows these."""

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np

from pskit.analysis.trace import Trace
from pskit.errors import InputError
from pskit.units import format_bytes, format_span


def number(value: float, digits: int = 4) -> str:
    """Write a float with `digits` significant digits; "-" for NaN."""
    return "-" if math.isnan(value) else f"{value:.{digits}g}"


def share(value: float) -> str:
    """Write a share as a percentage; "-" for NaN."""
    return "-" if math.isnan(value) else f"{value:.1%}"


def loss_at(trace: Trace, clock: int, name: str = "loss") -> float:
    """Value of a metric where it was evaluated at `clock`, else NaN: no other clock's stands in for it."""
    if name not in metric_names(trace):
        return math.nan
    curve = trace.loss(name)
    there = np.flatnonzero(curve["clock"] == clock)
    return float(curve["value"][there[-1]]) if len(there) else math.nan


def evaluated(trace: Trace) -> list[int]:
    """Clocks at which the run was evaluated, ascending."""
    return sorted(set(trace.columns("metrics")["clock"].tolist()))


def shown_clocks(*traces: Trace) -> list[int]:
    """Evaluated clocks to show of one run, or of several side by side: near `milestones`, and every last one.

    Several runs meet at clocks that all of them evaluated, as long as there are any.
    """
    each = [evaluated(trace) for trace in traces]
    common = sorted(set.intersection(*map(set, each)))
    beyond = common[-1] if common else -1
    clocks = common + sorted({clock for some in each for clock in some if clock > beyond})
    if not clocks:
        return []
    places = {bisect_left(clocks, milestone) for milestone in milestones(clocks[-1])}
    return sorted({clocks[place] for place in places} | {some[-1] for some in each if some})


def milestones(last: int) -> list[int]:
    """Clocks 0, 1, 2, 5, 10, 20, 50, ... below `last`, and `last`."""
    steps = (m * 10**e for e in range(len(str(last))) for m in (1, 2, 5))
    return [0, *(step for step in steps if step < last), *([last] if last else [])]


def evaluations(trace: Trace) -> str:
    """How often the run was evaluated, and when last."""
    clocks = evaluated(trace)
    return f"{len(clocks):,}, the last at clock {clocks[-1]:,}" if clocks else "0"


def metric_names(trace: Trace) -> list[str]:
    """Names of the recorded metrics, the loss first."""
    names = sorted(set(trace.columns("metrics")["name"].tolist()))
    return sorted(names, key=lambda name: name != "loss")


def time_shares(trace: Trace) -> dict[str, float]:
    """Shares of the workers' time: computing, waiting, sending; NaN without any time."""
    split = trace.time_split()
    parts = {name: int(split[name].sum()) for name in ("computing", "waiting", "sending")}
    total = sum(parts.values())
    return {name: part / total if total else math.nan for name, part in parts.items()}


def setting(trace: Trace) -> str:
    """One line: application, policy, slack and sizes of a run."""
    config = trace.config
    ps, cluster = config["ps"], config["cluster"]
    slack = "no bound" if ps.get("slack") is None else f"slack {ps['slack']}"
    workers = cluster["clients"] * cluster["threads"]
    return f"{config['app']['name']}, {ps['policy']}, {slack}, P = {workers}, shards = {ps['shards']}"


def facts(trace: Trace) -> dict[str, str]:
    """What a summary and a comparison show, by label, in order."""
    staleness, messages, manifest = trace.staleness(), trace.messages(), trace.manifest
    total = messages["all"]
    return {
        "setting": setting(trace),
        "data": str(manifest.get("data", "-")),
        "status": trace.status,
        "evaluations": evaluations(trace),
        **{f"final {name}": number(trace.final_loss(name), 6) for name in metric_names(trace)},
        "excursion of loss": _or_dash(lambda: number(trace.excursion())),
        "mean age": f"{number(staleness.mean())} clocks",
        "variance of age": number(staleness.var()),
        **effective_step(trace),
        **{name: share(part) for name, part in time_shares(trace).items()},
        "time per clock, median": _seconds(trace.clock_time(0.5)),
        "time per clock, 99%": _seconds(trace.clock_time(0.99)),
        "messages": f"{total['messages']:,}",
        "bytes": format_bytes(total["bytes"]),
        "emulated time": format_span(int(manifest["emulated_ns"])),
        "wall time": format_span(round(manifest["wall_seconds"] * 1e9)),
        **fidelity(trace),
    }


def effective_step(trace: Trace) -> dict[str, str]:
    """step x workers x mean age: how far the others move while a copy ages, in units of one gradient.

    Steps of all workers add up, so with it the largest step that converges shrinks. Nothing for a run without
    reads.
    """
    app, cluster, age = trace.config["app"], trace.config["cluster"], trace.staleness().mean()
    if "step" not in app or math.isnan(age):
        return {}
    value = app["step"] * cluster["clients"] * cluster["threads"] * age
    falls = app.get("schedule", "constant") != "constant"
    return {"step x workers x mean age": number(value) + (", with the first step" if falls else "")}


def fidelity(trace: Trace) -> dict[str, str]:
    """How well a live run kept its times, and what would help; nothing for a run in virtual time."""
    found = trace.manifest.get("fidelity")
    if found is None:
        return {}
    late = found["lateness_us"]
    p50, p99, most = (format_span(round(late[name] * 1000)) for name in ("p50", "p99", "max"))
    rows = {
        "fidelity": f"{found['verdict']} at {found['time_scale']:g} s per emulated second: {found['reason']}",
        "lateness of messages": f"median {p50}, 99% {p99}, most {most} (real time)",
    }
    return rows | ({"advice": found["advice"]} if found["advice"] else {})


def hashes(trace: Trace) -> dict[str, str]:
    """What identifies a result."""
    return {
        name.replace("_", " "): str(trace.manifest[name])
        for name in ("fingerprint", "schedule_hash", "value_hash")
    }


def about_schedules(names: tuple[str, str], runs: tuple[Trace, Trace]) -> str | None:
    """Why the schedule hashes of two runs differ whatever happened; None where they can be compared."""
    by_runtime = "the hash of a live run is made of those of its processes, in virtual time there is one"
    for one, other in ((0, 1), (1, 0)):
        if runs[one].manifest.get("replay_of") == runs[other].manifest["schedule_hash"]:
            return (
                f"{names[one]} is a replay of {names[other]}, which took the same way: `pskit replay` has "
                f"compared every read, update and message. Their schedule hashes differ all the same: "
                f"{by_runtime}"
            )
    kinds = {"replay" if "replay_of" in run.manifest else run.config["run"]["runtime"] for run in runs}
    if "live" in kinds and len(kinds) > 1:
        return f"schedule hashes tell nothing across runtimes: {by_runtime}"
    return None


def faults(trace: Trace) -> list[str]:
    """What went wrong in the run, in its own words."""
    return [str(detail) for detail in trace.columns("faults")["detail"]]


def differences(one: dict[str, Any], other: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Dotted keys whose values differ between two configs, with both values as text; "-" = not there."""
    left, right = _flat(one), _flat(other)
    keys = [*left, *(key for key in right if key not in left)]
    return {k: (left.get(k, "-"), right.get(k, "-")) for k in keys if left.get(k, "-") != right.get(k, "-")}


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        elif value is not None:
            flat[prefix + key] = str(value)
    return flat


def _seconds(seconds: float) -> str:
    return "-" if math.isnan(seconds) else format_span(round(seconds * 1e9))


def _or_dash(compute: Callable[[], str]) -> str:
    """Return "-" for a quantity that this run does not have (an excursion of a log-likelihood, say)."""
    try:
        return compute()
    except InputError:
        return "-"

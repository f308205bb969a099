"""The conditions of a figure in words, from the configs of the runs that it shows."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from pskit.repro.ensemble import Ensemble


def conditions(runs: Ensemble) -> str:
    """Data, workers, shards, slacks, steps, compute and network model, and seeds."""
    configs = [trace.config for trace in runs]
    latencies = dict.fromkeys(distribution(c["network"]["latency"]) for c in configs)
    data = dict.fromkeys(str(trace.manifest["data"]).partition(";")[0] for trace in runs)
    workers = {c["cluster"]["clients"] * c["cluster"]["threads"] for c in configs}
    bounds = {
        symbol: [c["ps"][key] for c in configs if c["ps"].get(key) is not None]
        for symbol, key in (("s", "slack"), ("v0", "v0"))
    }
    parts = [
        f"Data: {'; '.join(data)}",
        f"P = {listed(workers)}",
        f"shards: {listed(c['ps']['shards'] for c in configs)}, "
        f"placement {listed(c['cluster']['placement'] for c in configs)}",
        *(f"{symbol} = {listed(values)}" for symbol, values in bounds.items() if values),
        f"step {listed(c['app']['step'] for c in configs)}",
        f"time to compute a clock: {'; '.join(dict.fromkeys(compute(c['compute']) for c in configs))}",
        f"latency of a message: {'; '.join(latencies)}",
        f"bandwidth {listed(c['network']['bandwidth'] for c in configs)}",
        seeds(runs.seeds),
    ]
    return ". ".join(parts) + "."


def compute(section: Mapping[str, Any]) -> str:
    """A compute model in words."""
    text = distribution(section)
    if section["reversion"]:
        text += f", mean-reverting ({section['reversion']:g})"
    for slow in section["stragglers"]:
        text += f", worker {slow['worker']} {slow['factor']:g} times as long"
    return text


def distribution(section: Mapping[str, Any]) -> str:
    """A distribution in words; only what it has."""
    names = ("mean", "low", "high", "cv", "alpha", "far", "p_far", "file")
    given = ", ".join(f"{name} {section[name]}" for name in names if section.get(name) is not None)
    floor = "" if section["floor"] in (0, "0s", "0ns") else f"{section['floor']} + "
    return f"{floor}{section['model']} ({given})"


def listed(values: Iterable[Any]) -> str:
    """Distinct values in ascending order."""
    distinct = set(values)
    order = sorted(distinct, key=lambda v: (isinstance(v, str), v))
    return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in order)


def seeds(values: list[int]) -> str:
    """Distinct ascending seeds as a short list."""
    parts: list[str] = []
    for _, group in groupby(enumerate(values), lambda pair: pair[1] - pair[0]):
        run = [value for _, value in group]
        parts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run)
    return ("Seed " if len(values) == 1 else "Seeds ") + ", ".join(parts)


def counted(n: int, noun: str) -> str:
    """A number of things, in the plural where it is one."""
    return f"{n} {noun}" + ("" if n == 1 else "s")

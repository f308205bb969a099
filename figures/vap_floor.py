"""V-3: the variance floor against VAP's threshold and ESSP's slack."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from figures.floors import floor, floors
from figures.kit import DASHES, LOOKS, Runs, Sheet

STEP, LARGE_STEP = 0.06, 0.18
LATENCIES = {"200ms": "latency .2 clock", "1s": "latency one clock"}
TOP = 3.1
SWEEP = (1, 2, 4, 8, 16)
SMALLEST = {"vap": ("v0", 0.25), "essp": ("slack", 1)}
SYMBOLS = {"vap": "v0", "essp": "s"}
ASIDE = {"vap": 0.95, "essp": 1.05}
"""By which factor points stand beside their place, so that no interval hides another."""


def shown(runs: Runs) -> Runs:
    """Compute times that do not revert; what they change is in the claim."""
    return runs.select(reversion=0.0)


def draw(runs: Runs, sheet: Sheet) -> None:
    """Short and long latency, and a larger step."""
    (panels,) = sheet.axes(1, 3, 3.3, sharey=True)
    for axes, (latency, name) in zip(panels, LATENCIES.items(), strict=False):
        panel(axes, runs.select(step=STEP, latency=latency), f"{name}, step {STEP:g}", sheet)
    panel(panels[2], runs.select(step=LARGE_STEP), f"latency .2 clock, step {LARGE_STEP:g}", sheet)
    panels[0].set_ylabel("variance of x at the floor,\nserial execution = 1")
    panels[0].legend(loc="upper left")


def panel(axes: Axes, runs: Runs, name: str, sheet: Sheet) -> None:
    """Floors of both policies against the place in the sweep."""
    found = floors(runs)
    for policy, sides in (("vap", found.vap), ("essp", found.essp)):
        curve(axes, policy, sides, name, sheet)
    axes.axhline(1.0, color="#222222", linestyle=DASHES, linewidth=0.9)
    axes.set_xscale("log", base=2)
    axes.set_xticks(
        SWEEP, ["\n".join(f"{SYMBOLS[p]} {s * k:g}" for p, (_, s) in SMALLEST.items()) for k in SWEEP]
    )
    axes.minorticks_off()
    axes.tick_params(axis="x", labelsize=6.5)
    axes.set(title=name, ylim=(0.9, TOP), xlim=(0.8, 20))


def curve(axes: Axes, policy: str, sides: Sequence[Any], name: str, sheet: Sheet) -> None:
    """Floors of a policy with their intervals; an arrow at the top for what diverges."""
    look, (key, smallest) = LOOKS[policy], SMALLEST[policy]
    settings = np.array([side.values(key)[0] for side in sides])
    x = settings / smallest * ASIDE[policy]
    estimates = [floor(side) for side in sides]
    y, low, high = (np.array([getattr(e, end) for e in estimates]) for end in ("value", "low", "high"))
    sheet.record(name, look.name, settings.tolist(), y.tolist(), low.tolist(), high.tolist())
    there = np.isfinite(y)
    style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "label": look.name}
    axes.errorbar(x[there], y[there], [y[there] - low[there], high[there] - y[there]], capsize=2, **style)
    for at in x[~there]:
        axes.annotate("", (at, TOP), (at, TOP - 0.25), arrowprops={"arrowstyle": "->", "color": look.colour})
    if not there.all():
        middle = float(np.exp(np.log(x[~there]).mean()))
        axes.annotate(f"{look.name} diverges", (middle, TOP - 0.32), color=look.colour, ha="center", va="top")


def remarks(runs: Runs) -> str:
    """Spans of the sweeps."""
    said = []
    for latency, name in LATENCIES.items():
        found = floors(runs.select(step=STEP, latency=latency))
        for policy, sides in (("VAP", found.vap), ("ESSP", found.essp)):
            values = [floor(side).value for side in sides]
            said.append(f"{policy} {min(values):.2f} to {max(values):.2f} at {name}")
    return f"Floors: {'; '.join(said)}. {bars(runs)}"


def bars(runs: Runs) -> str:
    """How many seeds each panel has, as one has no interval."""
    panels = [runs.select(step=STEP, latency=latency) for latency in LATENCIES]
    panels.append(runs.select(step=LARGE_STEP))
    counts = [len({int(seed) for seed in same.column("seed")}) for same in panels]
    text = f"Seeds: {', '.join(map(str, counts))} from left to right"
    return f"{text}; of one seed there is no interval, so no bar." if 1 in counts else f"{text}."

"""F1L-3: the ages of Fig. 1 left once more, on the wall clock beside virtual time."""

import numpy as np
from matplotlib.axes import Axes

from figures.kit import LOOKS, Floats, Runs, Sheet, shade
from figures.measures import ages, fidelity, paired_distances, seed_distances, shares
from figures.staleness_histogram import X_LABEL

ROWS = {"near-equal": "near-equal workers", "straggler": "worker 0 twice as slow"}
BAR = 0.4  # its width, in clocks
MARGIN = 1.5  # of the y axis, for the legend


def draw(runs: Runs, sheet: Sheet) -> None:
    """A column per policy, a row per model of compute times."""
    presets = [preset for preset in ROWS if runs.has(preset=preset, runtime="live")]
    grid = sheet.axes(len(presets), 2, 2.0 * len(presets) + 0.35, sharex=True)
    for line, preset in zip(grid, presets, strict=True):
        for axes, policy in zip(line, ("ssp", "essp"), strict=True):
            panel(axes, runs.select(preset=preset, policy=policy), sheet, preset)
        line[0].set_ylabel("share of reads")
    sheet.figure.supxlabel(X_LABEL, fontsize=8)


def remarks(runs: Runs) -> str:
    """The fidelity verdict of every live run."""
    found = []
    for preset, workers in ROWS.items():
        for policy in ("ssp", "essp"):
            where = {"preset": preset, "policy": policy, "runtime": "live"}
            for trace in runs.select(**where) if runs.has(**where) else ():
                figures = fidelity(trace)
                found.append(
                    f"{LOOKS[policy].name}, {workers}, seed {trace.config['run']['seed']}: "
                    f"{figures['verdict']} ({figures['late_share_of_clock']:.1%} of a clock late, "
                    f"{figures['time_scale']:g} s per emulated second)"
                )
    return f"Fidelity of the live runs: {'; '.join(found)}."


def panel(axes: Axes, runs: Runs, sheet: Sheet, preset: str) -> None:
    """Histograms of the same seeds in virtual time and live, and how far apart they are."""
    live = runs.select(runtime="live")
    (policy,), (slack,) = runs.values("policy"), runs.values("slack")
    name = f"{LOOKS[policy].name}, s = {slack}, {ROWS[preset]}"
    seeds = live.values("seed")
    virtual = [trace for trace in runs.select(runtime="sim") if trace.config["run"]["seed"] in seeds]
    verdicts = dict.fromkeys(str(fidelity(trace)["verdict"]) for trace in live)
    colour = LOOKS[policy].colour
    series = (
        (virtual, -BAR / 2, shade(policy, 0.0), "virtual time"),
        (live, BAR / 2, colour, f"live, {' or '.join(verdicts)}"),
    )
    for traces, shift, fill, label in series:
        x, found = shares(traces, slack)
        middle, low, high = np.median(found, axis=0), found.min(axis=0), found.max(axis=0)
        axes.bar(x + shift, middle, BAR, color=fill, edgecolor=colour, linewidth=0.8, label=label)
        bars(axes, x + shift, middle, low, high)
        sheet.record(name, label, x.tolist(), middle.tolist(), low.tolist(), high.tolist())
    axes.set_title(name)
    old = ages(virtual[0]).mean() > slack / 2
    axes.legend(title=distances(runs), loc="upper right" if old else "upper left", alignment="left")
    axes.grid(axis="x", visible=False)
    axes.set_xticks(x)
    axes.set_ylim(0, MARGIN * axes.dataLim.ymax)


def bars(axes: Axes, x: Floats, middle: Floats, low: Floats, high: Floats) -> None:
    """The range of several seeds."""
    wide = high > low
    if wide.any():
        ends = [(middle - low)[wide], (high - middle)[wide]]
        axes.errorbar(x[wide], middle[wide], ends, fmt="none", color="#222222", elinewidth=0.8, capsize=1.5)


def distances(runs: Runs) -> str:
    """How far live is from virtual time, and two seeds in virtual time from each other."""
    apart = f"live and virtual time: {np.median(paired_distances(runs)):.3f} apart"
    between = seed_distances(runs)
    return f"{apart}\ntwo seeds: {np.median(between):.3f} apart" if between else apart

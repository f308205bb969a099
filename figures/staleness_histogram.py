"""Fig. 1 left: how old the rows are that workers read, SSP against ESSP."""

import numpy as np
from matplotlib.axes import Axes

from figures.kit import DASHES, LOOKS, Runs, Sheet, percent
from figures.measures import ages, shares

X_LABEL = "clock differential: (row clock − 1) − reader's clock"
INVISIBLE = 0.004  # a marker on the axis would only hide it


def draw(runs: Runs, sheet: Sheet) -> None:
    """A row of panels per minibatch, a column per slack."""
    fractions = sorted(runs.values("fraction"), reverse=True)
    slacks = runs.values("slack")
    grid = sheet.axes(len(fractions), len(slacks), 1.85 * len(fractions) + 0.35, sharey="row")
    for i, fraction in enumerate(fractions):
        for j, slack in enumerate(slacks):
            axes = grid[i, j]
            if not runs.has(fraction=fraction, slack=slack):
                axes.set_axis_off()
                continue
            name = f"s = {slack}, one clock = {percent(fraction)} of the data"
            panel(axes, runs.select(fraction=fraction, slack=slack), slack, sheet, name)
            axes.set_title(name)
        grid[i, 0].set_ylabel("share of reads")
    sheet.figure.supxlabel(X_LABEL, fontsize=8)


def remarks(runs: Runs) -> str:
    """Where ESSP's reads concentrate."""
    found = []
    for fraction in sorted(runs.values("fraction"), reverse=True):
        same = runs.select(fraction=fraction, policy="essp")
        peaks, means = [], []
        for slack in same.values("slack"):
            chosen = same.select(slack=slack)
            x, found_shares = shares(chosen, slack)
            peaks.append(int(x[np.median(found_shares, axis=0).argmax()]))
            means.append(float(np.median([ages(trace).mean() for trace in chosen])))
        modes = " or ".join(f"{peak}" for peak in sorted(set(peaks)))
        age = " to ".join(dict.fromkeys(f"{mean:.1f}" for mean in (min(means), max(means))))
        found.append(f"at {percent(fraction)} its peak is at {modes}, its mean age {age}")
    return f"ESSP over these slacks: {'; '.join(found)} clocks."


def panel(axes: Axes, runs: Runs, slack: int, sheet: Sheet, name: str) -> None:
    """Both policies' histograms over the differentials -(slack + 1) .. -1, and the uniform law."""
    edges = np.arange(-(slack + 1) - 0.5, 0)
    for policy in ("ssp", "essp"):
        if not runs.has(policy=policy):
            continue
        chosen = runs.select(policy=policy)
        x, found = shares(chosen, slack)
        middle, low, high = np.median(found, axis=0), found.min(axis=0), found.max(axis=0)
        look = LOOKS[policy]
        axes.stairs(middle, edges, fill=True, color=look.colour, alpha=0.32, linewidth=0)
        axes.stairs(middle, edges, color=look.colour, linewidth=1.1, zorder=3)
        seen = high > INVISIBLE
        axes.errorbar(
            x[seen],
            middle[seen],
            [(middle - low)[seen], (high - middle)[seen]],
            fmt=look.marker,
            color=look.colour,
            markersize=3.5 if slack < 20 else 2,
            elinewidth=0.8,
            zorder=4,
            label=f"{look.name}, mean age {np.median([ages(t).mean() for t in chosen]):.1f}",
        )
        sheet.record(name, look.name, x.tolist(), middle.tolist(), low.tolist(), high.tolist())
    axes.plot(
        edges[[0, -1]], [1 / (slack + 1)] * 2, color="#222222", linestyle=DASHES, linewidth=1, label="uniform"
    )
    axes.legend(loc="upper left", handlelength=1.4, borderaxespad=0.2)
    axes.grid(axis="x", visible=False)
    axes.set_xticks([-(slack + 1) + slack * i // 4 for i in range(5)])
    axes.set_ylim(0)

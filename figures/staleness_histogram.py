"""Fig. 1 left: how old the rows are that workers read, SSP against ESSP, at three slacks and two minibatches."""

import numpy as np
from matplotlib.axes import Axes

from figures.kit import LOOKS, Runs, Sheet, percent

ALL_LATER = 2**31 - 1


def draw(runs: Runs, sheet: Sheet) -> None:
    """A row of panels per minibatch, a column per slack."""
    fractions = sorted(runs.values("fraction"), reverse=True)
    slacks = runs.values("slack")
    grid = sheet.axes(len(fractions), len(slacks), 1.9 * len(fractions) + 0.3, sharey="row")
    for row, fraction in zip(grid, fractions, strict=True):
        for axes, slack in zip(row, slacks, strict=True):
            if runs.has(fraction=fraction, slack=slack):
                panel(axes, runs.select(fraction=fraction, slack=slack), slack, sheet, f"{percent(fraction)}, s={slack}")
                axes.set_title(f"s = {slack}, one clock = {percent(fraction)} of the data")
            else:
                axes.set_axis_off()
        row[0].set_ylabel("share of reads")
        row[0].set_ylim(0)
    for axes in grid[-1]:
        axes.set_xlabel("clock differential  (row clock − 1) − reader's clock")


def panel(axes: Axes, runs: Runs, slack: int, sheet: Sheet, name: str) -> None:
    """Both policies' histograms over the differentials -(slack + 1) .. -1, bars over seeds, and the uniform law."""
    x = np.arange(-(slack + 1), 0)
    for policy, alpha in (("ssp", 0.35), ("essp", 0.3)):
        if not runs.has(policy=policy):
            continue
        ages = [t.staleness().between(1, ALL_LATER) for t in runs.select(policy=policy)]
        shares = np.array([[a.histogram().get(d, 0.0) for d in x.tolist()] for a in ages])
        middle, low, high = np.median(shares, axis=0), shares.min(axis=0), shares.max(axis=0)
        look = LOOKS[policy]
        mean = float(np.median([a.mean() for a in ages]))
        edges = np.arange(-(slack + 1) - 0.5, 0)
        axes.stairs(middle, edges, fill=True, color=look.colour, alpha=alpha, linewidth=0)
        axes.stairs(middle, edges, color=look.colour, linewidth=1.1, zorder=3)
        small = slack > 20
        axes.errorbar(
            x,
            middle,
            np.maximum([middle - low, high - middle], 0),
            fmt=look.marker,
            color=look.colour,
            markersize=2.0 if small else 3.5,
            elinewidth=0.8,
            zorder=4,
            label=f"{look.name}, mean age {mean:.1f}",
        )
        sheet.record(name, look.name, x.tolist(), middle.tolist(), low.tolist(), high.tolist())
    axes.plot(
        [-(slack + 1) - 0.5, -0.5], [1 / (slack + 1)] * 2, color="#222222", linestyle=(0, (4, 2)), linewidth=1, label="uniform"
    )
    axes.legend(loc="upper left", handlelength=1.4, borderaxespad=0.2)
    axes.grid(axis="x", visible=False)
    ticks = [-1, *range(-(slack + 1), -1, max(1, round((slack + 1) / 4)))]
    axes.set_xticks(sorted(t for t in ticks if t == -1 or t < -1 - slack / 12))

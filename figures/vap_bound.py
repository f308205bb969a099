"""V-1: how far views are from the reference state, and the regret under Theorem 1."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from figures.kit import DASHES, Runs, Sheet, shade

LOWEST = 3e-3
WINDOW = 20  # computations: so many views of one run
APPS = {"absolute": "absolute loss, no noise", "huber": "Huber loss, noisy"}


def draw(runs: Runs, sheet: Sheet) -> None:
    """A row per loss: distances on the left, regret on the right."""
    grid = sheet.axes(2, 2, 5.2, sharex="col", width_ratios=(1, 1.15))
    for row, (app, name) in zip(grid, APPS.items(), strict=True):
        same = runs.select(app=app)
        distances(row[0], same, name, sheet)
        regrets(row[1], same, name, sheet)
    for axes in grid[1]:
        axes.set_xlabel("t: computations started")
    grid[0, 0].legend(loc="upper left", ncols=3, title="starting threshold", bbox_to_anchor=(0.0, 0.97))
    grid[0, 1].legend(loc="upper right")


def colours(runs: Runs) -> dict[float, tuple[float, float, float]]:
    """A shade for every v0, light to dark."""
    values = runs.values("v0")
    return {v0: shade("vap", i / max(1, len(values) - 1)) for i, v0 in enumerate(values)}


def distances(axes: Axes, runs: Runs, name: str, sheet: Sheet) -> None:
    """Distance over v_t in windows of t: median, middle four fifths, and the largest of all runs."""
    for v0, colour in colours(runs).items():
        every = runs.select(v0=v0).column("distance")
        t, label = np.arange(1, every.shape[1] + 1), f"v0 = {v0:g}"
        windows = len(t) // WINDOW
        views = every[:, : windows * WINDOW].reshape(len(every), windows, WINDOW).swapaxes(0, 1)
        low, middle, high = np.quantile(views.reshape(windows, -1), (0.1, 0.5, 0.9), axis=1)
        x = (np.arange(windows) + 0.5) * WINDOW
        axes.fill_between(x, low, high, color=colour, alpha=0.3, linewidth=0)
        axes.plot(x, middle, color=colour, linewidth=1.2, label=label)
        largest = views.max(axis=(1, 2))
        axes.plot(x, largest, ".", markersize=4, color=colour)
        sheet.record(f"distance, largest of all runs, {name}", label, t.tolist(), every.max(axis=0).tolist())
        sheet.record(
            f"distance in windows, {name}", label, x.tolist(), middle.tolist(), low.tolist(), high.tolist()
        )
    axes.axhline(1.0, color="#222222", linestyle=DASHES, linewidth=0.9)
    axes.annotate("v_t: nothing may be above", (1.0, 1.0), (-2, 3), xycoords=("axes fraction", "data"),
                  textcoords="offset points", ha="right", fontsize=7)  # fmt: skip
    axes.set(ylim=(-0.03, 1.5), title=name, ylabel="distance from $\\hat{x}_t$, share of v_t")
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1.0])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))


def regrets(axes: Axes, runs: Runs, name: str, sheet: Sheet) -> None:
    """R/T of all runs, and what Theorem 1 allows, as corrected and as printed."""
    for v0, colour in colours(runs).items():
        same, label = runs.select(v0=v0), f"v0 = {v0:g}"
        t = np.arange(1, same.column("regret").shape[1] + 1)
        at = np.unique(np.geomspace(1, len(t), 80).astype(int)) - 1
        panel = f"regret, {name}"
        sheet.band(axes, panel, f"R/T, {label}", t[at], same.column("regret")[:, at], color=colour)
        for column, style, width in (("bound", "--", 1.2), ("printed", ":", 1.0)):
            curve = np.median(same.column(column)[:, at], axis=0)
            axes.plot(t[at], curve, color=colour, linestyle=style, linewidth=width)
            sheet.record(panel, f"{column}, {label}", t[at].tolist(), curve.tolist())
    for style, words in (
        ("-", "regret, all runs"),
        ("--", "Theorem 1, corrected"),
        (":", "Theorem 1 as printed"),
    ):
        axes.plot([], [], color="#444444", linestyle=style, label=words)
    axes.set(
        xscale="log", yscale="log", ylim=(LOWEST, 60), title=name, ylabel="regret R/T, loss per computation"
    )


def remarks(runs: Runs) -> str:
    """The numbers behind the claim."""
    views = runs.column("distance").size
    wrong, over = int(runs.column("violations").sum()), float(runs.column("over").max())
    flights = [f"{np.median(runs.select(v0=v0).column('in_flight')):.1f}" for v0 in runs.values("v0")]
    return (
        f"Of {views:,} views {wrong} are further away than v_t; the regret reaches {over:.0%} of the bound "
        "at most. "
        f"Computations in flight: {', '.join(flights)}."
    )

"""Fig. 2, rows 2 and 3: training loss of matrix factorization over clocks and over emulated seconds."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from figures.kit import LOOKS, Runs, Sheet, common_grid, percent, shade

CEILING = 20.0


class Curve(NamedTuple):
    """One policy and slack."""

    policy: str
    slack: int
    place: float  # in the policy's colours, from light to dark
    dashes: str | tuple[int, tuple[int, ...]]


SHOWN = {
    0.1: (
        Curve("bsp", 0, 0.5, "-"),
        Curve("ssp", 8, 0.0, "-"),
        Curve("ssp", 16, 0.5, (0, (5, 1))),
        Curve("ssp", 48, 1.0, (0, (2, 1))),
        Curve("essp", 8, 0.2, "-"),
        Curve("essp", 48, 0.9, (0, (2, 2))),
    ),
    0.01: (
        Curve("bsp", 0, 0.5, "-"),
        Curve("ssp", 8, 0.0, "-"),
        Curve("ssp", 48, 0.5, (0, (5, 1))),
        Curve("ssp", 64, 1.0, (0, (2, 1))),
        Curve("essp", 8, 0.2, "-"),
        Curve("essp", 48, 0.9, (0, (2, 2))),
    ),
}
STEPS = {0.1: 0.005, 0.01: 0.02}


def draw(runs: Runs, sheet: Sheet) -> None:
    """A row of panels per minibatch: over clocks, over seconds."""
    fractions = [f for f in SHOWN if runs.has(fraction=f, step=STEPS[f])]
    grid = sheet.axes(len(fractions), 2, 2.45 * len(fractions), sharey="row")
    for (left, right), fraction in zip(grid, fractions, strict=True):
        step = STEPS[fraction]
        rows(left, right, runs.select(fraction=fraction, step=step), fraction, sheet)
        left.set_title(f"per clock: one clock = {percent(fraction)} of the data, step {step:g}")
        right.set_title("per emulated second")
        left.set(xlabel="clock", ylabel="training loss (log)")
        right.set(xlabel="emulated time, s")
        right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def rows(left: Axes, right: Axes, runs: Runs, fraction: float, sheet: Sheet) -> None:
    """Both panels of one minibatch; a loss that leaves the axis is marked where it does."""
    for curve in SHOWN[fraction]:
        chosen = {"policy": curve.policy, "slack": curve.slack}
        if not runs.has(**chosen):
            continue
        clocks, seconds, values = common_grid(runs.select(**chosen))
        look = LOOKS[curve.policy]
        colour = shade(curve.policy, curve.place)
        label = look.name if curve.policy == "bsp" else f"{look.name}, s = {curve.slack}"
        style = {
            "color": colour,
            "linestyle": curve.dashes,
            "marker": look.marker,
            "markersize": 3,
            "markevery": max(1, len(clocks) // 10),
            "label": label,
            "zorder": 4 if curve.policy == "essp" else 3,
        }
        shown = np.minimum(values, 10 * CEILING)
        sheet.band(left, f"{percent(fraction)} per clock", label, clocks, shown, **style)
        time, on_time = over_seconds(seconds, shown)
        sheet.band(right, f"{percent(fraction)} per second", label, time, on_time, **style)
        for axes, x, y in ((left, clocks, np.median(shown, axis=0)), (right, time, np.median(on_time, axis=0))):
            mark_exit(axes, x, y, colour)
    for axes in (left, right):
        axes.set_yscale("log")
        axes.set_ylim(0.6, CEILING)
        axes.set_yticks([0.7, 1, 2, 5, 10, 20], ["0.7", "1", "2", "5", "10", "20"])
        axes.minorticks_off()
        axes.set_xlim(0)


def over_seconds(seconds, values):
    """Curves of all seeds on common times (n,): values (seeds, n), constant after a run's end."""
    ends = [row[np.isfinite(row)][-1] for row in seconds]
    time = np.linspace(0, float(np.median(ends)), values.shape[1])
    on_time = [
        np.interp(time, s[np.isfinite(s)], v[np.isfinite(s)], right=v[-1]) for s, v in zip(seconds, values, strict=True)
    ]
    return time, np.array(on_time)


def mark_exit(axes: Axes, x, y, colour) -> None:
    """An arrow at the upper edge where the median leaves the axis."""
    above = np.flatnonzero(y > CEILING)
    if len(above):
        axes.annotate(
            "",
            xy=(x[above[0]], CEILING),
            xytext=(x[above[0]], CEILING * 0.72),
            arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0},
            annotation_clip=False,
            zorder=6,
        )

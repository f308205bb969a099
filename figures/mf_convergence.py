"""Fig. 2, rows 2 and 3: training loss of matrix factorization over clocks and over emulated seconds."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from figures.kit import LOOKS, Dashes, Floats, Runs, Sheet, common_grid, percent, shade

CEILING, FLOOR = 20.0, 0.62
LOSS_TICKS = (0.7, 1, 2, 5, 10, 20)
STEPS = {0.1: 0.005, 0.01: 0.02}


class Curve(NamedTuple):
    """One policy and slack, and how it is told from the others of its policy."""

    policy: str
    slack: int
    place: float  # in the policy's colours, from light to dark
    dashes: Dashes

    @property
    def label(self) -> str:
        """As in the legend."""
        name = LOOKS[self.policy].name
        return name if self.policy == "bsp" else f"{name}, s = {self.slack}"


def curves(*ssp_slacks: int) -> tuple[Curve, ...]:
    """BSP, SSP at three slacks, ESSP at the smallest and a large one."""
    looks: tuple[tuple[float, Dashes], ...] = ((0.0, "-"), (0.5, (0, (5, 1))), (1.0, (0, (2, 1))))
    ssp = (Curve("ssp", s, place, dashes) for s, (place, dashes) in zip(ssp_slacks, looks, strict=True))
    return (
        Curve("bsp", 0, 0.5, "-"),
        *ssp,
        Curve("essp", 8, 0.2, "-"),
        Curve("essp", 48, 0.9, (0, (1, 1.5))),
    )


SHOWN = {0.1: curves(8, 16, 48), 0.01: curves(8, 48, 64)}


def draw(runs: Runs, sheet: Sheet) -> None:
    """A row of panels per minibatch: over clocks, over seconds."""
    fractions = [f for f in SHOWN if runs.has(fraction=f, step=STEPS[f])]
    grid = sheet.axes(len(fractions), 2, 2.5 * len(fractions), sharey="row")
    for (left, right), fraction in zip(grid, fractions, strict=True):
        step = STEPS[fraction]
        same = runs.select(fraction=fraction, step=step)
        for curve in SHOWN[fraction]:
            if same.has(policy=curve.policy, slack=curve.slack):
                clocks, seconds, losses = common_grid(same.select(policy=curve.policy, slack=curve.slack))
                line(left, f"{percent(fraction)} per clock", curve, clocks, losses, sheet)
                line(
                    right,
                    f"{percent(fraction)} per second",
                    curve,
                    *over_seconds(seconds, losses),
                    sheet=sheet,
                )
        left.set(
            title=f"one clock = {percent(fraction)} of the data, step {step:g}: per clock", xlabel="clock"
        )
        right.set(title="the same per emulated second", xlabel="emulated time, s")
        left.set_ylabel("training loss (log)")
        right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def line(axes: Axes, panel: str, curve: Curve, x: Floats, losses: Floats, sheet: Sheet) -> None:
    """Median and band of ``losses`` (seeds, n); where the median leaves the axis, an arrow."""
    look, colour = LOOKS[curve.policy], shade(curve.policy, curve.place)
    losses = np.minimum(losses, 10 * CEILING)
    sheet.band(
        axes,
        panel,
        curve.label,
        x,
        losses,
        color=colour,
        linestyle=curve.dashes,
        marker=look.marker,
        markersize=3,
        markevery=max(1, len(x) // 10),
        label=curve.label,
        zorder=4 if curve.policy == "essp" else 3,
    )
    axes.set(yscale="log", ylim=(FLOOR, CEILING), xlim=(0, None))
    axes.set_yticks(LOSS_TICKS, [f"{tick:g}" for tick in LOSS_TICKS])
    axes.minorticks_off()
    beyond = np.flatnonzero(np.median(losses, axis=0) > CEILING)
    if len(beyond):
        axes.annotate(
            "",
            xy=(x[beyond[0]], CEILING),
            xytext=(x[beyond[0]], CEILING * 0.7),
            arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0},
            annotation_clip=False,
            zorder=6,
        )


def over_seconds(seconds: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """Bring the seeds' curves (seeds, n), each over its own ``seconds``, to common times (n,)."""
    ended = [np.isfinite(row) for row in seconds]
    time = np.linspace(0, float(np.median([row[e][-1] for row, e in zip(seconds, ended, strict=True)])), 101)
    return time, np.array(
        [
            np.interp(time, s[e], v[e], right=v[-1])
            for s, v, e in zip(seconds, np.minimum(losses, 10 * CEILING), ended, strict=True)
        ]
    )

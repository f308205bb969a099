"""Fig. 2, rows 2 and 3: training loss of matrix factorization over clocks and over emulated seconds."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from figures.kit import LOOKS, Dashes, Floats, Runs, Sheet, common_grid, log_axis, percent, shade
from figures.measures import final_loss

Ends = tuple[float, float]
WIDE: Ends = (0.62, 20.0)  # shows divergence
NEAR: Ends = (0.66, 1.5)  # shows who converges sooner
TICKS = {WIDE: (0.7, 1, 2, 5, 10, 20), NEAR: (0.7, 0.8, 0.9, 1, 1.2, 1.5)}
BEYOND = 1e3  # a loss is drawn as far off as this
STEPS = {0.1: 0.005, 0.01: 0.02}
DASHED: Dashes = (0, (3.5, 1.8))
BROAD = 3.2  # width of BSP's line: per clock ESSP's lies on it


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
    looks: tuple[tuple[float, Dashes], ...] = ((0.0, "-"), (0.5, DASHED), (1.0, (0, (1.5, 1))))
    ssp = (Curve("ssp", s, place, dashes) for s, (place, dashes) in zip(ssp_slacks, looks, strict=True))
    return (
        Curve("bsp", 0, 0.5, "-"),
        *ssp,
        Curve("essp", 8, 0.2, "-"),
        Curve("essp", 48, 0.9, (0, (1, 1.5))),
    )


SHOWN = {0.1: curves(8, 16, 48), 0.01: curves(8, 48, 64)}


def shown(runs: Runs) -> Runs:
    """The curves, each at the step of its minibatch."""
    return runs.any_of(
        {"fraction": fraction, "step": STEPS[fraction], "policy": curve.policy, "slack": curve.slack}
        for fraction, those in SHOWN.items()
        for curve in those
    )


def draw(runs: Runs, sheet: Sheet) -> None:
    """A row of panels per minibatch: over clocks, over seconds."""
    fractions = [f for f in SHOWN if runs.has(fraction=f, step=STEPS[f])]
    grid = sheet.axes(len(fractions), 2, 2.5 * len(fractions))
    for (left, right), fraction in zip(grid, fractions, strict=True):
        step = STEPS[fraction]
        same = runs.select(fraction=fraction, step=step)
        for curve in SHOWN[fraction]:
            if same.has(policy=curve.policy, slack=curve.slack):
                clocks, seconds, losses = common_grid(same.select(policy=curve.policy, slack=curve.slack))
                time, on_time = over_seconds(seconds, losses)
                line(left, f"{percent(fraction)} per clock", curve, clocks, losses, WIDE, sheet)
                line(right, f"{percent(fraction)} per second", curve, time, on_time, NEAR, sheet)
        left.set(title=f"one clock = {percent(fraction)} of the data, step {step:g}", xlabel="clock")
        right.set(title="the same per emulated second, nearer", xlabel="emulated time, s")
        left.set_ylabel("training loss (log)")
        right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=3)


def remarks(runs: Runs) -> str:
    """Where the shown curves end."""
    found = []
    for fraction in (f for f in SHOWN if runs.has(fraction=f, step=STEPS[f])):
        ends = []
        same = runs.select(fraction=fraction, step=STEPS[fraction])
        for curve in SHOWN[fraction]:
            if same.has(policy=curve.policy, slack=curve.slack):
                chosen = same.select(policy=curve.policy, slack=curve.slack)
                last = float(np.median([final_loss(trace) for trace in chosen]))
                ends.append(f"{curve.label} {f'{last:.3g}' if np.isfinite(last) else 'not finite'}")
        found.append(f"Median loss after the last clock, {percent(fraction)}: {'; '.join(ends)}.")
    return " ".join(found)


def line(axes: Axes, panel: str, curve: Curve, x: Floats, losses: Floats, ends: Ends, sheet: Sheet) -> None:
    """Median and band of ``losses`` (seeds, n) on an axis from ``ends[0]`` to ``ends[1]``.

    What is off the axis for a while is cut there; an arrow shows where the median leaves it for good.
    """
    look, colour = LOOKS[curve.policy], shade(curve.policy, curve.place)
    middle = np.minimum(np.median(losses, axis=0), BEYOND)
    within = np.flatnonzero(middle <= ends[1])
    if len(within) and within[-1] + 1 < len(middle):
        leaves = slice(within[-1], within[-1] + 2)
        mark_exit(axes, x[leaves], middle[leaves], ends[1], colour)
    sheet.band(
        axes,
        panel,
        curve.label,
        x,
        losses,
        ceiling=BEYOND,
        color=colour,
        linestyle=curve.dashes,
        marker=look.marker,
        markersize=3,
        markevery=max(1, len(x) // 10),
        label=curve.label,
        linewidth=BROAD if curve.policy == "bsp" else 1.4,
        alpha=0.5 if curve.policy == "bsp" else 1.0,
        zorder=4 if curve.policy == "essp" else 3,
    )
    log_axis(axes, "y", TICKS[ends])
    axes.set(ylim=ends, xlim=(0, None))


def mark_exit(axes: Axes, x: Floats, y: Floats, end: float, colour: tuple[float, float, float]) -> None:
    """An arrow at the upper ``end`` of the axis, where the line between two points, (2,) each, leaves it."""
    at = np.interp(np.log(end), np.log(y), x)
    axes.annotate(
        "",
        xy=(at, 1.03),
        xytext=(at, 0.93),
        xycoords=axes.get_xaxis_transform(),
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0},
        annotation_clip=False,
        zorder=6,
    )


def over_seconds(seconds: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """Bring the seeds' curves (seeds, n), each over its own ``seconds``, to common times (m,).

    The times reach to the median end of the runs that went on to their end, if there are any. A stopped run
    is infinite after its last finite value, the others stay at their final one.
    """
    known = np.isfinite(seconds) & np.isfinite(losses)
    ends = np.array([s[k][-1] for s, k in zip(seconds, known, strict=True)])
    complete = known.all(axis=1)
    time = np.linspace(0, np.median(ends[complete]) if complete.any() else ends.max(), 101)
    curves = zip(seconds, losses, known, strict=True)
    return time, np.array([np.interp(time, s[k], v[k], right=v[-1]) for s, v, k in curves])

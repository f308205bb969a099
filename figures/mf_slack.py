"""F2M-1, -2, -3: what the slack does to the final loss and to the largest rise of the loss."""

import numpy as np
from matplotlib.axes import Axes

from figures.kit import LOOKS, Runs, Sheet

CEILING = 1e3


def draw(runs: Runs, sheet: Sheet) -> None:
    """Final loss over BSP's, and excursion, over the slack."""
    (grid,) = sheet.axes(1, 2, 2.7)
    runs = runs.select(fraction=0.1, step=0.005)
    bsp = np.array([t.final_loss() for t in runs.select(policy="bsp")])
    slacks = sorted({s for p in ("ssp", "essp") for s in runs.select(policy=p).values("slack")})
    for policy in ("ssp", "essp"):
        ours = runs.select(policy=policy)
        there = [s for s in slacks if ours.has(slack=s)]
        finals = [[t.final_loss() for t in ours.select(slack=s)] / bsp for s in there]
        rises = [[t.excursion() for t in ours.select(slack=s)] for s in there]
        x = [slacks.index(s) for s in there]
        points(grid[0], "final loss", policy, x, there, finals, sheet)
        points(grid[1], "excursion", policy, x, there, rises, sheet)
    for axes in grid:
        axes.set_yscale("log")
        axes.set_xticks(range(len(slacks)), [str(s) for s in slacks])
        axes.set_xlabel("slack s")
        axes.set_ylim(0.8, CEILING * 1.6)
        axes.legend(loc="upper left")
    limit(grid[0], 2.0, "SSP at s = 48 is expected above 2", len(slacks))
    limit(grid[1], 1.2, "", len(slacks))
    grid[0].set(title="final loss, relative to BSP's", ylabel="final loss / BSP's (log)")
    grid[1].set(title="excursion: largest loss / smallest loss before it", ylabel="excursion (log)")


def points(axes: Axes, panel: str, policy: str, x: list[int], slacks: list[int], values, sheet: Sheet) -> None:
    """Median over seeds with every seed as a small mark; a value above the axis as an arrow at its upper edge."""
    look = LOOKS[policy]
    middle = [float(np.median(v)) for v in values]
    axes.plot(x, np.minimum(middle, CEILING), color=look.colour, marker=look.marker, label=look.name, zorder=4, markersize=5)
    for place, seeds in zip(x, values, strict=True):
        offsets = np.linspace(-0.12, 0.12, len(seeds)) if len(seeds) > 1 else [0.0]
        for offset, value in zip(offsets, seeds, strict=True):
            beyond = value > CEILING
            axes.plot(
                place + offset,
                CEILING * 1.25 if beyond else value,
                "^" if beyond else ".",
                color=look.colour,
                markersize=4,
                alpha=0.55,
                markeredgewidth=0,
                zorder=3,
            )
    sheet.record(panel, look.name, slacks, middle, [min(v) for v in values], [max(v) for v in values])


def limit(axes: Axes, value: float, text: str, n: int) -> None:
    """A dashed line with its meaning."""
    axes.axhline(value, color="#222222", linestyle=(0, (4, 2)), linewidth=0.8)
    if text:
        axes.text(n - 0.9, value * 1.06, text, fontsize=6.5, ha="right", va="bottom")

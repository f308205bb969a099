"""F2M-5: how much sooner each policy reaches a target loss, per emulated second and per clock."""

import numpy as np

from figures.kit import DASHES, LOOKS, Runs, Sheet, percent
from figures.measures import to_target

PAIRS = (("bsp", "ssp"), ("ssp", "essp"), ("bsp", "essp"))
SLACK, STEP, TARGET_AT = 8, 0.005, 0.8


def shown(runs: Runs) -> Runs:
    """One step and slack."""
    others = [{"step": STEP, "policy": policy, "slack": SLACK} for policy in ("ssp", "essp")]
    return runs.any_of([{"step": STEP, "policy": "bsp"}, *others])


def draw(runs: Runs, sheet: Sheet) -> None:
    """A panel per minibatch, two lines per pair of policies."""
    fractions = [f for f in (0.1, 0.01) if runs.has(fraction=f)]
    (grid,) = sheet.axes(1, len(fractions), 2.1, sharex=True, sharey=True)
    names = [f"{LOOKS[slow].name} → {LOOKS[fast].name}" for slow, fast in PAIRS]
    for axes, fraction in zip(grid, fractions, strict=True):
        reached = to_target(runs.select(fraction=fraction), SLACK, TARGET_AT)
        for y, (slow, fast) in enumerate(PAIRS):
            look = LOOKS[fast]
            for unit, place, fill in (("second", 0.16, look.colour), ("clock", -0.16, "white")):
                ratios = reached[slow][unit] / reached[fast][unit]
                middle, low, high = (float(f(ratios)) for f in (np.median, np.min, np.max))
                axes.errorbar(
                    middle,
                    y + place,
                    xerr=[[middle - low], [high - middle]],
                    fmt=look.marker,
                    color=look.colour,
                    markerfacecolor=fill,
                    markersize=5.5,
                    capsize=2,
                )
                axes.annotate(
                    f"{middle:.2f} per {unit}",
                    (high, y + place),
                    (6, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=7,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
                )
                sheet.record(percent(fraction), names[y], [unit], [middle], [low], [high])
        axes.axvline(1, color="#222222", linestyle=DASHES, linewidth=0.8, zorder=0.5)
        axes.set_yticks(range(len(PAIRS)), names)
        axes.set(ylim=(-0.5, len(PAIRS) - 0.5), xlabel="speed-up to the target loss")
        axes.set_title(f"one clock = {percent(fraction)} of the data")
        axes.grid(axis="y", visible=False)
    grid[0].set_xlim(0.85, 2.7)

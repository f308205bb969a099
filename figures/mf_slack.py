"""F2M-1, -2, -3: what the slack does to the final loss and to the largest rise of the loss."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from figures.kit import DASHES, LOOKS, Runs, Sheet
from figures.measures import final_over_bsp

CEILING = 1e3
FRACTION, STEP = 0.1, 0.005


def draw(runs: Runs, sheet: Sheet) -> None:
    """Final loss over BSP's, and excursion, over the slack."""
    ((left, right),) = sheet.axes(1, 2, 2.7)
    runs = runs.select(fraction=FRACTION, step=STEP)
    slacks = sorted({s for p in ("ssp", "essp") for s in runs.select(policy=p).values("slack")})
    for policy in ("ssp", "essp"):
        chosen = {s: runs.select(policy=policy, slack=s) for s in runs.select(policy=policy).values("slack")}
        finals = {slack: final_over_bsp(runs, policy, slack) for slack in chosen}
        rises = {s: np.array([t.excursion() for t in same]) for s, same in chosen.items()}
        points(left, "final loss / BSP's", policy, finals, slacks, sheet)
        points(right, "excursion", policy, rises, slacks, sheet)
    for axes in (left, right):
        axes.set(yscale="log", ylim=(0.8, CEILING * 1.8), xlabel="slack s")
        axes.set_xticks(range(len(slacks)), [str(s) for s in slacks])
        ticks = [1, 2, 5, 10, 100, 1000]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.legend(loc="upper left", bbox_to_anchor=(0, 0.94))
    for axes, limit, slack, shift, side in ((left, 2.0, 48, 0.0, "center"), (right, 1.2, 8, 0.5, "left")):
        at = slacks.index(slack)
        ends = [at - 0.45, at + 0.45]
        axes.plot(ends, [limit, limit], color="#222222", linestyle=DASHES, linewidth=1, zorder=5)
        axes.text(at + shift, limit * 1.12, "SSP expected above", ha=side, fontsize=6.5)
    left.set(title="final loss, relative to BSP's", ylabel="final loss / BSP's (log)")
    right.set(title="excursion: largest / smallest loss before it", ylabel="excursion (log)")


def points(
    axes: Axes,
    panel: str,
    policy: str,
    values: dict[int, np.ndarray],
    slacks: list[int],
    sheet: Sheet,
) -> None:
    """Medians over seeds, joined, and every seed as a dot; what is beyond the axis lies at its upper edge."""
    look = LOOKS[policy]
    middle = {slack: float(np.median(seeds)) for slack, seeds in values.items()}
    x = [slacks.index(slack) for slack in values]
    shown = np.minimum(list(middle.values()), CEILING)
    axes.plot(x, shown, color=look.colour, marker=look.marker, markersize=5, label=look.name, zorder=4)
    for place, seeds in zip(x, values.values(), strict=True):
        beyond = seeds > CEILING
        across = place + (np.linspace(-0.14, 0.14, len(seeds)) if len(seeds) > 1 else np.zeros(1))
        dots: dict[str, Any] = {
            "color": look.colour,
            "alpha": 0.6,
            "markeredgewidth": 0,
            "linestyle": "",
            "zorder": 3,
        }
        axes.plot(across[~beyond], seeds[~beyond], marker="o", markersize=2.5, **dots)
        axes.plot(across[beyond], np.full(beyond.sum(), CEILING * 1.35), marker="^", markersize=3.5, **dots)
    low, high = ([float(f(seeds)) for seeds in values.values()] for f in (np.min, np.max))
    sheet.record(panel, look.name, list(values), list(middle.values()), low, high)

"""F2M-1, -2, -3: what the slack does to the final loss and to the largest rise of the loss."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from figures.kit import DASHES, LOOKS, Look, Runs, Sheet, log_axis
from figures.measures import excursion, final_over_bsp, stopped_at

CEILING = 1e3
EDGE = 1.35 * CEILING  # where what is beyond the ceiling is marked
FRACTION, STEP = 0.1, 0.005


def shown(runs: Runs) -> Runs:
    """One minibatch and step."""
    return runs.select(fraction=FRACTION, step=STEP)


def draw(runs: Runs, sheet: Sheet) -> None:
    """Final loss over BSP's, and excursion, over the slack."""
    ((left, right),) = sheet.axes(1, 2, 2.7)
    slacks = sorted({s for p in ("ssp", "essp") for s in runs.select(policy=p).values("slack")})
    for policy in ("ssp", "essp"):
        chosen = {s: runs.select(policy=policy, slack=s) for s in runs.select(policy=policy).values("slack")}
        finals = {slack: final_over_bsp(runs, policy, slack) for slack in chosen}
        rises = {s: np.array([excursion(t) for t in same]) for s, same in chosen.items()}
        points(left, "final loss / BSP's", policy, finals, slacks, sheet)
        points(right, "excursion", policy, rises, slacks, sheet)
    for axes in (left, right):
        log_axis(axes, "y", (1, 2, 5, 10, 100, 1000))
        axes.set(ylim=(0.8, CEILING * 3.2), xlabel="slack s")
        axes.set_xticks(range(len(slacks)), [str(s) for s in slacks])
        axes.legend(loc="upper left", bbox_to_anchor=(0, 0.88))
    for axes, limit, slack, shift, side in ((left, 2.0, 48, 0.0, "center"), (right, 1.2, 8, 0.5, "left")):
        at = slacks.index(slack)
        ends = [at - 0.45, at + 0.45]
        axes.plot(ends, [limit, limit], color="#222222", linestyle=DASHES, linewidth=1, zorder=5)
        axes.text(at + shift, limit * 1.12, "SSP expected above", ha=side, fontsize=6.5)
    left.set(title="final loss, relative to BSP's", ylabel="final loss / BSP's (log)")
    right.set(title="excursion: largest / smallest loss before it", ylabel="excursion (log)")


def remarks(runs: Runs) -> str:
    """Which runs have no final loss, and since when."""
    stopped = []
    for policy in ("ssp", "essp"):
        for slack in runs.select(policy=policy).values("slack"):
            same = runs.select(policy=policy, slack=slack)
            at = [clock for clock in map(stopped_at, same) if clock is not None]
            if at:
                clocks = f"clock {at[0]}" if len(at) == 1 else f"clocks {min(at)} to {max(at)}"
                stopped.append(f"{LOOKS[policy].name} s = {slack}: {len(at)} of {len(same)}, at {clocks}")
    if not stopped:
        return "Every run has a finite final loss."
    return f"Stopped by a value that is not finite, which counts as infinite: {'; '.join(stopped)}."


def mark_beyond(axes: Axes, x: float, look: Look) -> None:
    """An open marker at the upper edge, with an arrow over it."""
    style: dict[str, Any] = {"color": look.colour, "markerfacecolor": "white", "markersize": 5, "zorder": 5}
    axes.plot([x], [EDGE], marker=look.marker, linestyle="", clip_on=False, **style)
    axes.annotate(
        "",
        xy=(x, EDGE),
        xytext=(0, 13),
        textcoords="offset points",
        arrowprops={"arrowstyle": "<|-", "color": look.colour, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 4},
        annotation_clip=False,
    )


def points(
    axes: Axes,
    panel: str,
    policy: str,
    values: dict[int, np.ndarray],
    slacks: list[int],
    sheet: Sheet,
) -> None:
    """Medians over seeds, joined, and every seed as a dot.

    The line breaks at a median beyond the axis: an open marker with an arrow at the upper edge stands for it.
    """
    look = LOOKS[policy]
    middle = {slack: float(np.median(seeds)) for slack, seeds in values.items()}
    x = [slacks.index(slack) for slack in values]
    medians = np.array(list(middle.values()))
    shown = np.where(medians <= CEILING, medians, np.nan)
    axes.plot(x, shown, color=look.colour, marker=look.marker, markersize=5, label=look.name, zorder=4)
    for at in np.flatnonzero(medians > CEILING).tolist():
        mark_beyond(axes, x[at], look)
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
        dots |= {"markerfacecolor": "none", "markeredgewidth": 0.7}
        axes.plot(across[beyond], np.full(beyond.sum(), EDGE), marker="o", markersize=2.5, **dots)
    low, high = ([float(f(seeds)) for seeds in values.values()] for f in (np.min, np.max))
    sheet.record(panel, look.name, list(values), list(middle.values()), low, high)

"""F1L-4: does ESSP's concentration last? Mean age of reads over time, under three models of compute times."""

from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes

from figures.kit import DASHES, LOOKS, Floats, Runs, Sheet, log_axis
from figures.measures import mean_ages

REGIMES = {
    "near-equal": "near-equal, mean-reverting workers",
    "exponential": "independent random compute times",
    "straggler": "near-equal, but worker 0 twice as slow",
}
ITSELF = {"app": "mf", "policy": "essp", "fraction": 0.1}  # at the slack of the panels
MOST = 0.8
CLOCKS_PER_POINT = 10  # a point is the mean over as many clocks


def shown(runs: Runs) -> Runs:
    """The quadratic, its drift under ESSP alone, and one curve of matrix factorization."""
    slacks = runs.select(app="quadratic").values("slack")
    binding = [{"app": "quadratic", "preset": preset, "slack": min(slacks)} for preset in REGIMES]
    drifting = {"app": "quadratic", "preset": "exponential", "policy": "essp", "slack": max(slacks)}
    return runs.any_of([*binding, drifting, ITSELF | {"slack": min(slacks)}])


def draw(runs: Runs, sheet: Sheet) -> None:
    """Three panels over time at one slack, and the drift without bound on logarithmic axes."""
    grid = sheet.axes(2, 2, 4.4)
    quadratic = runs.select(app="quadratic")
    slack = min(quadratic.values("slack"))
    panels = dict(zip(REGIMES, grid.flat, strict=False))
    for preset, axes in panels.items():
        regime(axes, preset, quadratic.select(preset=preset, slack=slack), slack, sheet)
    first = panels["near-equal"]
    if runs.has(**ITSELF):
        name = "ESSP, matrix factorization"
        curve(first, "near-equal", name, runs.select(**ITSELF), sheet, "#111111", (0, (1, 1)))
    first.legend(loc="center right", bbox_to_anchor=(1, 0.27))
    panels["exponential"].legend(loc="lower right")
    panels["straggler"].legend(loc="lower right")
    drift(grid[1, 1], quadratic.select(preset="exponential", slack=max(quadratic.values("slack"))), sheet)


def remarks(runs: Runs) -> str:
    """How old ESSP's reads are late in the runs, and since when nearly as old as the slack allows."""
    quadratic = runs.select(app="quadratic", policy="essp")
    slack = min(quadratic.values("slack"))
    found = []
    for preset, words in REGIMES.items():
        clock, means = together(quadratic.select(preset=preset, slack=slack))
        middle = np.median(means, axis=0)
        late = float(middle[clock > 0.75 * clock[-1]].mean())
        text = f"{words}: {late:.1f} in the last quarter"
        if late >= MOST * slack:
            text += f", {MOST:.0%} of the slack from clock {clock[middle >= MOST * slack][0]} on"
        found.append(text)
    return f"ESSP's median of the mean age, s = {slack}: {'; '.join(found)}."


def regime(axes: Axes, preset: str, runs: Runs, slack: int, sheet: Sheet) -> None:
    """Mean age under both policies, below the slack."""
    for policy in ("ssp", "essp"):
        if runs.has(policy=policy):
            look = LOOKS[policy]
            curve(axes, preset, look.name, runs.select(policy=policy), sheet, look.colour, "-", look.marker)
    axes.axhline(slack, color="#222222", linestyle=DASHES, linewidth=1)
    axes.text(
        0.99, slack + 0.3, f"slack s = {slack}", ha="right", transform=axes.get_yaxis_transform(), fontsize=7
    )
    axes.set(title=REGIMES[preset], xlabel="clock", ylabel="mean age of reads, clocks")
    axes.set(xlim=(0, None), ylim=(0, slack * 1.2), yticks=range(0, slack + 1, max(1, slack // 4)))


def curve(
    axes: Axes, panel: str, name: str, runs: Runs, sheet: Sheet, colour: str, dashes: object, marker: str = ""
) -> None:
    """Mean age over time, in points of `CLOCKS_PER_POINT` clocks."""
    clock, means = together(runs)
    n = len(clock) // CLOCKS_PER_POINT * CLOCKS_PER_POINT
    x = clock[:n].reshape(-1, CLOCKS_PER_POINT).mean(axis=1)
    y = means[:, :n].reshape(len(means), -1, CLOCKS_PER_POINT).mean(axis=2)
    every = max(1, len(x) // 6)
    sheet.band(
        axes, panel, name, x, y, color=colour, linestyle=dashes, marker=marker, markevery=every, label=name
    )


def drift(axes: Axes, runs: Runs, sheet: Sheet) -> None:
    """Independent compute times, a slack that never binds: the mean age grows like the root of the clock."""
    look = LOOKS["essp"]
    clock, means = together(runs.select(policy="essp"))
    edges = np.unique(np.geomspace(1, clock[-1] + 1, 24).astype(int))
    bins = [(clock >= a) & (clock < b) for a, b in pairwise(edges)]
    x = np.array([clock[b].mean() for b in bins])
    binned = np.stack([means[:, b].mean(axis=1) for b in bins], axis=1)
    sheet.band(
        axes,
        "drift",
        look.name,
        x,
        binned,
        color=look.colour,
        marker=look.marker,
        markersize=3,
        label=look.name,
    )
    anchor = len(x) // 2
    root = np.median(binned, axis=0)[anchor] * np.sqrt(x / x[anchor])
    axes.plot(x, root, color="#222222", linestyle=DASHES, linewidth=1, label="∝ √clock")
    log_axis(axes, "x", (1, 10, 100))
    log_axis(axes, "y", (1, 2, 5, 10, 20, 50))
    axes.set(xlabel="clock", ylabel="mean age of reads, clocks (log)")
    axes.set_title("independent random times, no bound (log axes)")
    axes.legend(loc="upper left")


def together(runs: Runs) -> tuple[Floats, Floats]:
    """Clock (n,) from 1 on, and the mean age of the reads at it for every seed (seeds, n)."""
    clocks, means = zip(*(mean_ages(trace) for trace in runs), strict=True)
    return clocks[0], np.array(means)

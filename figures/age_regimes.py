"""F1L-4: does ESSP's concentration last? Mean age of reads over time, under three models of compute times."""

import numpy as np

from figures.kit import LOOKS, Runs, Sheet

REGIMES = {
    "near-equal": "near-equal, mean-reverting workers",
    "exponential": "independent random compute times",
    "straggler": "near-equal, worker 0 twice as slow",
}
NEVER_BINDS = 500  # a slack above this is there to show the drift alone


def draw(runs: Runs, sheet: Sheet) -> None:
    """Three panels over time at one slack, and the drift without bound on logarithmic axes."""
    grid = sheet.axes(2, 2, 4.6)
    quadratic = runs.select(app="quadratic")
    slack = min(quadratic.values("slack"))
    panels = dict(zip(REGIMES, grid.flat, strict=False))
    for preset, axes in panels.items():
        for policy in ("ssp", "essp"):
            chosen = {"preset": preset, "policy": policy, "slack": slack}
            if quadratic.has(**chosen):
                look = LOOKS[policy]
                clock, means = mean_ages(quadratic.select(**chosen))
                sheet.band(axes, preset, look.name, clock, means, color=look.colour, label=look.name)
                axes.plot(clock[-1], np.median(means, axis=0)[-1], look.marker, color=look.colour, clip_on=False)
        axes.axhline(slack, color="#222222", linestyle=(0, (4, 2)), linewidth=1)
        axes.text(clock[-1], slack + 0.2, f"slack s = {slack}", ha="right", va="bottom", fontsize=7)
        axes.set(title=REGIMES[preset], ylim=(0, slack * 1.18), xlabel="clock", ylabel="mean age of reads, clocks")
    cold(panels["near-equal"], runs, sheet)
    panels["near-equal"].legend(loc="center right", bbox_to_anchor=(1, 0.36))
    panels["exponential"].legend(loc="lower right")
    panels["straggler"].legend(loc="lower right")
    drift(grid[1, 1], quadratic, sheet)


def cold(axes, runs: Runs, sheet: Sheet) -> None:
    """Matrix factorization itself, with its rows registered first and from a cold start."""
    look = LOOKS["essp"]
    for app, style, label in (
        ("RegisteredMF", (0, (1, 1)), "ESSP, MF, 100 clocks"),
        ("mf", (0, (3, 1, 1, 1)), "the same, cold start"),
    ):
        chosen = {"app": app, "policy": "essp", "slack": 16, "fraction": 0.1}
        if runs.has(**chosen):
            clock, means = mean_ages(runs.select(**chosen))
            colour = "#111111" if app == "RegisteredMF" else "#56B4E9"
            sheet.band(axes, "near-equal", label, clock, means, color=colour, linestyle=style, label=label, zorder=4)
    del look


def drift(axes, quadratic: Runs, sheet: Sheet) -> None:
    """Independent compute times where the slack never binds: the mean age grows like the root of the clock."""
    look = LOOKS["essp"]
    slack = max(quadratic.values("slack"))
    clock, means = mean_ages(quadratic.select(preset="exponential", policy="essp", slack=slack))
    edges = np.unique(np.geomspace(1, clock[-1] + 1, 28).astype(int))
    bins = [(clock >= a) & (clock < b) for a, b in zip(edges[:-1], edges[1:], strict=True)]
    x = np.array([clock[b].mean() for b in bins])
    binned = np.stack([means[:, b].mean(axis=1) for b in bins], axis=1)
    sheet.band(
        axes, "drift", "ESSP, no bound", x, binned, color=look.colour, marker=look.marker, markersize=3, label="ESSP, no bound"
    )
    middle = np.median(binned, axis=0)
    anchor = len(x) * 2 // 3
    axes.plot(x, middle[anchor] * np.sqrt(x / x[anchor]), color="#222222", linestyle=(0, (4, 2)), linewidth=1, label="√clock")
    axes.set(
        xscale="log",
        yscale="log",
        title="independent random compute times, slack never binds",
        xlabel="clock",
        ylabel="mean age of reads, clocks",
    )
    axes.legend(loc="upper left")


def mean_ages(runs: Runs):
    """Clock (n,) from 1 on, and mean age of the reads at it for every seed (seeds, n)."""
    curves = [t.staleness().between(1, 2**31 - 1).mean_by_clock() for t in runs]
    n = min(len(c["clock"]) for c in curves)
    return curves[0]["clock"][:n], np.array([c["mean"][:n] for c in curves])

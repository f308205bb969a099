"""F2M-5: how much sooner each policy reaches a target loss, per emulated second and per clock."""

import numpy as np

from figures.kit import LOOKS, Runs, Sheet, percent

PAIRS = (("bsp", "ssp"), ("ssp", "essp"), ("bsp", "essp"))
SLACK, STEP, TARGET_AT = 8, 0.005, 0.8


def draw(runs: Runs, sheet: Sheet) -> None:
    """A panel per minibatch, a line per pair of policies."""
    fractions = [f for f in (0.1, 0.01) if runs.has(fraction=f, step=STEP)]
    (grid,) = sheet.axes(1, len(fractions), 2.1, sharex=True)
    for axes, fraction in zip(grid, fractions, strict=True):
        same = runs.select(fraction=fraction, step=STEP)
        reached = times(same)
        for y, (slow, fast) in enumerate(PAIRS):
            label = f"{LOOKS[slow].name} → {LOOKS[fast].name}"
            for what, place, filled in (("seconds", 0.13, True), ("clocks", -0.13, False)):
                ratios = reached[slow][what] / reached[fast][what]
                middle, low, high = np.median(ratios), ratios.min(), ratios.max()
                axes.errorbar(
                    middle,
                    y + place,
                    xerr=[[middle - low], [high - middle]],
                    fmt=LOOKS[fast].marker,
                    color=LOOKS[fast].colour,
                    markerfacecolor=LOOKS[fast].colour if filled else "white",
                    markersize=6,
                    capsize=2,
                )
                axes.annotate(
                    f"{middle:.2f} per {what[:-1]}", (high, y + place), (6, 0), textcoords="offset points", va="center", fontsize=7
                )
                sheet.record(percent(fraction), label, [what], [middle], [low], [high])
        axes.axvline(1, color="#222222", linestyle=(0, (4, 2)), linewidth=0.8)
        axes.set_yticks(range(len(PAIRS)), [f"{LOOKS[a].name} → {LOOKS[b].name}" for a, b in PAIRS])
        axes.set(ylim=(-0.5, len(PAIRS) - 0.5), xlabel="speed-up to the target loss", title=f"one clock = {percent(fraction)}")
        axes.grid(axis="y", visible=False)
    grid[0].set_xlim(0.9, 2.6)


def times(runs: Runs) -> dict[str, dict[str, np.ndarray]]:
    """Seconds and clocks to BSP's loss at a share of its clocks, by policy, one value per seed."""
    chosen = {"bsp": runs.select(policy="bsp")}
    chosen |= {p: runs.select(policy=p, slack=SLACK) for p in ("ssp", "essp")}
    targets = []
    for trace in chosen["bsp"]:
        loss = trace.loss()
        targets.append(float(loss["value"][loss["clock"] <= TARGET_AT * loss["clock"][-1]][-1]))
    return {
        policy: {
            "seconds": np.array([t.seconds_to(v) for t, v in zip(same, targets, strict=True)]),
            "clocks": np.array([t.clocks_to(v) for t, v in zip(same, targets, strict=True)]),
        }
        for policy, same in chosen.items()
    }

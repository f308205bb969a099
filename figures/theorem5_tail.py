"""T5-1: the tail of R/T over runs, with the bounds that hold and the levels of those that say nothing."""

import numpy as np
from matplotlib.axes import Axes

from figures.kit import DASHES, LOOKS, Floats, Runs, Sheet
from figures.tails import Levels, band, run_tail

DELTA = 0.001
CLOSE = 1.2  # the ratio of two levels between which there is no room for a name
HALF = 200  # seeds that train; the same number of fresh ones tests


def draw(runs: Runs, sheet: Sheet) -> None:
    """A panel per policy."""
    grid = sheet.axes(2, 1, 5.4, sharex=True, sharey=True)
    for axes, policy in zip(grid[:, 0], ("ssp", "essp"), strict=True):
        panel(axes, runs.select(policy=policy), policy, sheet)
        axes.set_ylabel("share of runs beyond x")
    grid[1, 0].set_xlabel("x: mean regret R/T, loss per read")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    legend = sheet.figure.legend(handles, labels, loc="outside lower center", ncols=4)
    for handle in legend.legend_handles[:-1]:  # of either colour
        handle.set_color("#777777")
    legend.legend_handles[0].set_alpha(0.25)


def panel(axes: Axes, runs: Runs, policy: str, sheet: Sheet) -> None:
    """Survival, band, bound and levels of one policy, these with their ratio to the median."""
    regret, look = runs.column("regret"), LOOKS[policy]
    half = min(HALF, (len(regret) + 1) // 2)
    train, fresh = regret[:half], regret[half:]
    x = np.linspace(regret.min() * 0.98, regret.max() * 1.06, 300)
    low, high = band(train, x, DELTA)
    axes.fill_between(
        x, low, high, color=look.colour, alpha=0.18, linewidth=0, label="band of the training seeds"
    )
    for values, style, width, name in ((train, "-", 1.4, "training"), (fresh, ":", 1.8, "fresh")):
        if len(values):
            share = survival(values, x)
            label = f"{len(values)} {name} seeds"
            axes.plot(
                x, np.where(share > 0, share, np.nan), style, color=look.colour, linewidth=width, label=label
            )
            sheet.record(look.name, name, x[share > 0].tolist(), share[share > 0].tolist())
    bound = run_tail(train, x, DELTA)
    axes.plot(x, bound, color="#222222", linewidth=1.3, label="run-level bound and C0")
    sheet.record(look.name, "run-level bound", x.tolist(), bound.tolist())
    before = 0.0
    for level, name in levels(runs):
        axes.axvline(level, color="#222222", linestyle=DASHES, linewidth=0.9)
        beyond = level < CLOSE * before  # on the left the name would lie on the line before
        axes.annotate(
            f"{name}: {level / np.median(regret):.1f}x",
            (level, 1.0),
            xytext=(2 if beyond else -2, -2),
            textcoords="offset points",
            fontsize=7,
            rotation=90,
            ha="left" if beyond else "right",
            va="top",
        )
        before = level
        sheet.record(look.name, f"level of {name}", [level], [1.0])
    axes.set_yscale("log")
    axes.set_xscale("log")
    axes.set_ylim(0.6 / HALF, 1.6)
    axes.set_xlim(0.04, 14)
    axes.set_title(
        f"{look.name}: median R/T {np.median(regret):.3f}; vertical lines: x below which a bound is vacuous"
    )


def survival(values: Floats, x: Floats) -> Floats:
    """Share of the values beyond each x."""
    return np.asarray((values > x[:, None]).mean(axis=1))


def levels(runs: Runs) -> list[tuple[float, str]]:
    """Levels below which a bound says nothing, ascending."""
    return sorted((level, name) for name, level in Levels(runs).vacuous().items())


def remarks(runs: Runs) -> str:
    """Levels over the median."""
    said = []
    for policy in ("ssp", "essp"):
        same = runs.select(policy=policy)
        middle = float(np.median(same.column("regret")))
        ratios = ", ".join(f"{name} {level / middle:.1f}x" for level, name in levels(same))
        said.append(f"{LOOKS[policy].name}: {ratios}")
    return f"Levels over the median of R/T: {'; '.join(said)}."

"""T5-4: how R/T falls with the number of reads, for losses with and without curvature and noise."""

import numpy as np

from figures.kit import DASHES, LOOKS, Runs, Sheet, log_axis
from figures.tails import slopes

LINES = (
    ("absolute", 0.0, "ssp", "absolute, no noise, SSP", LOOKS["ssp"].colour, "^"),
    ("absolute", 0.0, "essp", "absolute, no noise, ESSP", LOOKS["essp"].colour, "o"),
    ("absolute", 0.1, "essp", "absolute, noisy, ESSP", "#56B4E9", "s"),
    ("huber", 0.1, "essp", "smooth (Huber), noisy, ESSP", "#CC79A7", "D"),
    ("huber", 0.0, "essp", "smooth (Huber), interpolating, ESSP", "#009E73", "v"),
)


def draw(runs: Runs, sheet: Sheet) -> None:
    """One panel, both axes logarithmic."""
    ((axes,),) = sheet.axes(1, 1, 4.2)
    reads = runs.select(policy="essp").column("reads")[0]
    for app, noise, policy, name, colour, marker in LINES:
        if not runs.has(app=app, noise=noise, policy=policy):
            continue
        same = runs.select(app=app, noise=noise, policy=policy)
        after = same.column("regret_after")
        label = f"{name}: slope {np.median(slopes(same)):.2f}"
        sheet.band(axes, "rate", name, reads, after, color=colour, marker=marker, label=label)
        if (app, policy) in (("absolute", "essp"), ("huber", "essp")) and noise == 0:
            slope = -0.5 if app == "absolute" else -1.0
            first = float(np.median(after[:, 0]))
            axes.plot(
                reads, first * (reads / reads[0]) ** slope, color="#222222", linestyle=DASHES, linewidth=0.9
            )
    log_axis(axes, "x", reads)
    axes.set_yscale("log")
    axes.set_xlabel("reads T")
    axes.set_ylabel("mean regret R/T, loss per read")
    axes.legend(loc="lower left", fontsize=7.5)

"""The README's figure: the heart of the paper in two panels.

``docs/figures/readme.png`` is a plain copy of ``figures/readme.png`` of a report.
"""

from figures.kit import LOOKS, Runs, Sheet, common_grid, shade
from figures.mf_convergence import mark_exit
from figures.staleness_histogram import panel

import numpy as np

CURVES = (
    ("bsp", 0, 0.5, "-"),
    ("ssp", 8, 0.0, "-"),
    ("ssp", 16, 0.5, (0, (5, 1))),
    ("ssp", 48, 1.0, (0, (2, 1))),
    ("essp", 48, 0.6, "-"),
)
CEILING = 20.0


def draw(runs: Runs, sheet: Sheet) -> None:
    """Left the ages of reads at slack 16, right the loss over clocks."""
    (grid,) = sheet.axes(1, 2, 2.6, width_ratios=[1, 1.15])
    runs = runs.select(fraction=0.1, step=0.005)
    panel(grid[0], runs.select(slack=16), 16, sheet, "ages")
    grid[0].set(
        title="how old are the rows that workers read?  (s = 16)",
        xlabel="clock differential  (row clock − 1) − reader's clock",
        ylabel="share of reads",
    )
    for policy, slack, place, dashes in CURVES:
        clocks, _, values = common_grid(runs.select(policy=policy, slack=slack))
        shown = np.minimum(values, 10 * CEILING)
        look, colour = LOOKS[policy], shade(policy, place)
        label = look.name if policy == "bsp" else f"{look.name}, s = {slack}"
        sheet.band(
            grid[1], "loss", label, clocks, shown,
            color=colour, linestyle=dashes, marker=look.marker, markersize=3, markevery=10, label=label,
            zorder=4 if policy == "essp" else 3,
        )  # fmt: skip
        mark_exit(grid[1], clocks, np.median(shown, axis=0), colour)
    grid[1].set_yscale("log")
    grid[1].set_ylim(0.6, CEILING)
    grid[1].set_yticks([0.7, 1, 2, 5, 10, 20], ["0.7", "1", "2", "5", "10", "20"])
    grid[1].minorticks_off()
    grid[1].set(title="does training converge?", xlabel="clock", ylabel="training loss (log)", xlim=(0, None))
    grid[1].legend(loc="upper left", ncols=1)

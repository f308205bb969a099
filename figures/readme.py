"""The README's figure: the heart of the paper in two panels.

``docs/figures/readme.png`` is a plain copy of ``figures/readme.png`` of a report of the default profile.
"""

from figures.kit import Runs, Sheet, common_grid
from figures.mf_convergence import WIDE, Curve, line
from figures.staleness_histogram import X_LABEL, panel

SLACK = 16
CURVES = (
    Curve("bsp", 0, 0.5, "-"),
    Curve("ssp", 8, 0.0, "-"),
    Curve("ssp", 16, 0.5, (0, (5, 1))),
    Curve("ssp", 48, 1.0, (0, (2, 1))),
    Curve("essp", 48, 0.6, "-"),
)


def shown(runs: Runs) -> Runs:
    """One minibatch and step."""
    return runs.select(fraction=0.1, step=0.005)


def draw(runs: Runs, sheet: Sheet) -> None:
    """Left the ages of reads at one slack, right the loss over clocks at several."""
    ((left, right),) = sheet.axes(1, 2, 2.7)
    panel(left, runs.select(slack=SLACK), SLACK, sheet, "ages")
    left.set(title=f"How old are the rows that workers read? (s = {SLACK})", xlabel=X_LABEL)
    left.set_ylabel("share of reads")
    for curve in CURVES:
        clocks, _, losses = common_grid(runs.select(policy=curve.policy, slack=curve.slack))
        line(right, "loss", curve, clocks, losses, WIDE, sheet)
    right.set(title="Does training converge?", xlabel="clock", ylabel="training loss (log)")
    right.legend(loc="upper left", borderaxespad=0.1, fontsize=6.5, labelspacing=0.25, handlelength=2)

"""The README's figure: the heart of the paper in two panels.

``docs/figures/readme.png`` is a plain copy of ``figures/readme.png`` of a report of the default profile.
"""

from figures.kit import Runs, Sheet, common_grid, percent
from figures.mf_convergence import DASHED, WIDE, Curve, line
from figures.staleness_histogram import X_LABEL, panel

FRACTION, STEP = 0.1, 0.005
SLACK = 16
CURVES = (
    Curve("bsp", 0, 0.5, "-"),
    Curve("ssp", 8, 0.0, "-"),
    Curve("ssp", 16, 0.5, DASHED),
    Curve("ssp", 48, 1.0, (0, (1.5, 1))),
    Curve("essp", 48, 0.6, "-"),
)


def shown(runs: Runs) -> Runs:
    """One minibatch and step: the curves, and both policies at the slack of the histogram."""
    wanted = {(curve.policy, curve.slack) for curve in CURVES} | {("ssp", SLACK), ("essp", SLACK)}
    same = {"fraction": FRACTION, "step": STEP}
    return runs.any_of(same | {"policy": policy, "slack": slack} for policy, slack in wanted)


def draw(runs: Runs, sheet: Sheet) -> None:
    """Left the ages of reads at one slack, right the loss over clocks at several."""
    ((left, right),) = sheet.axes(1, 2, 3.1)
    sheet.figure.suptitle(setting(runs), x=0.01, ha="left", fontsize=7.5)
    panel(left, runs.select(slack=SLACK), SLACK, sheet, "ages")
    left.set(title=f"How old are the rows that workers read? (s = {SLACK})", xlabel=X_LABEL)
    left.set_ylabel("share of reads")
    for curve in CURVES:
        clocks, _, losses = common_grid(runs.select(policy=curve.policy, slack=curve.slack))
        line(right, "loss", curve, clocks, losses, WIDE, sheet)
    right.set(title="Does training converge?", xlabel="clock", ylabel="training loss (log)")
    handles, labels = right.get_legend_handles_labels()
    sheet.figure.legend(handles, labels, loc="outside lower right", ncols=5, handlelength=3)


def setting(runs: Runs) -> str:
    """What is the same in both panels."""
    workers, seeds = runs.values("workers"), len(runs.values("seed"))
    spread = f"median and range of {seeds} seeds" if seeds > 1 else "one seed"
    share, data = f"one clock = {percent(FRACTION)} of the data", "MovieLens ratings"
    return f"Matrix factorization of {data}, {workers[0]} workers, {share}, step {STEP:g}; {spread}"

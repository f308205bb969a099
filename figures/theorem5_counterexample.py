"""T5-2: the law of runs for which Theorem 5 as printed is false."""

import numpy as np

from figures.kit import DASHES, Runs, Sheet

COLOURS = {"slow": "#D55E00", "fast": "#0072B2"}
SMALLEST = 1e-24  # of the right axis


def draw(runs: Runs, sheet: Sheet) -> None:
    """Regret and centre on the left, probability and bound on the right."""
    (batch,) = runs.select(policy="essp")
    left, right = sheet.axes(1, 2, 3.3)[0]
    columns = batch.columns
    reads, centre, bound = (columns[f"closed_{name}"] for name in ("reads", "centre", "bound"))
    for name in ("slow", "fast"):
        line = columns[f"closed_regret_{name}"]
        left.plot(reads, line, color=COLOURS[name], label=f"R/T, {name} network (probability 1/2)")
        sheet.record("levels", f"R/T {name}", reads.tolist(), line.tolist())
        chosen = columns["regret"][columns["slow"] == (name == "slow")]
        left.plot(
            np.full(len(chosen), reads[0]), chosen, "o", markersize=6, fillstyle="none", color=COLOURS[name]
        )
        sheet.record("levels", f"emulated {name}", [float(reads[0])] * len(chosen), chosen.tolist())
    left.plot(reads, centre, color="#222222", linestyle=DASHES, label="Theorem 5: centre")
    sheet.record("levels", "centre", reads.tolist(), centre.tolist())
    left.set_ylim(0.25 * left.dataLim.ymin)  # room for the legend
    left.set_ylabel("loss per read")
    left.set_title("Half of all runs pass the centre")
    right.plot(reads, np.full(len(reads), 0.5), "o-", color=COLOURS["slow"], label="true probability: 1/2")
    right.plot(reads, bound, "s--", color="#222222", label="Theorem 5 as printed (at 1 it says nothing)")
    right.set_ylim(SMALLEST, 30)
    for t, b in zip(reads, bound, strict=True):
        if b < 0.1:
            right.annotate(
                f"{b:.0e}", (t, b), (-6, 0), textcoords="offset points", fontsize=7, ha="right", va="center"
            )
    right.set_ylabel("P(R/T reaches the slow runs' level)")
    right.set_title("The bound on what half of all runs do")
    sheet.record("probability", "true", reads.tolist(), [0.5] * len(reads))
    sheet.record("probability", "printed bound", reads.tolist(), bound.tolist())
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("reads T")
        axes.legend(loc="lower left", fontsize=7)


def remarks(runs: Runs) -> str:
    """What the emulated runs say."""
    (batch,) = runs
    columns, n = batch.columns, len(batch.seeds)
    slow, off = int(columns["slow"].sum()), float(columns["difference"].max())
    reads, mu, var = (columns[f"closed_{name}"][-1] for name in ("reads", "mu", "var"))
    return (
        f"Circles: {n} emulated runs, {slow} of them slow, equal to the closed form within {off:.0e}. At T = "
        f"{reads:.0f} gamma has mean {mu:.2f} and variance {var:.1f} over both kinds of runs."
    )

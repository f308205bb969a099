"""T5-2: bounds against the mean age when only the protocol changes, and against the number of workers."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from figures.kit import LOOKS, Runs, Sheet, log_axis
from figures.tails import Levels

WORKERS, SLACK = 4, 8  # of the left panel; of the right
POLICIES = ("bsp", "ssp", "essp")
OBSERVED = "R/T"
SERIES = {
    OBSERVED: ("#000000", "center"),
    "C1": ("#117733", "center"),
    "C2": ("#44AA99", "top"),
    "Theorem 5 as printed": ("#882255", "center"),
    "5-k": ("#AA4499", "bottom"),
    "Theorem 3": ("#888888", "center"),
}
"""Colour, and on which side of the end of its line the name stands."""


def shown(runs: Runs) -> Runs:
    """The absolute loss; the claim is about a noisy Huber loss, too."""
    return runs.select(app="absolute")


def draw(runs: Runs, sheet: Sheet) -> None:
    """Levels on the left, looseness on the right."""
    left, right = sheet.axes(1, 2, 3.6, width_ratios=(1.9, 1))[0]
    protocols(left, runs.select(workers=WORKERS), sheet)
    workers(right, runs.select(slack=SLACK), sheet)


def protocols(axes: Axes, runs: Runs, sheet: Sheet) -> None:
    """A point per quantity and protocol; a line joins the slacks of a policy, BSP being SSP's s = 0."""
    points = each(runs)
    for name, (colour, place) in SERIES.items():
        for policies in (("bsp", "ssp"), ("essp",)):
            chosen = [levels for policy, levels in points if policy in policies]
            values = [spread(levels, name) for levels in chosen]
            ages = [float(np.median(levels.runs.column("age"))) for levels in chosen]
            middle = [float(np.median(v)) for v in values]
            low, high = [float(v.min()) for v in values], [float(v.max()) for v in values]
            axes.plot(ages, middle, color=colour, linewidth=1.0, zorder=2)
            axes.errorbar(
                ages,
                middle,
                [np.subtract(middle, low), np.subtract(high, middle)],
                fmt="none",
                ecolor=colour,
                elinewidth=0.9,
            )
            sheet.record("protocols", f"{name}, {' and '.join(policies)}", ages, middle, low, high)
            if "ssp" in policies:
                style: dict[str, Any] = {"fontsize": 7.5, "va": place, "color": colour}
                words = name.removesuffix(" as printed")
                axes.annotate(words, (ages[-1], middle[-1]), (6, 0), textcoords="offset points", **style)
    for policy, levels in points:
        look, age = LOOKS[policy], float(np.median(levels.runs.column("age")))
        for name in SERIES:
            axes.plot(
                age, np.median(spread(levels, name)), look.marker, color=look.colour, markersize=4.5, zorder=3
            )
        style = {"textcoords": "offset points", "fontsize": 7, "color": look.colour}
        if policy == "ssp":
            at = age, float(np.median(levels.regret))
            axes.annotate(f"s = {levels.slack}", at, (0, -13), ha="center", **style)
        if policy == "essp":  # apart in the one bound that depends on s alone
            at = age, levels.pathwise()
            axes.annotate(f"s = {levels.slack}", at, (6, 0), va="center", **style)
    for policy in POLICIES:
        axes.plot([], [], LOOKS[policy].marker, color=LOOKS[policy].colour, label=LOOKS[policy].name)
    log_axis(axes, "y", (0.1, 0.2, 0.5, 1, 2, 5))
    axes.set_ylim(0.7 * axes.dataLim.ymin)
    axes.set_xlabel("mean age of reads, clocks")
    axes.set_ylabel("loss per read")
    axes.set_title(f"Only the protocol changes, P = {WORKERS}")
    axes.legend(loc="upper left", fontsize=7)


def workers(axes: Axes, runs: Runs, sheet: Sheet) -> None:
    """Printed centre over R/T, seed by seed."""
    counts = runs.values("workers")
    for policy in ("ssp", "essp"):
        look = LOOKS[policy]
        ratios = []
        for count in counts:
            levels = Levels(runs.select(workers=count, policy=policy))
            ratios.append(levels.centre() / levels.regret)
        sheet.band(
            axes,
            "workers",
            look.name,
            counts,
            np.array(ratios).T,
            color=look.colour,
            marker=look.marker,
            label=look.name,
        )
    log_axis(axes, "x", counts)
    axes.axhline(1, color="#222222", linewidth=0.8)
    axes.set_ylim(0)
    axes.set_xlabel("workers P")
    axes.set_ylabel("printed centre / observed R/T")
    axes.set_title(f"Level of Theorem 5, s = {SLACK}")
    axes.legend(loc="lower right", fontsize=7)


def each(runs: Runs) -> list[tuple[str, Levels]]:
    """Every policy and slack, with what the bounds allow."""
    found = []
    for policy in POLICIES:
        if runs.has(policy=policy):
            same = runs.select(policy=policy)
            found += [(policy, Levels(same.select(slack=slack))) for slack in same.values("slack")]
    return found


def spread(levels: Levels, name: str) -> Any:
    """Values over the seeds, or the one that all seeds give together."""
    if name in ("C1", "C2"):
        return levels.certificate(name)
    if name == OBSERVED:
        return levels.regret
    one = {"Theorem 5 as printed": levels.centre, "5-k": levels.centre_counts, "Theorem 3": levels.pathwise}
    return np.array([one[name]()])


def remarks(runs: Runs) -> str:
    """Range of the looseness, and the dispersion index."""
    found = [levels for _, levels in each(runs.select(workers=WORKERS))]
    ratios = [float(np.median(levels.centre() / levels.regret)) for levels in found]
    text = f"Printed centre / R/T on the left (medians): {min(ratios):.1f} to {max(ratios):.1f}."
    if len(found[0].regret) > 2:
        index = [levels.dispersion() for levels in found if levels.slack]
        text += f" Dispersion index of gamma: {min(index):.1f} to {max(index):.1f} (1 if independent)."
    return text

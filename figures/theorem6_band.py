"""T6-1: the variance of x_t as the sum of the terms of Theorem 6, and the terms of every clock."""

import numpy as np
from matplotlib.axes import Axes

from figures.kit import LOOKS, TERM_COLOURS, Floats, Runs, Sheet

POLICIES = ("ssp", "essp")
START = "variance of the start"
NAMES = {
    START: (START, "#E3D9B5"),
    "ref:drift": ("drift, −2η cov(x, h)", TERM_COLOURS["ref:drift"]),
    "ref:fresh_noise": ("fresh noise, η² Var h", TERM_COLOURS["ref:fresh_noise"]),
    "ref:stale1": ("stale1, −2η cov(x, r)", TERM_COLOURS["ref:stale1"]),
    "ref:stale2": ("stale2, 2η² cov(h, r)", TERM_COLOURS["ref:stale2"]),
    "ref:stale3": ("stale3, η² Var r", TERM_COLOURS["ref:stale3"]),
}
TERMS = tuple(name for name in NAMES if name != START)


def shown(runs: Runs) -> Runs:
    """The quadratic; the claim is about logistic losses, too."""
    return runs.select(app="quadratic")


def draw(runs: Runs, sheet: Sheet) -> None:
    """A line per policy: what has been added so far, and per clock."""
    grid = sheet.axes(2, 2, 5.1, sharex="col")
    for (left, right), policy in zip(grid, POLICIES, strict=True):
        (batch,) = runs.select(policy=policy)
        so_far(left, batch.columns, batch.manifest["workers"], sheet, LOOKS[policy].name)
        per_clock(right, batch.columns, batch.manifest["workers"], sheet, LOOKS[policy].name)
    for axes in grid[-1]:
        axes.set_xlabel("clock")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    sheet.figure.legend(handles, labels, loc="outside lower center", ncols=4)


def remarks(runs: Runs) -> str:
    """How exactly the terms add up, and over how many runs."""
    said = []
    for policy in POLICIES:
        (batch,) = runs.select(policy=policy)
        said.append(f"{LOOKS[policy].name} {batch.columns['closure'].max():.0e} ({len(batch.seeds)} runs)")
    exact = f"Largest error of the sum, relative to the variance: {', '.join(said)}."
    return f"r = g − h is what the gradient at the view has more than at x_t. {exact}"


def so_far(axes: Axes, columns: dict[str, Floats], workers: int, sheet: Sheet, who: str) -> None:
    """Bands of the accumulated terms; the line is the variance itself."""
    var = columns["var"]
    clock = np.arange(len(var)) / workers
    sums = np.concatenate(
        [np.zeros((len(TERMS), 1)), np.cumsum(columns["terms"][: len(TERMS)], axis=1)], axis=1
    )
    bands = {START: np.full(len(var), var[0]), **dict(zip(TERMS, sums, strict=True))}
    stack(axes, clock, bands, sheet, f"{who}, so far")
    axes.plot(clock, var, color="#111111", linewidth=1.8, label="Var(x_t) observed; right: its change")
    sheet.record(f"{who}, so far", "Var(x_t), observed", clock.tolist(), var.tolist())
    axes.axhline(0, color="#444444", linewidth=0.7)
    axes.set(title=f"{who}: added and taken so far", ylabel="variance", xlim=(0, len(var) / workers))


def per_clock(axes: Axes, columns: dict[str, Floats], workers: int, sheet: Sheet, who: str) -> None:
    """Terms of every clock over the variance at its begin; the line is the change of the variance."""
    var = columns["var"]
    clocks = len(var) // workers - 1  # the last clock has no next reference
    before = var[: clocks * workers : workers]
    per = columns["terms"][: len(TERMS), : clocks * workers].reshape(len(TERMS), clocks, workers).sum(axis=2)
    change = var[workers : (clocks + 1) * workers : workers] - before
    middle = np.arange(clocks) + 0.5
    stack(axes, middle, dict(zip(TERMS, per / before, strict=True)), sheet, f"{who}, per clock", bars=True)
    axes.plot(middle, change / before, color="#111111", linewidth=1.4)
    sheet.record(
        f"{who}, per clock", "change of Var(x_t), observed", middle.tolist(), (change / before).tolist()
    )
    axes.axhline(0, color="#444444", linewidth=0.7)
    axes.set(title=f"{who}: per clock, over Var(x_t)", ylabel="share of the variance", xlim=(0, clocks))


def stack(
    axes: Axes, x: Floats, bands: dict[str, Floats], sheet: Sheet, panel: str, bars: bool = False
) -> None:
    """Bands upon each other: positive values above zero, negative ones below."""
    top, bottom = np.zeros(len(x)), np.zeros(len(x))
    for name, values in bands.items():
        label, colour = NAMES[name]
        up, down = np.maximum(values, 0), np.minimum(values, 0)
        for base, part in ((top, up), (bottom, down)):
            if not part.any():
                continue
            if bars:
                axes.bar(x, part, 0.9, bottom=base, color=colour, linewidth=0)
            else:
                axes.fill_between(x, base, base + part, color=colour, linewidth=0)
        if not bars:
            axes.fill_between([], [], color=colour, label=label)
        top, bottom = top + up, bottom + down
        sheet.record(panel, label, x.tolist(), values.tolist())

"""T6-4: terms of Theorem 6 predicted from the moments of gamma, beside those measured and the exact ones."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from figures.kit import DASHES, LOOKS, TERM_COLOURS, Dashes, Floats, Runs, Sheet
from figures.variances import factor
from pskit.analysis.variance import TERMS, checkpoints

PREDICTED, EXACT = "#AA4499", "#222222"
WINDOW = 5  # clocks
LIMIT = 4
SHOWN = {"ref:stale1": "|stale1|", "view:cross": "|view:cross|"}
LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "measured": ("measured", {"linewidth": 2.6, "alpha": 0.55}),
    "error_terms": ("standard error of measured", {"linewidth": 1.0}),
    "exact": ("exact recursion", {"color": EXACT, "linewidth": 0.9}),
    "predicted": ("from gamma's moments, those of each read", {"color": PREDICTED, "linewidth": 1.2}),
    "pooled": ("from one law of gamma for all reads (A1)", {"color": PREDICTED, "linewidth": 1.2}),
}
DASHED: dict[str, Dashes] = {"pooled": DASHES, "error_terms": (0, (1, 1.2))}


def draw(runs: Runs, sheet: Sheet) -> None:
    """A column per policy: Var(delta), the two terms that go wrong, and all terms against the recursion."""
    grid = sheet.axes(4, 2, 6.6, sharex=True, sharey="row", height_ratios=(1, 1, 1, 0.8))
    for column, policy in zip(grid.T, ("ssp", "essp"), strict=True):
        (batch,) = runs.select(policy=policy)
        columns, workers, look = batch.columns, batch.manifest["workers"], LOOKS[policy]
        spreads = {
            name: columns[f"{name}_var_delta"] if name != "measured" else columns["var_delta"]
            for name in ("measured", "predicted", "pooled")
        }
        curves(column[0], spreads, workers, sheet, policy, "Var(delta)")
        for axes, (name, label) in zip(column[1:], SHOWN.items(), strict=False):
            row = TERMS.index(name)
            terms = {line: columns["terms" if line == "measured" else line][row] ** 2 for line in LINES}
            curves(axes, terms, workers, sheet, policy, label)
        scores(column[-1], columns, workers, sheet, policy)
        column[0].set_title(f"{look.name}, s = {batch.config['ps']['slack']}")
        column[-1].set_xlabel("clock")
    for axes, label in zip(grid[:, 0], ("Var(δ)", *SHOWN.values(), "z-score"), strict=True):
        axes.set_ylabel(label)
    lines, dots = (grid[row, 0].get_legend_handles_labels() for row in (1, -1))
    handles, labels = (a + b for a, b in zip(lines, dots, strict=True))
    sheet.figure.legend(handles, labels, loc="outside lower center", ncols=3)


def remarks(runs: Runs) -> str:
    """By how much the predictions miss in the second half."""
    said, size = [], 0
    for policy in ("ssp", "essp"):
        (batch,) = runs.select(policy=policy)
        size = len(batch.seeds)
        found = (factor(batch.columns, name) for name in SHOWN)
        factors = [f"{e.value:.0f} [{e.low:.0f}, {e.high:.0f}]" for e in found]
        said.append(f"{LOOKS[policy].name} {' and '.join(factors)}")
    return (
        f"{size} runs. In the second half stale1 and view:cross, measured along their exact curves, are at "
        f"least so many times what each read's moments predict (90% jackknife intervals): {'; '.join(said)}. "
        "At least, because what is predicted is hardly more than sampling noise: of more runs it is smaller."
    )


def curves(axes: Axes, lines: dict[str, Floats], workers: int, sheet: Sheet, policy: str, label: str) -> None:
    """Means over some clocks, or with squares of a term their root."""
    look, squares = LOOKS[policy], label in SHOWN.values()
    for name, values in lines.items():
        words, style = LINES[name]
        dashes = DASHED.get(name, "-")
        clock, means = in_windows(values, WINDOW * workers)
        shown = np.sqrt(means) if squares else means
        axes.plot(clock * WINDOW, shown, label=words, linestyle=dashes, **{"color": look.colour, **style})
        sheet.record(f"{look.name}, {label}", words, (clock * WINDOW).tolist(), shown.tolist())
    axes.set_yscale("log")


def scores(axes: Axes, columns: dict[str, Any], workers: int, sheet: Sheet, policy: str) -> None:
    """Every term against the exact recursion."""
    at = checkpoints(columns["z_terms"].shape[1])
    for name, row in zip(TERMS, columns["z_terms"], strict=True):
        label = f"z: {name.partition(':')[2].replace('_', ' ')}"
        axes.plot(at / workers, row[at], ".", markersize=4, color=TERM_COLOURS[name], label=label)
        sheet.record(f"{LOOKS[policy].name}, z", name, (at / workers).tolist(), row[at].tolist())
    for limit in (-LIMIT, LIMIT):
        axes.axhline(limit, color="#222222", linestyle=DASHES, linewidth=0.8)
    axes.set_ylim(-LIMIT - 1, LIMIT + 1)
    axes.set_yticks([-4, -2, 0, 2, 4])


def in_windows(values: Floats, reads: int) -> tuple[Floats, Floats]:
    """Middles of windows of ``reads`` reads, in windows, and the means over them."""
    windows = len(values) // reads
    return np.arange(windows) + 0.5, values[: windows * reads].reshape(windows, reads).mean(axis=1)

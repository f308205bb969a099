"""F2M-4: where each policy breaks, for two minibatches and two steps."""

import numpy as np

from figures.kit import LOOKS, Runs, Sheet, percent

HARMLESS = 1.05  # an excursion below this is a smooth curve


def draw(runs: Runs, sheet: Sheet) -> None:
    """A table: a row per minibatch and step, a column per policy and slack; colour and text say what happened."""
    ((axes,),) = sheet.axes(1, 1, 2.5)
    columns = [("bsp", 0), ("essp", 8), *(("ssp", s) for s in runs.select(policy="ssp").values("slack"))]
    rows = [(f, s) for f in (0.01, 0.1) for s in (0.005, 0.02) if runs.has(fraction=f, step=s)]
    for y, (fraction, step) in enumerate(rows):
        for x, (policy, slack) in enumerate(columns):
            chosen = {"fraction": fraction, "step": step, "policy": policy, "slack": slack}
            if runs.has(**chosen):
                cell(axes, x, y, runs.select(**chosen), sheet, f"{percent(fraction)}, step {step:g}")
    axes.set_xticks(range(len(columns)), [_column(*c) for c in columns])
    axes.set_yticks(range(len(rows)), [f"{percent(f)}, step {s:g}" for f, s in rows])
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    axes.set_title("diverged runs of all seeds, and the median excursion (largest loss / smallest before it)")
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def cell(axes, x: int, y: int, runs: Runs, sheet: Sheet, row: str) -> None:
    """One cell: white for a smooth curve, light for a shaky one, dark for runs that diverge."""
    bad = sum(t.diverged() for t in runs)
    rise = float(np.median([t.excursion() for t in runs]))
    policy = next(iter(runs)).config["ps"]["policy"]
    if bad:
        colour, ink = "#882255", "white"
    elif rise > HARMLESS:
        colour, ink = "#F0C9B0", "black"
    else:
        colour, ink = "#EAF2F8", "black"
    axes.add_patch(
        __import__("matplotlib.patches", fromlist=["Rectangle"]).Rectangle((x - 0.47, y - 0.45), 0.94, 0.9, color=colour, linewidth=0)
    )
    rise_text = f"× {rise:.2f}" if rise < 10 else (f"× {rise:.0f}" if rise < 1e4 else "→ ∞")
    verdict = f"{bad}/{len(runs)} diverge" if bad else ("shaky" if rise > HARMLESS else "smooth")
    axes.text(x, y, f"{verdict}\n{rise_text}", ha="center", va="center", color=ink, fontsize=7)
    slack = next(iter(runs)).config["ps"]["slack"]
    sheet.record(row, LOOKS[policy].name, [slack], [rise], [bad], [len(runs)])


def _column(policy: str, slack: int) -> str:
    return LOOKS[policy].name if policy == "bsp" else f"{LOOKS[policy].name}\ns = {slack}"

"""F2M-4: where each policy breaks, for two minibatches and two steps."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures.kit import LOOKS, Runs, Sheet, percent
from figures.measures import excursion

SHAKY = 1.05  # an excursion above this is no smooth curve


def draw(runs: Runs, sheet: Sheet) -> None:
    """A table: a row per minibatch and step, a column per policy and slack; colour and text say the same."""
    ((axes,),) = sheet.axes(1, 1, 2.3)
    columns = [("bsp", 0), ("essp", 8), *(("ssp", s) for s in runs.select(policy="ssp").values("slack"))]
    rows = [(f, s) for f in (0.01, 0.1) for s in (0.005, 0.02) if runs.has(fraction=f, step=s)]
    for y, (fraction, step) in enumerate(rows):
        for x, (policy, slack) in enumerate(columns):
            chosen = {"fraction": fraction, "step": step, "policy": policy, "slack": slack}
            if runs.has(**chosen):
                same = runs.select(**chosen)
                bad, rise = cell(axes, x, y, same)
                name = f"{percent(fraction)}, step {step:g}, excursion and diverged of seeds"
                sheet.record(name, LOOKS[policy].name, [slack], [rise], [bad], [len(same)])
            else:
                axes.text(x, y, "not run", ha="center", va="center", color="#777777", fontsize=6.5)
    names = [LOOKS[p].name + ("" if p == "bsp" else f"\ns = {s}") for p, s in columns]
    axes.set_xticks(range(len(columns)), names)
    axes.set_yticks(range(len(rows)), [f"{percent(f)}, step {s:g}" for f, s in rows])
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    axes.set_title("how runs end, and the median excursion (largest loss / smallest loss before it)")
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def remarks(runs: Runs) -> str:
    """What BSP does at each minibatch and step, the yardstick for the rest, or that it is not run there."""
    found = []
    for fraction in (0.01, 0.1):
        for step in (0.005, 0.02):
            where = {"fraction": fraction, "step": step}
            if not runs.has(**where):
                continue
            place = f"at {percent(fraction)}, step {step:g}"
            if not runs.has(**where, policy="bsp"):
                found.append(
                    f"{place} BSP is not run: whether slack or step breaks SSP this profile cannot say"
                )
                continue
            same = runs.select(**where, policy="bsp")
            bad, rise = sum(trace.diverged() for trace in same), np.median([excursion(t) for t in same])
            if bad:
                found.append(f"{place} BSP diverges itself in {bad} of {len(same)} runs: the step breaks it")
            else:
                how = "stays smooth" if rise <= SHAKY else "does not stay smooth itself"
                found.append(f"{place} BSP {how}")
    text = "; ".join(found)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def cell(axes: Axes, x: int, y: int, runs: Runs) -> tuple[int, float]:
    """One cell; the number of diverged runs, and the median excursion."""
    bad = sum(trace.diverged() for trace in runs)
    rise = float(np.median([excursion(trace) for trace in runs]))
    if bad:
        most = 2 * bad > len(runs)
        colour, ink = ("#882255", "white") if most else ("#D9A0AE", "black")
        verdict = f"{bad} of {len(runs)} diverge"
    elif rise > SHAKY:
        colour, ink, verdict = "#F3C9A8", "black", "shaky"
    else:
        colour, ink, verdict = "#E6EFF6", "black", "smooth"
    if np.isfinite(rise):
        size = f"× {rise:.2f}" if rise < 10 else f"× {rise:.0f}" if rise < 1e4 else "over × 10⁴"
    else:
        size = "not finite"
    axes.add_patch(Rectangle((x - 0.47, y - 0.45), 0.94, 0.9, color=colour, linewidth=0))
    axes.text(x, y, f"{verdict}\n{size}", ha="center", va="center", color=ink, fontsize=6.5)
    return bad, rise

"""T5-3: the tail of R/T under laws of ages with one mean, drawn once per run or within every run."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from figures.kit import Dashes, Runs, Sheet, log_axis
from figures.tails import quantile

DRAWN = {"run": "(a) one age for the whole run", "clock": "(b) ages change within every run"}
VARIANCE = {"run": "between runs", "clock": "within runs"}
"""Of what the measured variance of the ages is, by the way of drawing."""
LAWS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "fixed": ("fixed: 3", {"law": "fixed"}, "#4D4D4D", "s"),
    "uniform": ("uniform: 1 to 5", {"law": "uniform"}, "#0072B2", "o"),
    "two ages": ("two ages: 2 or 6", {"law": "bimodal", "far": 6}, "#009E73", "D"),
    "2 or 18": ("two ages: 2 or 18", {"law": "bimodal", "far": 18}, "#CC79A7", "v"),
    "heavy tail": ("heavy tail to 18", {"law": "heavy-tail"}, "#D55E00", "^"),
}
DASHED: dict[str, Dashes] = {"2 or 18": (0, (3, 2))}
"""Of few runs none may be slow: then it is the curve of "2 or 6", which is to be seen under it."""
QUANTILES = (0.9, 0.98)
SLOW = 10  # mean age of a run of "2 or 18" that drew 18, in clocks, is above
TICKS = (0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


def draw(runs: Runs, sheet: Sheet) -> None:
    """A column per way of drawing: survival above, quantiles below."""
    grid = sheet.axes(2, 2, 5.2, sharex=True, height_ratios=(1.5, 1))
    for column, drawn in enumerate(DRAWN):
        same = runs.select(drawn=drawn)
        survival(grid[0, column], same, drawn, sheet)
        quantiles(grid[1, column], same, drawn, sheet)
        grid[0, column].set_title(DRAWN[drawn])
        corner = grid[0, column].transAxes
        grid[0, column].text(1, 1, many(same), transform=corner, ha="right", va="top", fontsize=7)
        grid[1, column].set_xlabel("mean regret R/T, loss per read")
    grid[0, 1].sharey(grid[0, 0])
    grid[0, 0].set_ylabel("share of runs beyond x")


def survival(axes: Axes, runs: Runs, drawn: str, sheet: Sheet) -> None:
    """The share of runs beyond x, law by law."""
    for law, (text, keys, colour, _) in LAWS.items():
        if runs.has(**keys):
            same = runs.select(**keys)
            values = np.sort(same.column("regret"))
            share = 1 - np.arange(len(values)) / len(values)
            axes.step(values, share, where="pre", color=colour, linewidth=1.6, linestyle=DASHED.get(law, "-"))
            sheet.record(DRAWN[drawn], text, values.tolist(), share.tolist())
    axes.set_yscale("log")
    log_axis(axes, "x", TICKS)


def quantiles(axes: Axes, runs: Runs, drawn: str, sheet: Sheet) -> None:
    """q90 and q98 with their intervals, law under law."""
    shown = [law for law, (_, keys, _, _) in LAWS.items() if runs.has(**keys)]
    for place, law in enumerate(shown):
        text, keys, colour, marker = LAWS[law]
        values = runs.select(**keys).column("regret")
        for q, shift, style in ((QUANTILES[0], -0.17, "full"), (QUANTILES[1], 0.17, "none")):
            middle, low, high, _ = quantile(values, q)
            axes.errorbar(
                middle,
                place + shift,
                xerr=[[middle - low], [high - middle]],
                fmt=marker,
                fillstyle=style,
                color=colour,
                markersize=5,
                elinewidth=1.2,
                capsize=2,
            )
            sheet.record(f"{DRAWN[drawn]}, q{100 * q:g}", text, [q], [middle], [low], [high])
    axes.set_yticks(range(len(shown)), [named(law, runs) for law in shown])
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_title(f"q90 (filled), q98 (open); variance {VARIANCE[drawn]}")


def named(law: str, runs: Runs) -> str:
    """Name of a law, with the measured variance of the ages."""
    text, keys, _, _ = LAWS[law]
    return f"{text}\n(variance {moments(runs.select(**keys))[1]:.1f})"


def many(runs: Runs) -> str:
    """How many runs of each law there are."""
    found = {len(runs.select(**keys).column("regret")) for _, keys, _, _ in LAWS.values() if runs.has(**keys)}
    return f"{' or '.join(map(str, sorted(found)))} runs of each law"


def moments(runs: Runs) -> tuple[float, float]:
    """Mean and variance of the measured ages over reads and runs."""
    mean = float(runs.column("age").mean())
    return mean, float(runs.column("age_square").mean()) - mean**2


def remarks(runs: Runs) -> str:
    """How the numbers were made."""
    off = runs.column("difference")
    known = off[np.isfinite(off)]
    means = [moments(runs.select(drawn=drawn, **keys))[0] for drawn, keys in kinds(runs)]
    return (
        f"Measured mean ages: {min(means):.2f} to {max(means):.2f} clocks, without clock 0 (no read is "
        f"older than the run). {far_tail(runs)} {len(off)} runs. Prescribed ages say by themselves what a "
        f"view contains, so R/T follows without the emulator; {len(known)} of the runs were made by it, too, "
        f"and differ by {known.max():.0e} at most."
    )


def far_tail(runs: Runs) -> str:
    """How two ages far apart compare with the heavy tail, as far as these runs have any slow one."""
    two, heavy = (runs.select(drawn="run", **LAWS[law][1]) for law in ("2 or 18", "heavy tail"))
    slow, n = int((two.column("age") > SLOW).sum()), len(two.column("age"))
    if not slow:
        return f'None of these {n} runs of "2 or 18" is slow; one in sixteen is to be.'
    one, other = (moments(same)[1] for same in (two, heavy))
    return (
        f'"2 or 18" has a variance of {one:.1f} beside {other:.1f} of the heavy tail, but only {slow} of {n} '
        "runs are slow: variance orders the far tail, not q90."
    )


def kinds(runs: Runs) -> list[tuple[str, dict[str, Any]]]:
    """Ways of drawing and keys of the laws that there are."""
    pairs = ((drawn, keys) for drawn in DRAWN for _, keys, _, _ in LAWS.values())
    return [(drawn, keys) for drawn, keys in pairs if runs.has(drawn=drawn, **keys)]

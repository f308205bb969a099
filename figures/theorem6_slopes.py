"""T6-2: the terms of Theorem 6 against the step, with the powers that they follow."""

import numpy as np
from matplotlib.axes import Axes

from figures.kit import DASHES, LOOKS, TERM_COLOURS, Floats, Runs, Sheet, log_axis
from pskit.analysis.variance import TERMS

SCALED = {
    "ref:fresh_noise": "fresh noise",
    "ref:stale1": "stale1",
    "ref:stale2": "stale2",
    "ref:stale3": "stale3",
}
POWERS = {"interpolating": (2, 2, 3, 4), "floor": (2, 3, 4, 4)}
POWER_SIGNS = "⁰¹²³⁴"
ABOVE, BELOW = (-2, 6), (6, -9)
PLACES = {
    ("interpolating", "ref:fresh_noise"): (1, BELOW),
    ("interpolating", "ref:stale2"): (1, ABOVE),
    ("floor", "ref:stale1"): (0, BELOW),
    ("floor", "ref:stale3"): (1, BELOW),
}
"""Of a name, where it is not above the third step: its step, and on which side."""
SHARE = (0.1, 0.6)


def draw(runs: Runs, sheet: Sheet) -> None:
    """Interpolating, at the floor, and the share of the staleness there."""
    ((first, second, third),) = sheet.axes(1, 3, 3.0, width_ratios=(1, 1, 0.9))
    terms(first, runs, sheet, "interpolating", "without noise, per ρ²")
    terms(second, runs, sheet, "floor", "at the noise floor")
    shares(third, runs, sheet)
    first.set_ylabel("size of the term")
    handles, labels = second.get_legend_handles_labels()
    sheet.figure.legend(handles, labels, loc="outside lower center", ncols=6)


def remarks(runs: Runs) -> str:
    """Powers at equal t, where the distance is not taken out."""
    table = np.concatenate([batch.columns["interpolating"] for batch in runs])
    steps = next(iter(runs)).columns["interpolating_steps"]
    raw = [
        np.median(np.log2(np.abs(table[:, 2, i] / table[:, 1, i]))) / np.log2(steps[2] / steps[1])
        for i in (TERMS.index(name) for name in SCALED)
    ]
    powers = ", ".join(f"{power:.2f}" for power in raw)
    return f"At equal t instead of equal distance the powers on the left are {powers}."


def terms(axes: Axes, runs: Runs, sheet: Sheet, regime: str, title: str) -> None:
    """Sizes of the terms of both policies, and the power beside the first."""
    for policy in ("ssp", "essp"):
        same = runs.select(policy=policy)
        steps = next(iter(same)).columns[f"{regime}_steps"]
        table = np.abs(np.concatenate([batch.columns[regime] for batch in same]))
        if regime == "interpolating":
            table = table / table[..., -1:]
        look = LOOKS[policy]
        for (name, label), power in zip(SCALED.items(), POWERS[regime], strict=True):
            curves: Floats = table[..., TERMS.index(name)]
            style = {
                "color": TERM_COLOURS[name],
                "marker": look.marker,
                "linestyle": "-" if policy == "ssp" else ":",
            }
            sheet.band(axes, f"{regime}, {look.name}", label, steps, curves, **style)
            if policy == "ssp":
                law(axes, steps, np.median(curves, axis=0), power, name, regime)
        axes.plot(
            [],
            [],
            color="#444444",
            marker=look.marker,
            linestyle="-" if policy == "ssp" else ":",
            label=look.name,
        )
    log_axis(axes, "x", steps)
    axes.set(yscale="log", xlabel="step η", title=title)


def law(axes: Axes, steps: Floats, sizes: Floats, power: int, name: str, regime: str) -> None:
    """The power through the second point, and the term's name where there is room."""
    axes.plot(steps, sizes[1] * (steps / steps[1]) ** power, color="#222222", linestyle=DASHES, linewidth=0.7)
    words = SCALED[name]
    if regime == "floor" and name in ("ref:stale2", "ref:stale3"):  # of one size there
        words = "stale2, stale3" if name == "ref:stale3" else ""
    at, offset = PLACES.get((regime, name), (2, ABOVE))
    if words:
        axes.annotate(
            f"{words} ~ η{POWER_SIGNS[power]}",
            (steps[at], sizes[at]),
            offset,
            textcoords="offset points",
            ha="right" if offset == ABOVE else "left",
            color=TERM_COLOURS[name],
            fontsize=7,
        )


def shares(axes: Axes, runs: Runs, sheet: Sheet) -> None:
    """Stale1 over the fresh noise at the floor."""
    axes.axhspan(*SHARE, color="#EEEEEE", zorder=0)
    for policy in ("ssp", "essp"):
        same, look = runs.select(policy=policy), LOOKS[policy]
        steps = next(iter(same)).columns["floor_steps"]
        table = np.concatenate([batch.columns["floor"] for batch in same])
        share = table[..., TERMS.index("ref:stale1")] / table[..., TERMS.index("ref:fresh_noise")]
        sheet.band(axes, "share at the floor", look.name, steps, share, color=look.colour, marker=look.marker)
        axes.annotate(
            look.name,
            (steps[-2], np.median(share[:, -2])),
            (-6, 3) if policy == "ssp" else (6, -8),
            textcoords="offset points",
            ha="right" if policy == "ssp" else "left",
            color=look.colour,
            fontsize=7,
        )
    axes.set(xlabel="step η", title="stale1 / fresh noise, floor", ylim=(0, 0.85), xlim=(0, None))
    axes.text(
        0.02,
        SHARE[1],
        ".1 to .6",
        transform=axes.get_yaxis_transform(),
        fontsize=7,
        va="bottom",
        color="#666666",
    )

"""What figures share: what they are given, the look of each policy, and the sheet that they draw on."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

Floats = npt.NDArray[Any]
Dashes = str | tuple[int, tuple[float, ...]]

STYLE_FILE = Path(__file__).with_name("pskit.mplstyle")
WIDTH = 7.0  # inches
PNG, PDF, CSV = ".png", ".pdf", ".csv"
DASHES: Dashes = (0, (4, 2))  # of reference lines


class Runs(Protocol):
    """What ``draw`` is given: traces in the order of their seeds (`pskit.repro.ensemble.Ensemble`)."""

    def __iter__(self) -> Iterator[Any]: ...

    def __len__(self) -> int: ...

    def select(self, **where: Any) -> "Runs":
        """Only the runs with these settings: app, fraction, step, policy, slack, preset, runtime, seed."""

    def any_of(self, choices: Iterable[Mapping[str, Any]]) -> "Runs":
        """The runs that at least one of the choices would `select`."""

    def has(self, **where: Any) -> bool:
        """Whether `select` would find a run."""

    def values(self, key: str) -> list[Any]:
        """Distinct values of a setting, ascending."""

    def column(self, name: str) -> Floats:
        """Of batches of runs (`pskit.repro.batches`): a column of all of them, a row per run."""


class Look(NamedTuple):
    """How a policy is drawn in every figure."""

    name: str
    colour: str
    marker: str


LOOKS = {
    "bsp": Look("BSP", "#4D4D4D", "s"),
    "ssp": Look("SSP", "#D55E00", "^"),
    "essp": Look("ESSP", "#0072B2", "o"),
    "asp": Look("ASP", "#AA4499", "X"),
    "vap": Look("VAP", "#009E73", "D"),
}

TERM_COLOURS = {
    "ref:drift": "#999999",
    "ref:fresh_noise": "#009E73",
    "ref:stale1": "#D55E00",
    "ref:stale2": "#CC79A7",
    "ref:stale3": "#0072B2",
    "view:cross": "#E69F00",
    "view:vardelta": "#222222",
}
"""Of the terms of Theorem 6."""


def shade(policy: str, place: float) -> tuple[float, float, float]:
    """Colour of a policy from light (``place`` 0) to dark (1), for a sweep within it."""
    colour = np.array(to_rgb(LOOKS[policy].colour))
    light, dark = 0.45 + 0.55 * colour, 0.55 * colour
    mixed = light + (dark - light) * place
    return tuple(float(c) for c in np.clip(mixed, 0, 1))  # type: ignore[return-value]


class Sheet:
    """A figure, and what is drawn in it as rows for the CSV.

    Attributes
    ----------
    figure : matplotlib Figure
    """

    def __init__(self) -> None:
        self.figure = Figure()
        self._rows: list[tuple[str, str, float | str, float, float, float]] = []

    def axes(self, rows: int, columns: int, height: float, **kwargs: Any) -> np.ndarray[Any, Any]:
        """Lay out ``rows`` x ``columns`` panels on a page `WIDTH` inches wide and ``height`` high."""
        self.figure.set_size_inches(WIDTH, height)
        grid: np.ndarray[Any, Any] = self.figure.subplots(rows, columns, squeeze=False, **kwargs)
        return grid

    def record(
        self,
        panel: str,
        series: str,
        x: Iterable[float | str],
        y: Iterable[float],
        low: Iterable[float] | None = None,
        high: Iterable[float] | None = None,
    ) -> None:
        """Keep what is drawn: ``y`` with its band from ``low`` to ``high``."""
        y = list(y)
        nothing = [float("nan")] * len(y)
        for row in zip(x, y, low or nothing, high or nothing, strict=True):
            self._rows.append((panel, series, *row))

    def band(
        self,
        axes: Axes,
        panel: str,
        series: str,
        x: Any,
        curves: Any,
        ceiling: float = np.inf,
        **style: Any,
    ) -> Any:
        """Draw the median over seeds of equally long ``curves`` (n_seeds, n), and the band of all seeds.

        Values above ``ceiling``, which is to be far off the axis, are drawn there, so that a line to infinity
        has an end; the CSV has them as they are.
        """
        curves = np.asarray(curves, float)
        middle, low, high = np.median(curves, axis=0), curves.min(axis=0), curves.max(axis=0)
        (line,) = axes.plot(x, np.minimum(middle, ceiling), **style)
        if len(curves) > 1:
            ends = np.minimum(low, ceiling), np.minimum(high, ceiling)
            axes.fill_between(
                x, *ends, color=line.get_color(), alpha=0.14, linewidth=0, zorder=line.zorder - 0.5
            )
        self.record(panel, series, np.asarray(x).tolist(), middle.tolist(), low.tolist(), high.tolist())
        return line

    def save(self, folder: Path, name: str) -> list[str]:
        """Write NAME.png, NAME.pdf and NAME.csv into ``folder``; the names of the files."""
        folder.mkdir(parents=True, exist_ok=True)
        self.figure.savefig(folder / (name + PNG), metadata={"Software": None})
        self.figure.set_layout_engine("none")  # as it is now: laying out takes a third of the time
        self.figure.savefig(folder / (name + PDF), metadata={"CreationDate": None})
        with (folder / (name + CSV)).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["panel", "series", "x", "y", "low", "high"])
            for panel, series, *values in self._rows:
                writer.writerow([panel, series, *(_cell(v) for v in values)])
        return [name + PNG, name + PDF, name + CSV]


def _cell(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.8g}"


def styled() -> Any:
    """Context in which every figure is made and saved."""
    return matplotlib.rc_context(fname=str(STYLE_FILE))


def common_grid(traces: Runs, name: str = "loss") -> tuple[Floats, Floats, Floats]:
    """Losses of several seeds on common clocks: clocks (n,), emulated seconds (seeds, n), values (seeds, n).

    The clocks go on to the last one of the config. A run that a value that is not finite stopped before it is
    infinite from its last evaluation on, and has no time (NaN) there.
    """
    losses = [trace.loss(name) for trace in traces]
    longest = max((loss["clock"] for loss in losses), key=len)
    last, every = max((t.config["app"]["clocks"], t.config["run"]["eval_every"]) for t in traces)
    clocks = np.concatenate([longest, np.arange(longest[-1] + every, last + 1, every)])
    values, seconds = np.full((2, len(losses), len(clocks)), np.inf)
    for i, loss in enumerate(losses):
        n = len(loss["clock"])
        values[i, :n] = np.where(np.isfinite(loss["value"]), loss["value"], np.inf)
        seconds[i, :n] = loss["time"] * 1e-9
        seconds[i, n:] = np.nan
    return clocks, seconds, values


def log_axis(axes: Axes, along: Literal["x", "y"], ticks: Iterable[float]) -> None:
    """Make an axis logarithmic, with numbers in full at ``ticks`` alone."""
    axes.set(**{f"{along}scale": "log"})
    axis = {"x": axes.xaxis, "y": axes.yaxis}[along]
    places = list(ticks)
    axis.set_ticks(places, [f"{tick:g}" for tick in places])
    axis.set_minor_locator(NullLocator())


def percent(fraction: float) -> str:
    """A clock's share of the data, as text."""
    return f"{100 * fraction:g}%"

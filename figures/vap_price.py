"""V-2: what VAP costs: stalls, parallelism lost, and messages that its enforcement would need."""

import numpy as np
from matplotlib.axes import Axes

from figures.kit import DASHES, LOOKS, Runs, Sheet, log_axis

STEP, LATENCY = 0.06, "200ms"
KINDS = {
    "seen": ("a client took in a push", "#0072B2"),
    "applied": ("a shard applied an INC", "#56B4E9"),
    "announced": ("an INC, with its values", "#E69F00"),
    "asked": ("may I start?", "#CC79A7"),
    "granted": ("you may, as number t", "#D55E00"),
    "over": ("my computation is over", "#999999"),
}


def shown(runs: Runs) -> Runs:
    """One step and latency, compute times that do not revert."""
    return runs.select(step=STEP, latency=LATENCY, reversion=0.0)


def draw(runs: Runs, sheet: Sheet) -> None:
    """Waiting, computations in flight, and messages against v0."""
    vap = runs.select(policy="vap")
    ((first, second, third),) = sheet.axes(1, 3, 3.0, width_ratios=(1, 1, 1.25))
    workers = vap.values("workers")[0]
    line(first, vap, "waiting", "time spent waiting", sheet)
    first.axhline(1 - 1 / workers, color="#222222", linestyle=DASHES, linewidth=0.9)
    first.annotate(f"one of {workers} at a time", (1.0, 1 - 1 / workers), (-2, 3), ha="right", fontsize=7,
                   xycoords=("axes fraction", "data"), textcoords="offset points")  # fmt: skip
    first.set(ylim=(-0.02, 1), title="stalls", ylabel="share of the workers' time")
    line(second, vap, "in_flight", "computations in flight", sheet)
    for level in (1, workers):
        second.axhline(level, color="#222222", linestyle=DASHES, linewidth=0.9)
    second.set(ylim=(0, workers * 1.08), title="computations in flight", ylabel="mean over the run")
    second.annotate("serial", (1.0, 1), (-2, 3), ha="right", fontsize=7, xycoords=("axes fraction", "data"),
                    textcoords="offset points")  # fmt: skip
    traffic(third, vap, runs.select(policy="essp"), sheet)


def line(axes: Axes, runs: Runs, column: str, name: str, sheet: Sheet) -> None:
    """A column against v0."""
    values = runs.values("v0")
    curves = np.stack([runs.select(v0=v0).column(column) for v0 in values], axis=1)
    look = LOOKS["vap"]
    sheet.band(axes, name, look.name, values, curves, color=look.colour, marker=look.marker)
    log_axis(axes, "x", values)
    axes.set_xlabel("threshold v0")


def traffic(axes: Axes, runs: Runs, essp: Runs, sheet: Sheet) -> None:
    """Messages per computation, stacked by kind, beside those of the protocol itself and all of ESSP's."""
    values = runs.values("v0")
    at, bottom = np.arange(len(values)), np.zeros(len(values))
    for kind, (words, colour) in KINDS.items():
        height = np.array([np.median(runs.select(v0=v0).column(f"sync_{kind}")) for v0 in values])
        axes.bar(at, height, 0.62, bottom, color=colour, label=words, linewidth=0)
        sheet.record("synchronisation messages per computation", words, values, height.tolist())
        bottom += height
    own = np.array([np.median(runs.select(v0=v0).column("messages")) for v0 in values])
    axes.plot(
        at, own, color="#222222", linestyle=DASHES, linewidth=1.1, label="beside them: the protocol's own"
    )
    sheet.record("messages of the protocol per computation", "all", values, own.tolist())
    other = float(np.median(essp.column("messages")))
    style = {"color": "#222222", "markerfacecolor": "white", "markersize": 4}
    axes.plot(at, np.full(len(at), other), LOOKS["essp"].marker, **style, label="ESSP's, all that it has")
    sheet.record("messages of ESSP per computation", "all", values, [other] * len(values))
    axes.set_xticks(at, [f"{v0:g}" for v0 in values])
    axes.set(ylim=(0, 2.1 * bottom.max()), xlabel="threshold v0", title="messages to enforce it",
             ylabel="messages per computation")  # fmt: skip
    axes.legend(loc="upper left", fontsize=6.5, labelspacing=0.25, reverse=True)


def remarks(runs: Runs) -> str:
    """Messages and bytes."""
    vap, essp = runs.select(policy="vap"), runs.select(policy="essp")
    found = {
        name: float(np.median(vap.column(name)))
        for name in ("sync_messages", "sync_bytes", "messages", "bytes")
    }
    return (
        f"Per computation {found['sync_messages']:.1f} messages and {found['sync_bytes']:.0f} bytes, beside "
        f"{found['messages']:.1f} and {found['bytes']:.0f} of VAP's own; ESSP has "
        f"{np.median(essp.column('messages')):.1f} and {np.median(essp.column('bytes')):.0f}, and needs no "
        "others."
    )

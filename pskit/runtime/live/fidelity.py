"""How true a live run was to the emulated cluster: its times, and what to change when they were not kept."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.runtime.live.parts import Pace

FAITHFUL, STRAINED, NOT_FAITHFUL = "faithful", "strained", "not faithful"

LIGHT_LOAD = 0.3
"""Of the processors: a run that asks for so little and is late all the same is not alone on its machine."""
LARGEST_SCALE = 1000.0
_LONGER = "the real work took longer than its modelled time"
# Largest p99 of lateness and overshoot as a share of the median clock, and largest share of overrun clocks.
LIMITS = ((FAITHFUL, 0.03, 0.01), (STRAINED, 0.15, 0.05))


def fidelity(
    paces: Sequence[Pace], clocks: Any, time_scale: float, seconds: float, cores: int, measured: bool = False
) -> dict[str, Any]:
    """Figures and verdict for the manifest.

    Parameters
    ----------
    paces : sequence of Pace
    clocks : mapping of str to array
        The table ``clocks`` of the trace.
    time_scale : float
    seconds : float
        Real duration from time zero to the stop.
    cores : int
        That the processes shared.
    measured : bool
        Whether compute times were measured: then clocks *overran* in which a kernel had no core to itself.

    Returns
    -------
    dict
        ``lateness_us`` and ``overshoot_us`` (p50, p99, max, in real microseconds), ``messages`` that were
        taken in, ``overran_share`` of the clocks, ``cpu_load`` of all processes per core,
        ``late_share_of_clock`` (the larger p99 over the median clock), ``time_scale``, ``verdict``,
        ``reason``, ``advice``.
    """
    lateness = np.concatenate([pace.lateness for pace in paces])
    overshoot = np.concatenate([pace.overshoot for pace in paces])
    spans = clocks["t_end"] - clocks["t_begin"]
    overran = sum(pace.overran for pace in paces) / max(1, len(spans))
    late = max(_quantile(lateness, 0.99), _quantile(overshoot, 0.99)) / max(1.0, _quantile(spans, 0.5))
    verdict = next((name for name, a, b in LIMITS if late <= a and overran <= b), NOT_FAITHFUL)
    load = sum(pace.cpu_seconds for pace in paces) / max(seconds, 1e-9) / cores
    figures = {
        "time_scale": time_scale,
        "lateness_us": _summary(lateness, time_scale),
        "overshoot_us": _summary(overshoot, time_scale),
        "messages": len(lateness),
        "overran_share": overran,
        "cpu_load": load,
        "late_share_of_clock": late,
        "verdict": verdict,
    }
    return figures | _explained(verdict, late, overran, load, time_scale, measured)


def _explained(
    verdict: str, late: float, overran: float, load: float, time_scale: float, measured: bool
) -> dict[str, str]:
    _, late_limit, overran_limit = LIMITS[0]
    reasons = [f"1% of messages and computations were late by {late:.1%} of a clock or more"]
    if overran > overran_limit:
        what = "a kernel had no processor to itself" if measured else _LONGER
        reasons.append(f"in {overran:.1%} of the clocks {what}")
    if verdict == FAITHFUL:
        return {"reason": f"all but 1% were late by less than {late:.1%} of a clock", "advice": ""}
    factor = min(100.0, max(2.0, late / late_limit if overran <= overran_limit else 2.0))
    larger = min(LARGEST_SCALE, _rounded_up(time_scale * factor))
    advice = f"set run.time_scale to {larger:g}, or use fewer workers"
    if measured:
        return {"reason": "; ".join(reasons), "advice": "use fewer clients than there are cores"}
    if load < LIGHT_LOAD:
        reasons.append(f"the run itself kept the processors busy for {load:.0%} of the time")
        advice = f"leave the machine to this run; where that is not possible, {advice}"
    return {"reason": "; ".join(reasons), "advice": advice}


def _summary(times: npt.NDArray[np.int64], time_scale: float) -> dict[str, float]:
    """Quantiles in real microseconds."""
    values = {"p50": _quantile(times, 0.5), "p99": _quantile(times, 0.99), "max": _quantile(times, 1.0)}
    return {name: value * time_scale / 1000 for name, value in values.items()}


def _quantile(times: npt.NDArray[np.int64], q: float) -> float:
    return float(np.quantile(times, q)) if len(times) else 0.0


def _rounded_up(x: float) -> float:
    """The next number with one digit."""
    unit = 10.0 ** math.floor(math.log10(x))
    return math.ceil(x / unit - 1e-9) * unit

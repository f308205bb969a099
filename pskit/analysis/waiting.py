"""Where the emulated time of the workers went: computing, waiting, sending."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.trace.schema import Columns


def time_split(clocks: Columns) -> dict[str, npt.NDArray[Any]]:
    """Sum up each worker's clocks.

    Returns
    -------
    dict of (n,) int64 arrays
        ``worker``; ``computing``, ``waiting`` (for rows) and ``sending`` (the rest: handing over
        messages, zero where that takes no emulated time), ns.
    """
    worker, place = np.unique(clocks["worker"], return_inverse=True)
    total, computing, waiting = np.zeros((3, len(worker)), np.int64)
    np.add.at(total, place, clocks["t_end"] - clocks["t_begin"])
    np.add.at(computing, place, clocks["t_compute"])
    np.add.at(waiting, place, clocks["t_wait"])
    return {
        "worker": worker.astype(np.int64),
        "computing": computing,
        "waiting": waiting,
        "sending": total - computing - waiting,
    }


def waiting_share(clocks: Columns) -> float:
    """Divide waiting by all time, of all workers and clocks together; NaN without any time."""
    total = int((clocks["t_end"] - clocks["t_begin"]).sum())
    return int(clocks["t_wait"].sum()) / total if total else float("nan")


def clock_time(clocks: Columns, quantile: float) -> float:
    """Quantile of the time per clock over all workers and clocks, s (linear); NaN without a clock."""
    spans = clocks["t_end"] - clocks["t_begin"]
    return float(np.quantile(spans, quantile)) * 1e-9 if len(spans) else float("nan")

"""A convex run in the order in which its computations started: the reference order of VAP and Theorem 1.

Clock-major order (`pskit.analysis.gamma`) is what each worker knows alone. Here the reference x^_t is the
start with the updates of all computations that started before t, whether made by then or not.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.analysis.gamma import references
from pskit.analysis.trace import Trace
from pskit.errors import InputError

Floats = npt.NDArray[np.float64]


class Started(NamedTuple):
    """Computations t = 1 .. T.

    Attributes
    ----------
    worker, clock : (T,) int64
    views, g : (T, d) float64
        What was read, and the gradient there.
    eta, f : (T,) float64
        Step, and value of the term at the view.
    x : (T + 1, d) float64
        References, rebuilt from the start and the updates: x[t - 1] is x^_t, BEFORE update t.
    """

    worker: npt.NDArray[np.int64]
    clock: npt.NDArray[np.int64]
    views: Floats
    g: Floats
    eta: Floats
    f: Floats
    x: Floats


def started(trace: Trace) -> Started:
    """The computations of a convex run, in the order of their starts.

    Under a policy with a gate this is the order of their numbers; under any other that of their reads, by
    time, and at equal times as the run took them down.

    Raises
    ------
    InputError
        When the run recorded no views, or not one step for each of them.
    """
    if "views" not in trace.names or "gradients" not in trace.names:
        raise InputError("this run recorded no views and gradients; see `Trace.steps`")
    views, made = trace.columns("views"), trace.columns("gradients")
    order = np.argsort(views["t"], kind="stable")
    workers = int(trace.manifest["workers"])
    read, stepped = (c["clock"].astype(np.int64) * workers + c["worker"] for c in (views, made))
    place = np.argsort(stepped, kind="stable")
    if len(read) != len(stepped) or not np.array_equal(np.sort(read), stepped[place]):
        raise InputError("this run did not take one step for every read; did it come to its end?")
    at = place[np.searchsorted(stepped[place], read[order])]
    eta, g = made["eta"][at], made["g"][at]
    x = references(trace.in_one_line("initial"), -eta[:, None] * g)
    worker, clock = (views[name][order].astype(np.int64) for name in ("worker", "clock"))
    return Started(worker, clock, views["x"][order], g, eta, made["f"][at], x)

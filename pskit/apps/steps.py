"""Step sizes: how the step falls over a run.

The index t of "inverse-sqrt-t" is the number of the computation in the reference order of all, from 1
(`Worker.start_index`): clock-major, t = c P + p + 1 of worker p in clock c, which each worker knows alone;
under a policy with a gate, the order of the starts. It is the index of the theory's eta/sqrt(t).
"""

import math
from typing import Any


def step_size(app: Any, clock: int, start: int) -> float:
    """The step of one computation.

    Parameters
    ----------
    app : AppConfig
        Read: ``step``, ``schedule``.
    clock : int
        Of the worker, from 0.
    start : int
        t, from 1.

    Returns
    -------
    float
        ``app.step`` times 1 ("constant"), 1/sqrt(clock + 1) ("inverse-sqrt") or 1/sqrt(t) ("inverse-sqrt-t").
    """
    size: float = app.step
    if app.schedule == "inverse-sqrt":
        return size / math.sqrt(clock + 1)
    if app.schedule == "inverse-sqrt-t":
        return size / math.sqrt(start)
    return size

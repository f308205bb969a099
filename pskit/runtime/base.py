"""What every runtime gives back, and what they have in common."""

import math
from typing import Any, NamedTuple

import numpy.typing as npt

from pskit.core.kernels import norms
from pskit.core.messages import Oplog

Tables = dict[str, npt.NDArray[Any]]


class Stuck(RuntimeError):
    """Workers wait although nothing can wake them: a fault of the protocol or of an application."""


class Outcome(NamedTuple):
    """End of a run.

    Attributes
    ----------
    status : str
        ``finished``, ``diverged`` or ``interrupted``.
    initial, final, incs : dict of (rows, cols) arrays
        Tables at the start and at the end, and the sum of all INCs in the order they were made.
    emulated : int, ns
    events : int
    """

    status: str
    initial: Tables
    final: Tables
    incs: Tables
    emulated: int
    events: int


def update_norms(oplog: Oplog) -> tuple[float, float]:
    """Euclidean and largest absolute norm of all of an oplog's updates."""
    squares, largest = 0.0, 0.0
    for part in oplog.parts:
        s, m = norms(part.delta)
        squares += s
        largest = max(largest, m)
    return math.sqrt(squares), largest

"""The arbiter of VAP: knows what every reader has not seen, and lets computations start.

A computation is a GET, some work, and its INCs. Computations are numbered t = 1, 2, ... in the order of their
starts, which is the *reference order*: x^_t is the initial state with all updates of the computations before
t, whether made by then or not. Since nobody can have seen an update whose computation has not started,

    view - x^_t = -(updates of others made, and not seen)  -  (updates of others to come)

and the second part is at most the sum of the *reservations* of the other computations in flight, eta_tau
L_inf each: the largest step that tau can take, held from its start until it is over. The gate opens when

    |updates of others made, and not seen|_inf + reservations of the others <= v_t

on the rows that are read (variant ``aggregate``). Then t is drawn and the reservation made in the same step.
That is the hypothesis of Theorem 1 [1410.8043]. Where no L_inf is known nothing is reserved: then only what
is made counts, and a view may be off by more than v_t once the others are through.

The variant ``per_worker`` is the condition as printed: each producer's unseen sum is at most v_t, and
nothing is reserved. It bounds the view by (P - 1) times that, and so is there for comparison.

Why nobody waits for ever: who waits has reserved nothing, who computes waits for nobody, and what is made
reaches everybody. So in the end nothing is unseen and nothing reserved, and 0 <= v_t.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.core.layout import Layout, RowIds
from pskit.core.transit import Room, Transit

VARIANTS = ("aggregate", "per_worker")
SCHEDULES: dict[str, Callable[[int], float]] = {
    "inverse-sqrt": lambda t: 1 / math.sqrt(t),
    "constant": lambda t: 1.0,
}
"""v_t / v0 by name."""
Bound = Callable[[int, int, int], float]
"""Largest entry that the update of a computation may have, by its worker, the clock, and its number t."""


class Start(NamedTuple):
    """A computation may start.

    Attributes
    ----------
    t : int
        Its number, from 1.
    v : float
        The threshold v_t.
    unseen : float
        Norm of what its worker has not seen.
    others : float
        What the others have reserved.
    reservation : float
        What it has reserved itself; 0 where no L_inf is known.
    """

    t: int
    v: float
    unseen: float
    others: float
    reservation: float


class Arbiter:
    """Who may start a computation.

    Parameters
    ----------
    layout : Layout
    members : sequence of sequences of int
        Worker ids of each client.
    v0 : float
        Above 0.
    variant : {"aggregate", "per_worker"}
    schedule : {"inverse-sqrt", "constant"}
    bound : callable, optional
        What to reserve; None: no L_inf is known.
    state : mapping of str to array, optional
        See `shapes`: shared by several processes, all zero at first. By default its own, and growing.

    Attributes
    ----------
    transit : Transit
    reserved : (workers,) float64
    """

    def __init__(
        self,
        layout: Layout,
        members: Sequence[Sequence[int]],
        v0: float,
        variant: str = "aggregate",
        schedule: str = "inverse-sqrt",
        bound: Bound | None = None,
        state: "dict[str, npt.NDArray[Any]] | None" = None,
    ) -> None:
        self._client = {w: c for c, workers in enumerate(members) for w in workers}
        self.v0, self.by_producer = v0, variant == "per_worker"
        self._shape = SCHEDULES[schedule]
        self.bound = None if self.by_producer else bound
        own = state or {
            "started": np.zeros(1, np.int64),
            "reserved": np.zeros(len(self._client), np.float64),
        }
        room = Room(**{name: own[name] for name in Room._fields}) if state else None
        self._started: npt.NDArray[np.int64] = own["started"]
        self.reserved: npt.NDArray[np.float64] = own["reserved"]
        self.transit = Transit(layout, len(members), room)

    @classmethod
    def shapes(
        cls, clients: int, workers: int, units: int, rows: int, values: int
    ) -> dict[str, tuple[Any, type]]:
        """Shapes and dtypes of the arrays of a ``state`` with room for so much in transit at a time."""
        return {"started": ((1,), np.int64), "reserved": ((workers,), np.float64)} | Room.shapes(
            clients, units, rows, values
        )

    @property
    def started(self) -> int:
        """Computations started so far."""
        return int(self._started[0])

    def threshold(self, t: int) -> float:
        """v_t."""
        return self.v0 * self._shape(t)

    @property
    def closed(self) -> bool:
        """Whether what is reserved keeps everybody out, whatever they have seen."""
        return self._others() > self.threshold(self.started + 1)

    def ask(self, worker: int, clock: int, rows: RowIds) -> Start | None:
        """``worker`` wants to start a computation on ascending ``rows`` (n,), all cached: it may, or not yet.

        It is in no computation.
        """
        others = self._others()
        t = self.started + 1
        v = self.threshold(t)
        if others > v:
            return None
        unseen = self.transit.largest(worker, self._client[worker], rows, self.by_producer)
        if unseen + others > v:
            return None
        reservation = 0.0 if self.bound is None else self.bound(worker, clock, t)
        self._started[0] = t
        self.reserved[worker] = reservation
        return Start(t, v, unseen, others, reservation)

    def over(self, worker: int) -> None:
        """The computation of ``worker`` is over: what it adds is in transit, or seen."""
        self.reserved[worker] = 0.0

    def _others(self) -> float:
        # Afresh each time: a running sum would keep what was rounded away, and never come back to 0.
        return float(self.reserved.sum())

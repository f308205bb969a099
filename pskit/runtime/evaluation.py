"""Metrics of the shared tables over emulated time, and whether the run diverges."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pskit.core.clocks import VectorClock
from pskit.core.kernels import add_rows
from pskit.core.layout import Layout, RowIds
from pskit.core.messages import Values
from pskit.core.server import ServerShard
from pskit.trace.recorder import Recorder

Tables = dict[str, np.ndarray[Any, Any]]


def tables_of(layout: Layout) -> Tables:
    """Zero tables (rows, cols) of every table of ``layout``."""
    return {t.name: np.zeros((t.rows, t.cols), d) for t, d in zip(layout.tables, layout.dtypes, strict=True)}


def add_to(tables: Tables, layout: Layout, table: int, rows: RowIds, delta: Values) -> None:
    """Add ``delta`` to the rows ``rows`` (ids of the layout) of the table number ``table``."""
    add_rows(tables[layout.tables[table].name], rows, layout.offsets[table], delta)


class Evaluation:
    """Evaluates the objective whenever the slowest worker has finished another ``every`` clocks.

    The tables are the servers' at that moment, faster workers' later updates included.

    Parameters
    ----------
    objective : callable
        Whole tables to metrics by name, among them ``"loss"``; see `pskit.runtime.guard.Guarded`.
    shards : list of ServerShard
    layout : Layout
    recorder : Recorder
    every : int
        Clocks between evaluations.
    diverge_factor : float
        A loss above this multiple of the initial one marks the run as diverged; it goes on. A loss that is
        not finite ends it. No multiple of an initial loss of 0 or below, such as a log-likelihood, is a
        bound: then only a loss that is not finite counts as diverged.

    Attributes
    ----------
    seen : VectorClock
        Shard clocks, for the slowest of them.
    """

    def __init__(
        self,
        objective: Callable[[Mapping[str, Any]], dict[str, float]],
        shards: list[ServerShard],
        layout: Layout,
        recorder: Recorder,
        every: int,
        diverge_factor: float,
    ) -> None:
        self._objective, self._shards, self._recorder, self._every = objective, shards, recorder, every
        self._factor = diverge_factor
        self._tables = tables_of(layout)
        self.seen = VectorClock(range(layout.shards))
        self._initial = math.nan
        self.clock = -1
        self.changed = False  # whether an update was applied since the last evaluation
        self.diverged = False
        self.stopped = False

    def on_rise(self, shard: ServerShard, now: int, finished: Callable[[], int]) -> None:
        """A shard's clock rose: evaluate once the slowest shard has seen another clock in full.

        Parameters
        ----------
        shard : ServerShard
        now : int, ns
        finished : callable
            Tells the clocks that the fastest worker has finished: a leaving oplog ends no clock() call.
        """
        slowest_rose = False
        while self.seen.received[shard.shard] < shard.clock.minimum:
            slowest_rose |= self.seen.tick(shard.shard)
        if slowest_rose:
            clock = min(self.seen.minimum, finished())
            if clock > self.clock:
                self.on_clock(now, clock)

    def on_clock(self, now: int, clock: int) -> None:
        """The slowest worker has finished ``clock`` clocks."""
        if clock - self.clock >= self._every or self.clock < 0:
            self.evaluate(now, clock)

    def evaluate(self, now: int, clock: int) -> None:
        """Evaluate now and record the metrics under ``clock``."""
        for shard in self._shards:
            shard.values_into(self._tables)
        self.clock, self.changed = clock, False
        metrics = self._objective(self._tables)
        for name, value in metrics.items():
            self._recorder.metric(now, clock, name, value)
        loss = metrics["loss"]
        if math.isnan(self._initial):
            self._initial = loss
        if not math.isfinite(loss):
            self.diverged = self.stopped = True
            detail = f"the training loss after clock {clock} is {loss}"
            self._recorder.fault(now, "non-finite loss", -1, clock, "", -1, detail)
        elif loss > self._factor * self._initial > 0:
            self.diverged = True

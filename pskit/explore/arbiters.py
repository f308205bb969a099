"""The arbiter's state as a value, what each event makes of it, and whether what it allows is right."""

from typing import Any, NamedTuple

import numpy as np

from pskit.core.arbiter import Arbiter, Start
from pskit.core.ledger import broken
from pskit.core.messages import Read
from pskit.core.transit import HEAD, INDEX, MADE
from pskit.explore.ledger import Counts, ScriptLedger, with_count
from pskit.explore.memo import Memo, Numbers
from pskit.explore.outcomes import Tables, said
from pskit.explore.wire import Rows, ids, matrix, rows_of


class FrozenUnit(NamedTuple):
    """An update in transit, see `pskit.core.transit`."""

    producer: int
    seq: int
    shard: int
    applied_as: int
    owed: Rows
    rows: Rows
    values: bytes


class FrozenArbiter(NamedTuple):
    """``begun`` and ``made``: computations and units of each worker so far, as the explorer counts them."""

    started: int
    reserved: tuple[float, ...]
    units: tuple[FrozenUnit, ...]
    begun: Counts
    made: Counts


class Made(NamedTuple):
    """A worker made a unit for a shard, of int64 rows."""

    worker: int
    seq: int
    shard: int
    rows: Rows
    values: bytes


class WasApplied(NamedTuple):
    """A shard applied a unit, which some clients are owed."""

    worker: int
    seq: int
    shard: int
    applied_as: int
    clients: Rows


class Seen(NamedTuple):
    """A client took in a push."""

    client: int
    shard: int
    version: int


class Over(NamedTuple):
    """A worker's computation is over."""

    worker: int


News = Made | WasApplied | Seen | Over


class Arbiters:
    """All states of the arbiter that were met, numbered.

    Parameters
    ----------
    tables : Tables

    Attributes
    ----------
    start : int
    heard : mapping of (state, news) to int
        State after something was heard.
    asked : mapping of (state, worker, clock, rows) to (Start, int) or None
        What a worker at the gate is told, and the state after it.
    """

    def __init__(self, tables: Tables) -> None:
        self._system, self._ledger = tables.system, tables.ledger
        system = self._system
        members = [system.members(c) for c in range(system.clients)]
        largest: dict[tuple[int, int], float] = {}
        for worker, computations in enumerate(system.computations):
            for one in computations:
                key = worker, one.clock
                largest[key] = max(largest.get(key, 0.0), one.largest)
        bound = (lambda worker, clock, t: largest[worker, clock]) if system.reserve else None
        rule: tuple[Any, ...] = (system.v0, system.variant, system.schedule, bound)
        self.machine = Arbiter(system.layout, members, *rule)
        self.states = Numbers[FrozenArbiter]()
        none = (0,) * system.workers
        self.start = self.states.of(FrozenArbiter(0, (0.0,) * system.workers, (), none, none))
        self.heard = Memo(self._hear)
        self.asked = Memo(self._ask)

    def _hear(self, key: tuple[int, News]) -> int:
        number, news = key
        before = self.states[number]
        made, transit = before.made, self._thaw(before).transit
        if isinstance(news, Made):
            delta = matrix(news.values, self._system.columns)
            transit.made(news.worker, news.seq, news.shard, ids(news.rows), delta)
            made = with_count(made, news.worker, news.seq + 1)
        elif isinstance(news, WasApplied):
            clients = np.zeros(self._system.clients, np.bool_)
            clients[list(news.clients)] = True
            transit.applied(news.worker, news.seq, news.shard, news.applied_as, clients)
        elif isinstance(news, Seen):
            transit.seen(*news)
        else:
            self.machine.over(news.worker)
        return self.states.of(self._freeze(before.begun, made))

    def _ask(self, key: tuple[int, int, int, Rows]) -> tuple[Start, int] | None:
        number, worker, clock, rows = key
        before = self.states[number]
        start = self._thaw(before).ask(worker, clock, ids(rows))
        if start is None:
            return None
        begun = with_count(before.begun, worker, before.begun[worker] + 1)
        return start, self.states.of(self._freeze(begun, before.made))

    def _freeze(self, begun: Counts, made: Counts) -> FrozenArbiter:
        arbiter = self.machine
        units = sorted(
            FrozenUnit(producer, seq, shard, index, owed, rows_of(rows), values.tobytes())
            for producer, seq, shard, index, owed, rows, values in arbiter.transit.units()
        )
        return FrozenArbiter(arbiter.started, tuple(arbiter.reserved.tolist()), tuple(units), begun, made)

    def _thaw(self, state: FrozenArbiter) -> Arbiter:
        arbiter, transit = self.machine, self.machine.transit
        arbiter._started[0] = state.started
        arbiter.reserved[:] = state.reserved
        transit.room.head[:HEAD] = 0
        for u, unit in enumerate(state.units):
            values = np.frombuffer(unit.values).reshape(len(unit.rows), -1)
            transit.made(unit.producer, unit.seq, unit.shard, ids(unit.rows), values)
            if unit.applied_as != MADE:
                transit.room.units[u, INDEX] = unit.applied_as
                transit.room.owed[u] = False
                transit.room.owed[u, list(unit.owed)] = True
        return arbiter

    # -- whether it is right -------------------------------------------------------------------------

    def wrong(
        self, number: int, known: dict[tuple[int, int], Counts], start: Start, read: Read
    ) -> str | None:
        """Invariant 8 of a start that the arbiter in state ``number`` allows; what is wrong with it.

        ``known``: what was applied at the (shard, version) of the copies that were read.
        """
        state, ledger = self.states[number], self._ledger
        try:
            if start.t != sum(state.begun) + 1 or start.v != self.machine.threshold(start.t):
                broken("8. numbers", f"{start} after {state.begun}")
            if self._system.variant == "per_worker":
                self._each_unseen(state, known, start, read)
            else:
                counts = self._reference(state) if self._system.reserve else state.made
                off = self._distance(ledger, counts, read)
                if off > start.v:
                    broken("8. value bound", f"worker {read.worker} is off by {off}, {start}")
        except Exception as error:
            return said(error)
        return None

    def _reference(self, state: FrozenArbiter) -> Counts:
        """Units in x^_t: those of all computations begun so far, whether made or not."""
        pairs = zip(self._system.computations, state.begun, strict=True)
        return tuple(own[k - 1].units if k else 0 for own, k in pairs)

    def _distance(self, ledger: ScriptLedger, counts: Counts, read: Read) -> float:
        rows = read.rows.tolist()
        return max(
            float(np.abs(view - ledger.value_of(row, counts)).max())
            for row, view in zip(rows, read.views[0], strict=True)
        )

    def _each_unseen(
        self, state: FrozenArbiter, known: dict[tuple[int, int], Counts], start: Start, read: Read
    ) -> None:
        layout, made = self._system.layout, state.made
        for row, version in zip(read.rows.tolist(), read.version.tolist(), strict=True):
            has = known[row % layout.shards, version]
            for worker, units in self._ledger.units.items():
                unseen = [unit[row] for unit in units[has[worker] : made[worker]] if row in unit]
                if worker != read.worker and unseen and np.abs(sum(unseen)).max() > start.v:
                    broken(
                        "8. value bound", f"worker {read.worker} lacks {unseen} of worker {worker}, {start}"
                    )

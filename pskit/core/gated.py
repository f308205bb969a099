"""A client under a policy with a gate (VAP): its GETs start computations, and its INCs leave at once.

Rules it implements (`docs/explanation/protocol.md`, "VAP"):

1. A GET waits until all its rows are cached, and then at the gate: it *knocks*, and again whenever something
   has arrived. Copies are taken by `start`, when the arbiter lets it in, and not before.
2. A GET starts a *computation*, which is over at the worker's next GET, clock() or leave(). It reads once: a
   second GET before an INC is refused. An INC outside a computation is refused.
3. Every INC is a unit of its own, and leaves as one `Increment` per shard that keeps a row of it. clock()
   sends only the tick, which is a unit without rows.

Nothing is ever evicted: the gate needs all rows of a computation in the cache.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.core.client import Client, Waiter, WorkerState
from pskit.core.layout import Layout, RowIds
from pskit.core.messages import (
    Effect,
    Ended,
    Increment,
    Knock,
    Message,
    ProtocolViolation,
    Read,
    ToShard,
    Values,
    make,
)
from pskit.core.policies.base import Policy
from pskit.core.rows import RowPools

IDLE, READ, ADDED = range(3)
"""Where a worker is: in no computation; in one that has read; in one that has made an INC."""


class Misuse(ProtocolViolation):
    """A call that the rules of the gate forbid; says what to do instead."""


class AtGate(NamedTuple):
    """A GET all whose rows are cached: the rows (n,), and which of them were cached when it was made."""

    rows: RowIds
    hit: npt.NDArray[np.bool_]


class GatedClient(Client):
    """State machine of one client process under a policy with a gate; see `Client` for the parameters.

    Attributes
    ----------
    gate : dict of int to AtGate
        Workers that wait at the gate, in the order of their coming there.
    phase : dict of int to int
        By worker: `IDLE`, `READ` or `ADDED`.
    """

    def __init__(
        self,
        client: int,
        workers: Sequence[int],
        layout: Layout,
        policy: Policy,
        pools: RowPools,
        cache_rows: int = 0,
    ) -> None:
        if 0 < cache_rows < layout.n_rows:
            raise Misuse(
                f"policy {policy.name!r} needs all {layout.n_rows} rows in the cache, not {cache_rows}"
            )
        super().__init__(client, workers, layout, policy, pools)
        self.gate: dict[int, AtGate] = {}
        self.phase = dict.fromkeys(self.workers, IDLE)

    # -- calls of the workers ----------------------------------------------------------------------

    def get(self, worker: int, rows: RowIds) -> list[Effect]:
        """GET of ascending, distinct global ``rows`` (n,), with which a computation wants to start.

        Raises
        ------
        Misuse
            When the computation before it has read and not added anything.
        """
        state = self._worker(worker, "GET")
        if self.phase[worker] == READ:
            raise Misuse(
                f"a second GET of worker {worker} at clock {state.clock}: under {self.policy.name!r} a "
                "computation reads once; get the rows of all its tables with one ps.get(...), and INC or "
                "clock() before the next"
            )
        before: list[Effect] = self._over(worker)
        hit = self.cache.row_clock[rows] >= 0
        if hit.all():
            self.gate[worker] = AtGate(rows, hit)
            return [*before, Knock(worker)]
        return [*before, *super().get(worker, rows)]

    def start(self, worker: int) -> list[Effect]:
        """The arbiter has let ``worker`` in: take the copies, now."""
        rows, hit = self.gate.pop(worker)
        state = self.workers[worker]
        self.phase[worker] = READ
        waiter = Waiter(rows, state.clock, self.policy.need(state.clock))
        waiter.serve(self.cache, state.index)
        waiter.hit = hit
        return [self._read(state, waiter)]

    def add(self, worker: int, table: int, rows: RowIds, delta: Values, now: int = 0) -> list[Effect]:
        """INC, which leaves at once; see `Client.inc`. ``now`` (ns) is only carried along.

        Raises
        ------
        Misuse
            Outside a computation.
        NonFiniteUpdate, ProtocolViolation
            See `Client.inc`.
        """
        state = self._worker(worker, "INC")
        if self.phase[worker] == IDLE:
            raise Misuse(
                f"an INC of worker {worker} at clock {state.clock} without a GET: under {self.policy.name!r} "
                "every INC belongs to the computation that a GET has started, and that clock() ends"
            )
        self.inc(worker, table, rows, delta)
        if not len(rows):
            return []
        self.phase[worker] = ADDED
        seq = state.log.seq
        return [
            make(ToShard, (j, make(Increment, (worker, state.clock, seq, parts, False, now, now))))
            for j, parts in sorted(state.log.close().items())
        ]

    def _worker(self, worker: int, call: str) -> WorkerState:
        if worker in self.gate:
            raise ProtocolViolation(f"{call} by worker {worker} at client {self.client}: it waits in a GET")
        return super()._worker(worker, call)

    def _flush(self, state: WorkerState, t_inc: int, now: int, leaving: bool) -> list[Effect]:
        return [*super()._flush(state, t_inc, now, leaving), *self._over(state.worker)]

    def _over(self, worker: int) -> list[Effect]:
        """The worker's computation is over, if it is in one."""
        was, self.phase[worker] = self.phase[worker], IDLE
        return [] if was == IDLE else [Ended(worker)]

    def _never_needed(
        self, state: WorkerState, rows: RowIds, seq: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """In the cached copy, or in any that may come: its request will follow the oplog on its link."""
        unneeded = self.cache.contains_own(state.index, rows, seq)
        unneeded |= (self.cache.row_clock[rows] < 0) & (self.asked[rows] == 0)
        return unneeded

    # -- messages of the shards --------------------------------------------------------------------

    def receive(self, shard: int, message: Message) -> list[Effect]:
        """Take in one message of ``shard``; who waits at the gate knocks again."""
        waiting = {w: state.waiter for w, state in self.workers.items() if state.waiter is not None}
        came = super().receive(shard, message)
        if not came and not self.gate:  # nearly every push
            return came
        effects: list[Effect] = []
        for effect in came:
            if isinstance(effect, Read):
                waiter = waiting[effect.worker]
                self.gate[effect.worker] = AtGate(waiter.rows, waiter.hit)
            else:
                effects.append(effect)
        return [*effects, *map(Knock, self.gate)]

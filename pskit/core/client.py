"""A client: its workers' clocks and own updates, their shared process cache, the GETs that wait.

Rules it implements (`docs/explanation/protocol.md`):

1. A cached copy may be returned iff its effective clock is >= the need of the worker's clock.
2. A row that is cached and subscribed but too old waits for the push; every other missing row is
   requested, unless a request of this client for it with an *equal* need is outstanding.
3. Every reply is installed and wakes every waiter it satisfies; a fetched row goes straight to its
   waiter, so nothing is pinned and any capacity >= 1 works.
4. Eviction unsubscribes, unless a request for that row is outstanding: then the subscription stays and
   the reply restores the copy. A worker that waited for the evicted row's push asks for it at once, after
   the unsubscribe.
5. A view is the copy plus the worker's own updates that are not in it.
6. clock() sends one oplog to every shard, an empty one included; updates leave exactly once.

Every method returns the effects for the runtime, in order; a completed GET is a `Read` among them.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pskit.core import kernels
from pskit.core.cache import ProcessCache
from pskit.core.layout import Layout, RowIds
from pskit.core.messages import (
    Effect,
    Message,
    Oplog,
    ProtocolViolation,
    Push,
    Read,
    Reply,
    Request,
    Slots,
    ToShard,
    ToShards,
    Unsubscribe,
    Values,
    make,
)
from pskit.core.oplog import UpdateLog
from pskit.core.policies.base import Policy
from pskit.core.rows import RowPools


class NonFiniteUpdate(ArithmeticError):
    """INC with a NaN or an infinity: refused, the run has diverged.

    Attributes
    ----------
    worker, clock, row : int
    table : str
    """

    def __init__(self, worker: int, clock: int, table: str, row: int) -> None:
        super().__init__(
            f"worker {worker} at clock {clock}: INC of a non-finite value to row {row} of table {table!r}"
        )
        self.worker, self.clock, self.table, self.row = worker, clock, table, row


class Waiter:
    """A GET in progress: what was served so far, and which positions are missing."""

    __slots__ = (
        "clock",
        "have_clock",
        "have_own",
        "have_slot",
        "have_version",
        "hit",
        "missing",
        "need",
        "rows",
    )

    def __init__(self, rows: RowIds, clock: int, need: int) -> None:
        n = len(rows)
        self.rows, self.clock, self.need = rows, clock, need
        self.have_slot: Slots = np.empty(n, np.int32)
        self.have_clock = np.empty(n, np.int32)
        self.have_version = np.empty(n, np.int64)
        self.have_own = np.empty(n, np.int32)
        self.missing = np.arange(n, dtype=np.int32)
        self.hit = np.ones(n, np.bool_)

    def serve(self, cache: ProcessCache, me: int) -> bool:
        """Take what the cache can give now; True when nothing is missing any more."""
        out = (self.have_slot, self.have_clock, self.have_version, self.have_own)
        left = cache.lookup(self.missing, self.rows, self.need, me, self.clock, out)
        self.missing = self.missing[:left]
        return left == 0

    def missing_rows(self) -> RowIds:
        """Rows not served yet (m,), ascending."""
        return self.rows[self.missing]


class WorkerState:
    """What a client knows of one of its workers."""

    __slots__ = ("clock", "index", "log", "present", "waiter", "worker")

    def __init__(self, worker: int, index: int, layout: Layout) -> None:
        self.worker, self.index = worker, index
        self.clock = 0
        self.log = UpdateLog(layout)
        self.waiter: Waiter | None = None
        self.present = True


class Client:
    """State machine of one client process.

    Parameters
    ----------
    client : int
    workers : sequence of int
        Ids of its workers.
    layout : Layout
    policy : Policy
    pools : RowPools
        Where the copies' values live.
    cache_rows : int
        Capacity of the process cache; 0 = all rows.
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
        self.client, self.layout, self.policy, self.pools = client, layout, policy, pools
        self.workers = {w: WorkerState(w, i, layout) for i, w in enumerate(workers)}
        self.cache = ProcessCache(layout, pools, len(self.workers), cache_rows, policy.refetches)
        self.outstanding: dict[int, tuple[int, RowIds]] = {}  # tag -> (need, rows)
        self.asked = np.zeros(layout.n_rows, np.int16)  # outstanding requests by row
        self._next_tag = 0
        self._effects: list[Effect] = []

    # -- calls of the workers ----------------------------------------------------------------------

    def get(self, worker: int, rows: RowIds) -> list[Effect]:
        """GET of ascending, distinct global ``rows`` (n,): a `Read` now, or once messages have come.

        Raises
        ------
        ProtocolViolation
            When the worker is waiting already, or has left.
        """
        state = self._worker(worker, "GET")
        effects: list[Effect] = []
        self._effects = effects
        waiter = Waiter(rows, state.clock, self.policy.need(state.clock))
        if waiter.serve(self.cache, state.index):
            effects.append(self._read(state, waiter))
            return effects
        state.waiter = waiter
        waiter.hit[waiter.missing] = False
        missing = waiter.missing_rows()
        if self.policy.subscribes:  # a cached copy is subscribed: its push is on the way
            missing = missing[self.cache.row_clock[missing] < 0]
        self._ask(worker, missing, waiter.need)
        return effects

    def give_up(self, worker: int) -> None:
        """The worker no longer waits in a GET; what was asked for is installed when it comes."""
        self.workers[worker].waiter = None

    def inc(self, worker: int, table: int, rows: RowIds, delta: Values) -> None:
        """Add ``delta`` (n, cols) to ascending, distinct global ``rows`` (n,) of one table.

        Raises
        ------
        NonFiniteUpdate
            On a NaN or an infinity; nothing is added.
        ProtocolViolation
            When the worker is waiting or has left.
        """
        state = self._worker(worker, "INC")
        if len(rows) == 0:
            return
        bad = kernels.first_non_finite(delta) if delta.dtype.kind == "f" else -1
        if bad >= 0:
            row = int(rows[bad] - self.layout.offsets[table])
            raise NonFiniteUpdate(worker, state.clock, self.layout.tables[table].name, row)
        state.log.inc(table, rows, delta)

    def clock(self, worker: int, t_inc: int = 0, now: int = 0) -> list[Effect]:
        """End the worker's clock: one oplog to every shard.

        ``t_inc`` and ``now`` (ns, first INC of the unit and time of sending) are only carried along.
        """
        return self._flush(self._worker(worker, "CLOCK"), t_inc, now, leaving=False)

    def leave(self, worker: int, t_inc: int = 0, now: int = 0) -> list[Effect]:
        """The worker's work is done: a leaving oplog, with any updates since its last clock."""
        state = self._worker(worker, "LEAVE")
        state.present = False
        return self._flush(state, t_inc, now, leaving=True)

    def _worker(self, worker: int, call: str) -> WorkerState:
        state = self.workers.get(worker)
        if state is None or not state.present or state.waiter is not None:
            what = (
                "is not on this client"
                if state is None
                else "has left"
                if not state.present
                else "waits in a GET"
            )
            raise ProtocolViolation(f"{call} by worker {worker} at client {self.client}: the worker {what}")
        return state

    def _flush(self, state: WorkerState, t_inc: int, now: int, leaving: bool) -> list[Effect]:
        seq, clock = state.log.seq, state.clock
        parts = state.log.close()
        tick = make(Oplog, (state.worker, clock, seq, (), leaving, t_inc, now))
        effects: list[Effect] = [make(ToShards, (tick, parts))]
        state.clock = clock + 1
        before, after = self.policy.need(clock), self.policy.need(clock + 1)
        if after < before:  # own updates were dropped on its word
            raise ProtocolViolation(
                f"policy {self.policy.name!r}: the need of a GET falls from {before} at clock {clock} "
                f"to {after} at the next; it may only rise"
            )
        if state.log.long:
            state.log.drop(lambda rows, seq: self._never_needed(state, rows, seq))
        return effects

    def _never_needed(
        self, state: WorkerState, rows: RowIds, seq: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """Own entries that no later view will re-add: in the cached copy, or in every copy that may come."""
        contained = self.cache.contains_own(state.index, rows, seq)
        if self.policy.refetches:  # the next copy answers a request that will follow the oplog on its link
            contained |= self.asked[rows] == 0
        else:
            contained |= seq < self.policy.need(state.clock)
        return contained

    # -- messages of the shards --------------------------------------------------------------------

    def receive(self, shard: int, message: Message) -> list[Effect]:
        """Take in one message of ``shard``: copies into the cache, then the waiters it satisfies."""
        effects: list[Effect] = []
        self._effects = effects
        if type(message) is Push:
            self.cache.install_push(shard, message)
        elif type(message) is Reply:
            _, rows = self.outstanding.pop(message.tag)
            self.asked[rows] -= 1
            self.cache.install_reply(message)
            if self.policy.refetches:
                self._mark_fetched(message.rows)
        else:
            raise ProtocolViolation(
                f"shard {shard} sent client {self.client} a {type(message).__name__}: only clients send that"
            )
        for state in self.workers.values():
            if state.waiter is not None and state.waiter.serve(self.cache, state.index):
                waiter, state.waiter = state.waiter, None
                effects.append(self._read(state, waiter))
        if self.cache.capacity and self.cache.count > self.cache.capacity:
            self._evict(self.cache.evict())
        return effects

    def _mark_fetched(self, rows: RowIds) -> None:
        """A reply serves the clock of every worker that now waits for one of its rows."""
        for state in self.workers.values():
            if state.waiter is not None:
                wanted = np.intersect1d(state.waiter.missing_rows(), rows, assume_unique=True)
                self.cache.fetched[state.index, wanted] = state.clock

    def evict(self, rows: RowIds) -> list[Effect]:
        """Drop cached ``rows`` (n,) now, whatever the capacity (any moment is legal)."""
        effects: list[Effect] = []
        self._effects = effects
        rows = rows[self.cache.row_clock[rows] >= 0]
        self.cache.row_clock[rows] = -1
        self.cache.count -= len(rows)
        self._evict(rows)
        return effects

    def _evict(self, rows: RowIds) -> None:
        if not self.policy.subscribes:
            return
        for shard, gone in self.layout.split_by_shard(rows[self.asked[rows] == 0]):
            self._effects.append(ToShard(shard, Unsubscribe(gone)))
        for state in self.workers.values():
            if state.waiter is not None:
                orphans = np.intersect1d(state.waiter.missing_rows(), rows, assume_unique=True)
                self._ask(state.worker, orphans, state.waiter.need)

    def _ask(self, worker: int, rows: RowIds, need: int) -> None:
        """Request ``rows`` (n,), without those for which a request with an equal need is outstanding."""
        if len(rows) and self.asked[rows].any():
            for other_need, other_rows in self.outstanding.values():
                if other_need == need:
                    rows = np.setdiff1d(rows, other_rows, assume_unique=True)
        for shard, part in self.layout.split_by_shard(rows):
            tag = self._next_tag
            self._next_tag += 1
            self.outstanding[tag] = (need, part)
            self.asked[part] += 1
            self._effects.append(ToShard(shard, Request(worker, part, need, tag)))

    def _read(self, state: WorkerState, waiter: Waiter) -> Read:
        """The finished view: copies of the served versions, plus own updates not in them."""
        views = []
        for table, cut in self.pools.split(waiter.rows):
            view = self.pools.pools[table].values.take(waiter.have_slot[cut], axis=0, mode="clip")
            state.log.add_to(table, view, waiter.rows[cut], waiter.have_own[cut])
            views.append(view)
        return Read(
            state.worker, waiter.clock, waiter.rows, tuple(views), waiter.have_version, waiter.have_own,
            state.log.seq + 1, waiter.clock - waiter.have_clock, waiter.hit,
        )  # fmt: skip

    # -- what runtimes and checks look at ----------------------------------------------------------

    def alive(self) -> list[tuple[RowIds, Slots]]:
        """Rows and slots that this client still refers to, waiting GETs included."""
        roots = list(self.cache.alive())
        for state in self.workers.values():
            if state.waiter is not None:
                served = np.ones(len(state.waiter.rows), np.bool_)
                served[state.waiter.missing] = False
                roots.append((state.waiter.rows[served], state.waiter.have_slot[served]))
        return roots

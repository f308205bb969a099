"""A client's state as a value: taken from the real machine, and put back into it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from pskit.core.client import Client, Waiter, WorkerState
from pskit.core.gated import AtGate, GatedClient
from pskit.core.messages import Request
from pskit.core.oplog import SHORT
from pskit.core.rows import RowPools
from pskit.explore.ledger import Counts
from pskit.explore.system import System
from pskit.explore.wire import Label, Rows, ids, matrix, rows_of

KNOWN = {
    "Client": "client layout policy pools workers cache outstanding asked _next_tag _effects",
    "GatedClient": "client layout policy pools workers cache outstanding asked _next_tag _effects gate phase",
    "WorkerState": "clock index log present waiter worker",
    "Waiter": "clock have_clock have_own have_slot have_version hit missing need rows",
    "ProcessCache": "layout pools capacity slot row_clock row_version row_applied push_clock push_version "
    "push_applied fetched used count hand dropped",
    "UpdateLog": "_limit layout seq tables",
    "TableLog": "delta n_units rows seq start",
}
"""Attributes that are frozen here, or never change, or only count. A test compares."""


class FrozenLog(NamedTuple):
    """Own updates, see `pskit.core.oplog.TableLog`."""

    seq: int
    rows: bytes
    delta: bytes
    start: bytes
    units: bytes


class FrozenWaiter(NamedTuple):
    """A GET in progress; ``have_...`` and ``values`` of the rows served so far only."""

    rows: Rows
    clock: int
    need: int
    missing: Rows
    have_clock: Rows
    have_version: Rows
    have_own: Rows
    values: bytes
    hit: bytes


class FrozenWorker(NamedTuple):
    """``done``: moves of its script that were made, which the explorer knows and the machine does not."""

    done: int
    clock: int
    present: bool
    log: FrozenLog
    waiter: FrozenWaiter | None


class FrozenCache(NamedTuple):
    """Copies told apart by value, not by slot; those of rows not cached are left out."""

    row_clock: bytes
    row_version: bytes
    row_applied: bytes
    values: bytes
    push_clock: bytes
    push_version: bytes
    push_applied: bytes
    fetched: bytes
    used: bytes
    cached: int
    hand: int


class FrozenClient(NamedTuple):
    """``known``: what was applied at (shard, version) of the copies here, which the explorer knows.

    ``gate`` and ``phase``: under a policy with a gate, who waits there, for which rows, and where each
    worker is.
    """

    client: int
    workers: tuple[FrozenWorker, ...]
    cache: FrozenCache
    outstanding: tuple[tuple[Label, int, Rows], ...]
    asked: Rows
    known: tuple[tuple[tuple[int, int], Counts], ...]
    gate: tuple[tuple[int, Rows, bytes], ...] = ()
    phase: Counts = ()


class ClientBox:
    """One real client with a row pool of its own, into which states are put.

    Parameters
    ----------
    system : System
    client : int
    """

    def __init__(self, system: System, client: int) -> None:
        self.pools = RowPools(system.layout)
        self.pool = self.pools.pools[0]
        made = GatedClient if system.gated else Client
        self.machine = made(
            client, system.members(client), system.layout, system.make_policy(), self.pools, system.capacity
        )
        self.done: dict[int, int] = dict.fromkeys(self.machine.workers, 0)
        self.known: dict[tuple[int, int], Counts] = {}
        self.used = 0
        self._free = self.pool.free.copy()
        self._trim = system.trim

    # -- out of the machine --------------------------------------------------------------------------

    def freeze(self) -> FrozenClient:
        """The machine's state; requests must have their labels."""
        c = self.machine
        workers = tuple(self._freeze_worker(w, state) for w, state in c.workers.items())
        outstanding: Any = sorted((tag, need, rows_of(rows)) for tag, (need, rows) in c.outstanding.items())
        needed = self._versions_in_use()
        known = tuple(sorted((key, counts) for key, counts in self.known.items() if key in needed))
        gate: tuple[tuple[int, Rows, bytes], ...] = ()
        phase: Counts = ()
        if isinstance(c, GatedClient):
            gate = tuple(sorted((w, rows_of(rows), hit.tobytes()) for w, (rows, hit) in c.gate.items()))
            phase = tuple(c.phase.values())
        return FrozenClient(
            c.client, workers, self._freeze_cache(), tuple(outstanding), rows_of(c.asked), known, gate, phase
        )

    def _freeze_worker(self, worker: int, state: WorkerState) -> FrozenWorker:
        log, waiter = state.log, state.waiter
        table = log.tables[0]
        n, used = table.n_units, table.used
        units = FrozenLog(
            log.seq,
            table.rows[:used].tobytes(),
            table.delta[:used].tobytes(),
            table.start[: n + 1].tobytes(),
            table.seq[:n].tobytes(),
        )
        frozen = None
        if waiter is not None:
            have = np.ones(len(waiter.rows), np.bool_)
            have[waiter.missing] = False
            frozen = FrozenWaiter(
                rows_of(waiter.rows),
                waiter.clock,
                waiter.need,
                rows_of(waiter.missing),
                rows_of(waiter.have_clock[have]),
                rows_of(waiter.have_version[have]),
                rows_of(waiter.have_own[have]),
                self.pool.values[waiter.have_slot[have]].tobytes(),
                waiter.hit.tobytes(),
            )
        return FrozenWorker(self.done[worker], state.clock, state.present, units, frozen)

    def _freeze_cache(self) -> FrozenCache:
        cache = self.machine.cache
        cached = cache.row_clock >= 0
        at = np.flatnonzero(cached)
        used = cache.used & cached if len(cache.used) else cache.used  # a reply marks its rows as used
        return FrozenCache(
            cache.row_clock.tobytes(),
            cache.row_version[at].tobytes(),
            cache.row_applied[at].tobytes(),
            self.pool.values[cache.slot[at]].tobytes(),
            cache.push_clock.tobytes(),
            cache.push_version.tobytes(),
            cache.push_applied.tobytes(),
            cache.fetched.tobytes(),
            used.tobytes(),
            int(cache.count),
            int(cache.hand),
        )

    def _versions_in_use(self) -> set[tuple[int, int]]:
        """(shard, version) of the copies, of the last pushes, and of what waiting GETs were served."""
        c = self.machine
        cache, shards = c.cache, c.layout.shards
        pushed = cache.push_version.tolist()
        versions = set(enumerate(pushed))
        for row in np.flatnonzero(cache.row_clock >= 0).tolist():
            versions.add((row % shards, max(int(cache.row_version[row]), pushed[row % shards])))
        for state in c.workers.values():
            if (waiter := state.waiter) is not None:
                missing = set(waiter.missing.tolist())
                for i, row in enumerate(waiter.rows.tolist()):
                    if i not in missing:
                        versions.add((row % shards, int(waiter.have_version[i])))
        return versions

    # -- into the machine ----------------------------------------------------------------------------

    def thaw(self, state: FrozenClient) -> None:
        """Put ``state`` into the machine."""
        c, pool = self.machine, self.pool
        pool.free[: len(self._free)] = self._free
        self.used = 0
        self._thaw_cache(state.cache)
        for (worker, live), frozen in zip(c.workers.items(), state.workers, strict=True):
            self.done[worker] = frozen.done
            live.clock, live.present = frozen.clock, frozen.present
            self._thaw_log(live, frozen.log)
            live.waiter = None if frozen.waiter is None else self._thaw_waiter(frozen.waiter)
        pool.n_free = len(self._free) - self.used
        labels: Any = {label: (need, ids(rows)) for label, need, rows in state.outstanding}
        c.outstanding = labels
        c.asked[:] = state.asked
        c._next_tag = 0
        self.known = dict(state.known)
        if isinstance(c, GatedClient):
            c.gate = {w: AtGate(ids(rows), np.frombuffer(hit, np.bool_)) for w, rows, hit in state.gate}
            c.phase = dict(zip(c.phase, state.phase, strict=True))

    def _slots(self, values: bytes) -> "range":
        """Place row ``values`` in the next slots of the pool."""
        rows = matrix(values, self.pool.values.shape[1])
        first, self.used = self.used, self.used + len(rows)
        self.pool.values[first : self.used] = rows
        return range(first, self.used)

    def _thaw_cache(self, state: FrozenCache) -> None:
        cache = self.machine.cache
        cache.row_clock[:] = np.frombuffer(state.row_clock, np.int32)
        at = np.flatnonzero(cache.row_clock >= 0)
        for array in (cache.slot, cache.row_version, cache.row_applied):
            array[:] = 0
        cache.slot[at] = self._slots(state.values)
        cache.row_version[at] = np.frombuffer(state.row_version, np.int64)
        cache.row_applied[at] = np.frombuffer(state.row_applied, np.int32).reshape(
            len(at), cache.row_applied.shape[1]
        )
        for name in ("push_clock", "push_version", "push_applied", "fetched", "used"):
            array = getattr(cache, name)
            array.ravel()[:] = np.frombuffer(getattr(state, name), array.dtype)
        cache.count, cache.hand = state.cached, state.hand

    def _thaw_log(self, live: WorkerState, state: FrozenLog) -> None:
        log, table = live.log, live.log.tables[0]
        log.seq, log._limit = state.seq, -1 if self._trim else SHORT
        start, units = np.frombuffer(state.start, np.int64), np.frombuffer(state.units, np.int64)
        table.n_units, used = len(units), int(start[-1])
        table.start[: len(start)], table.seq[: len(units)] = start, units
        table.rows[:used] = np.frombuffer(state.rows, np.int32)
        table.delta[:used] = matrix(state.delta, table.delta.shape[1])

    def _thaw_waiter(self, state: FrozenWaiter) -> Waiter:
        waiter = Waiter(ids(state.rows), state.clock, state.need)
        have = np.ones(len(state.rows), np.bool_)
        have[list(state.missing)] = False
        waiter.missing = ids(state.missing)
        for name in ("have_slot", "have_clock", "have_version", "have_own"):
            getattr(waiter, name)[:] = 0
        waiter.have_slot[have] = self._slots(state.values)
        waiter.have_clock[have], waiter.have_version[have] = state.have_clock, state.have_version
        waiter.have_own[have] = state.have_own
        waiter.hit[:] = np.frombuffer(state.hit, np.bool_)
        return waiter

    # -- requests ------------------------------------------------------------------------------------

    def label_requests(self, requests: Iterable[Request]) -> dict[int, Label]:
        """Give new requests their labels, by tag."""
        outstanding: Any = self.machine.outstanding
        labels: dict[int, Label] = {}
        for request in requests:
            number = 0
            rows = rows_of(request.rows)
            while (label := Label(request.worker, request.need, rows, number)) in outstanding:
                number += 1
            labels[request.tag] = label
            if request.tag in outstanding:
                outstanding[label] = outstanding.pop(request.tag)
        return labels

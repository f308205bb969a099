"""The invariants of the protocol, stated once (`docs/explanation/protocol.md`, "Invariants").

They are checked against a `Ledger`: what the workers did and what the shards applied, kept apart from the
machines. A `Watch` is fed the effects of every machine call and applies them all; tests and an explorer
of all reachable states use it. Everything here is plain and slow on purpose: no kernel, no slot, no array
that the machines use themselves.

Counts: ``included[w]`` of a copy is how many update units of worker ``w`` it contains. Units are numbered
like the clocks that made them, so "all updates with tag < k" is ``included[w] >= k`` for every ``w`` (or
all units of ``w``, once it has left).
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pskit.core.client import Client
from pskit.core.gated import GatedClient
from pskit.core.layout import RowIds
from pskit.core.ledger import ByIncrement, Ledger, broken
from pskit.core.messages import Applied, Effect, Increment, Left, Read, Request, Slots, ToShard, Values
from pskit.core.policies.base import UNBOUNDED, Policy
from pskit.core.rows import RowPools
from pskit.core.server import ServerShard
from pskit.core.traffic import replies_before_pushes, request_misses

# -- of one read or one oplog ------------------------------------------------------------------------


def _said(read: Read, i: int) -> str:
    return f"worker {read.worker} at clock {read.clock} read row {read.rows[i]} at version {read.version[i]}"


def ssp_guarantee(ledger: Ledger, read: Read, slack: int) -> None:
    """1. A read at clock c contains every update with tag <= c - slack - 1 of every worker."""
    for i, row in enumerate(read.rows.tolist()):
        included = ledger.included(row % ledger.layout.shards, int(read.version[i]))
        if bad := ledger.holds_all_before(read.clock - slack, included):
            broken("SSP guarantee", f"{_said(read, i)}, slack {slack}: {bad}")


def true_row_clock(ledger: Ledger, read: Read) -> None:
    """The row clock k = c - age of a read is true: all updates with tag < k are in; and 0 <= age."""
    for i, row in enumerate(read.rows.tolist()):
        included = ledger.included(row % ledger.layout.shards, int(read.version[i]))
        bad = ledger.holds_all_before(read.clock - int(read.age[i]), included)
        if bad or read.age[i] < 0:
            broken("true row clock", f"{_said(read, i)}, age {read.age[i]}: {bad}")


def own_updates_once(ledger: Ledger, read: Read) -> None:
    """2. Read-my-writes: every own update so far is in the view, either in the copy or re-added."""
    units = len(ledger.units[read.worker])  # the open one is in, too
    if read.own_upto != units:
        broken(
            "own updates",
            f"worker {read.worker} at clock {read.clock}: own_upto {read.own_upto}, not {units}",
        )
    for i, row in enumerate(read.rows.tolist()):
        inside = ledger.included(row % ledger.layout.shards, int(read.version[i]))[read.worker]
        if read.own_from[i] != inside:
            said = f"{_said(read, i)}, whose copy has {inside} own units, but own_from is {read.own_from[i]}"
            broken("own updates exactly once", said)


def exact_view(ledger: Ledger, read: Read) -> None:
    """The view is the copy at ``version`` plus own units own_from <= seq < own_upto, bit for bit."""
    views = [row for view in read.views for row in view]
    if len(views) != len(read.rows):
        broken("view", f"worker {read.worker} at clock {read.clock}: {len(views)} rows for {len(read.rows)}")
    for i, row in enumerate(read.rows.tolist()):
        value = ledger.value(row, int(read.version[i]))
        for unit in ledger.units[read.worker][int(read.own_from[i]) : read.own_upto]:
            value = value + unit[row] if row in unit else value
        if not same_bits(views[i], value):
            broken("exact view", f"{_said(read, i)}: {views[i]}, not {value}")


def exactly_once_in_order(ledger: Ledger, applied: Applied) -> None:
    """3. A shard applies every unit of a worker once, in order, and with the worker's own sums."""
    oplog, shard = applied.oplog, applied.shard
    order, units = ledger.order[shard], ledger.units[oplog.worker]
    said = f"shard {shard} applied unit {oplog.seq} of worker {oplog.worker} as number {applied.apply_index}"
    if applied.apply_index != len(order):
        broken("apply index", f"{said} after {len(order)}")
    if not oplog.seq == oplog.clock == order.count(oplog.worker):
        broken(
            "exactly once, in order", f"{said}, clock {oplog.clock}; {order.count(oplog.worker)} were done"
        )
    if oplog.seq >= len(units) - 1:
        broken("updates leave at clock()", f"{said}, which is open")
    _own_sums(ledger, applied, said)


def unit_by_unit(ledger: ByIncrement, applied: Applied, before: int) -> None:
    """3. where every INC is a unit: all of a worker's units that concern the shard, once, in order.

    ``before``: number of the worker's newest unit there, plus 1.
    """
    oplog, shard = applied.oplog, applied.shard
    said = f"shard {shard} applied unit {oplog.seq} of worker {oplog.worker}, clock {oplog.clock}"
    if ledger.tag(oplog.worker, oplog.seq) != oplog.clock:
        broken("tags", f"{said}, which was made at clock {ledger.tag(oplog.worker, oplog.seq)}")
    if oplog.seq < before:
        broken("exactly once, in order", f"{said} after {before - 1}")
    if skipped := [u for u in range(before, oplog.seq) if ledger.travels(oplog.worker, u, shard)]:
        broken("exactly once, in order", f"{said} before {skipped}")
    unit = ledger.units[oplog.worker][oplog.seq]
    if (type(oplog) is Increment) != bool(unit):
        broken("updates leave at INC", f"{said}, a {type(oplog).__name__}; the unit is {unit}")
    _own_sums(ledger, applied, said)


def _own_sums(ledger: Ledger, applied: Applied, said: str) -> None:
    """What was applied is the part of the worker's unit that concerns the shard, bit for bit."""
    oplog, shards = applied.oplog, ledger.layout.shards
    unit = ledger.units[oplog.worker][oplog.seq]
    expected = {row: delta for row, delta in unit.items() if row % shards == applied.shard}
    sent = {
        row: delta for part in oplog.parts for row, delta in zip(part.rows.tolist(), part.delta, strict=True)
    }
    if sent.keys() != expected.keys() or not all(same_bits(sent[r], expected[r]) for r in sent):
        broken("updates leave exactly once", f"{said}: {sent}, not {expected}")


def bsp_view(ledger: Ledger, read: Read) -> None:
    """BSP: a read at clock c has no update of another worker of its own clock or later."""
    for i, row in enumerate(read.rows.tolist()):
        included = ledger.included(row % ledger.layout.shards, int(read.version[i]))
        if early := [w for w in ledger.units if included[w] > read.clock]:
            broken("BSP", f"{_said(read, i)}, with updates of clock {read.clock} of workers {early}")


def bsp_order(ledger: Ledger, applied: Applied) -> None:
    """BSP: a shard applies clock after clock, each in the order of the workers."""
    order = ledger.order[applied.shard]
    if order:
        before, now = (order.count(order[-1]) - 1, order[-1]), (applied.oplog.clock, applied.oplog.worker)
        if now < before:
            broken("BSP order", f"shard {applied.shard}: (clock, worker) {now} after {before}")


def equal_row_clocks(read: Read) -> None:
    """7. Under BSP, and SSP with slack 0, every row read has the worker's own clock."""
    if read.age.any():
        broken("equal row clocks", f"{_said(read, 0)} with ages {read.age}")


def right_read(ledger: Ledger, policy: Policy, read: Read, bsp: bool = False) -> None:
    """All that a policy promises of a read; ``bsp`` adds BSP's stronger view."""
    if policy.need(0) != UNBOUNDED:
        ssp_guarantee(ledger, read, policy.slack)
        if policy.slack == 0:
            equal_row_clocks(read)
    true_row_clock(ledger, read)
    own_updates_once(ledger, read)
    exact_view(ledger, read)
    if bsp:
        bsp_view(ledger, read)


def fetched_in_this_clock(read: Read) -> None:
    """ASP, a single worker at its client: the copy answers a request of this clock.

    The request follows the worker's oplogs on their link, so all own units of earlier clocks are in the copy.
    With more workers the request may have been another's, made before.
    """
    if (read.own_from < read.clock).any():
        broken("fetched in this clock", f"{_said(read, 0)}, own units in the copies: {read.own_from}")


# -- of a state -------------------------------------------------------------------------------------


def exact_copies(ledger: Ledger, client: Client) -> None:
    """Every cached copy is its row at the copy's effective version, and its effective clock is true."""
    cache, layout = client.cache, client.layout
    for row in np.flatnonzero(cache.row_clock >= 0).tolist():
        shard, table = row % layout.shards, int(layout.table_of_row[row])
        version = max(int(cache.row_version[row]), int(cache.push_version[shard]))
        clock = max(int(cache.row_clock[row]), int(cache.push_clock[shard]))
        included = ledger.included(shard, version)
        copy, value = client.pools.pools[table].values[cache.slot[row]], ledger.value(row, version)
        said = f"client {client.client} has row {row} at version {version}, clock {clock}"
        if not same_bits(copy, value):
            broken("exact copies", f"{said}: {copy}, not {value}")
        if bad := ledger.holds_all_before(clock, included):
            broken("true row clock", f"{said}: {bad}")
        for worker, state in client.workers.items():
            applied = max(
                int(cache.row_applied[row, state.index]), int(cache.push_applied[shard, state.index])
            )
            if applied != included[worker]:
                broken("applied", f"{said}: {applied} units of worker {worker}, not {included[worker]}")


def cache_is_bounded(client: Client) -> None:
    """Between two calls a cache keeps at most ``capacity`` rows, and knows how many."""
    cache = client.cache
    cached = int(np.count_nonzero(cache.row_clock >= 0))
    if cache.count != cached or (cache.capacity and cached > cache.capacity):
        said = f"client {client.client} has {cached} rows, counts {cache.count}"
        broken("cache is bounded", f"{said}, may keep {cache.capacity or 'all'}")


def subscriptions_match(client: Client, shard: ServerShard) -> None:
    """With nothing in flight between the two: cached rows are subscribed, others only while asked for."""
    if not client.policy.subscribes:
        return
    subscribed = shard.subscribed[client.client]
    cached = client.cache.row_clock[shard.rows] >= 0
    asked = np.zeros_like(cached)
    for asker, request in shard.waiting:
        if asker == client.client:
            asked |= np.isin(shard.rows, request.rows)
    bad = (cached & ~subscribed) | (subscribed & ~cached & ~asked)
    if bad.any() or shard.subscriptions[client.client] != subscribed.sum():
        said = f"client {client.client}, shard {shard.shard}: cached {cached}, asked {asked}"
        counted = shard.subscriptions[client.client]
        broken("subscriptions match the cache", f"{said}, subscribed {subscribed}, counted {counted}")


def live_slots_are_kept(pools: RowPools, roots: Iterable[tuple[RowIds, Slots]]) -> None:
    """No slot that a machine or a message still refers to is free."""
    free = [set(pool.free[: pool.n_free].tolist()) for pool in pools.pools]
    for rows, slots in roots:
        for row, slot in zip(rows.tolist(), slots.tolist(), strict=True):
            if slot in free[int(pools.layout.table_of_row[row])]:
                broken("live slots are kept", f"row {row} refers to the free slot {slot}")


def not_stuck(clients: Sequence[Client], shards: Sequence[ServerShard], able: Iterable[int]) -> None:
    """6. With nothing in flight, somebody can go on, or all are done.

    ``able`` are the workers that neither wait for a GET nor have left: while there is one, others may
    wait for its clocks. Without one, nobody waits and nothing is held back.
    """
    if list(able):
        return
    if waiting := [w for c in clients for w, state in c.workers.items() if state.waiter is not None]:
        broken("not stuck", f"nothing is in flight, but the workers {waiting} wait")
    if kept_out := [w for c in clients if isinstance(c, GatedClient) for w in c.gate]:
        broken("not stuck", f"nothing is in flight, but the gate keeps the workers {kept_out} out")
    for client in clients:
        if client.outstanding or client.asked.any():
            broken("not stuck", f"client {client.client} expects {client.outstanding}, by row {client.asked}")
    for shard in shards:
        if shard.waiting or shard.held:
            broken("not stuck", f"shard {shard.shard} keeps {shard.waiting} and holds back {shard.held}")


def end_state(ledger: Ledger, final: Mapping[str, Values]) -> None:
    """5. Final table = initial + sum of all INCs: exactly for integers, to rounding for floats."""
    layout = ledger.layout
    for i, spec in enumerate(layout.tables):
        exact = spec.dtype.startswith("i")
        total = ledger.initial[spec.name].astype(np.int64 if exact else np.float64)
        size, adds = np.abs(total), np.ones((spec.rows, 1))
        for units in ledger.units.values():
            for unit in units:
                for row, delta in unit.items():
                    if layout.table_of_row[row] == i:
                        at = row - int(layout.offsets[i])
                        total[at] += delta
                        size[at] += np.abs(delta)
                        adds[at] += 1
        bound = 0.0 if exact else 2 * adds * np.finfo(layout.dtypes[i]).eps * size
        off = np.abs(final[spec.name] - total)
        if not (off <= bound).all():
            broken("end state", f"table {spec.name!r} is off by {off}, allowed {bound}")


def same_bits(a: Values, b: Values) -> bool:
    """Whether two arrays have equal shapes, dtypes and bits."""
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


# -- of a run -----------------------------------------------------------------------------------------


class Watch:
    """Applies the invariants to every effect of every machine.

    Parameters
    ----------
    ledger : Ledger
        The caller tells it of INC, clock() and leave(); the watch of what is applied.
    shards, clients : sequences of the machines
    bsp : bool
        Expect BSP's stronger view.

    Attributes
    ----------
    reads : int
        Rows of reads checked.
    """

    def __init__(
        self, ledger: Ledger, shards: Sequence[ServerShard], clients: Sequence[Client], bsp: bool = False
    ) -> None:
        self.ledger, self.shards, self.clients, self._bsp = ledger, shards, clients, bsp
        self.reads = 0
        self._shard_clock = [s.clock.minimum for s in shards]
        self._shard_of_row = np.arange(ledger.layout.n_rows) % ledger.layout.shards
        self._copy_clock = [np.zeros(ledger.layout.n_rows, np.int32) for _ in clients]
        self._read_clock: dict[tuple[int, int], int] = {}  # newest seen, by worker and row
        self._gone: set[tuple[int, int]] = set()

    def shard_did(self, j: int, effects: Sequence[Effect]) -> None:
        """Shard ``j`` took in a message."""
        replies_before_pushes(effects)
        for effect in effects:
            if isinstance(effect, Applied):
                if isinstance(self.ledger, ByIncrement):
                    worker = effect.oplog.worker
                    before = self.ledger.included(j, len(self.ledger.order[j]))[worker]
                    unit_by_unit(self.ledger, effect, before)
                else:
                    exactly_once_in_order(self.ledger, effect)
                if self._bsp:
                    bsp_order(self.ledger, effect)
                self.ledger.apply(effect)
            elif isinstance(effect, Left):
                key = (effect.worker, effect.shard)
                if effect.worker not in self.ledger.left or key in self._gone:
                    broken("leaving, once", f"{effect}")
                self._gone.add(key)
        before, now = self._shard_clock[j], self.shards[j].clock.minimum
        if now < before:
            broken("shard clocks never go back", f"shard {j} went from {before} to {now}")
        self._shard_clock[j] = now

    def client_did(self, c: int, effects: Iterable[Effect]) -> None:
        """Client ``c`` took in a message or a call of a worker."""
        for effect in effects:
            if isinstance(effect, Read):
                self._on_read(self.clients[c], effect)
            elif isinstance(effect, ToShard) and isinstance(effect.message, Request):
                request_misses(self.clients[c], effect.message)
        cache, newest = self.clients[c].cache, self._copy_clock[c]
        now = np.maximum(cache.row_clock, cache.push_clock[self._shard_of_row])
        back = (now < newest) & (cache.row_clock >= 0)
        if back.any():
            broken("effective row clocks never go back", f"client {c}: from {newest} to {now} in rows {back}")
        np.copyto(newest, now, where=cache.row_clock >= 0)

    def _on_read(self, client: Client, read: Read) -> None:
        self.reads += len(read.rows)
        right_read(self.ledger, client.policy, read, self._bsp)
        if client.policy.refetches and len(client.workers) == 1:
            fetched_in_this_clock(read)
        for row, age in zip(read.rows.tolist(), read.age.tolist(), strict=True):
            clock, key = read.clock - age, (read.worker, row)
            newest = self._read_clock.get(key, clock)
            if clock < newest:
                broken("row clocks of a reader never go back", f"{_said(read, 0)}: from {newest} to {clock}")
            self._read_clock[key] = clock

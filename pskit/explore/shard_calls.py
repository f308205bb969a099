"""Calls of a real server shard, with all invariants that can be seen there."""

from typing import Any

import numpy as np

from pskit.core import invariants, traffic
from pskit.core.ledger import ByIncrement, broken
from pskit.core.messages import Applied, Effect, Left, Push, Reply, ToClient
from pskit.core.server import ServerShard
from pskit.explore.ledger import Counts, with_count
from pskit.explore.outcomes import Done, Failure, Outcome, Tables, said
from pskit.explore.shards import FrozenShard, Seen, ShardBox
from pskit.explore.wire import freeze_to_client, freeze_to_shard


class ShardCalls:
    """One shard, called in any of its states.

    Parameters
    ----------
    tables : Tables
    shard : int

    Attributes
    ----------
    start : int
        Number of its first state.
    """

    def __init__(self, tables: Tables, shard: int) -> None:
        self._tables, self._ledger, self._shard = tables, tables.ledger, shard
        system = tables.system
        self._box = ShardBox(system, shard)
        self._bsp, self._gated = system.policy == "bsp", system.gated
        self._n_shards = system.shards
        self._client_of = {w: c for c in range(system.clients) for w in system.members(c)}
        self.start = tables.states.of(self._box.freeze(Seen((0,) * system.workers, ()), self._kept))

    def thawed(self, state: FrozenShard) -> ShardBox:
        """The shard in ``state``."""
        self._box.thaw(state, self._tables.live.__getitem__)
        return self._box

    def _kept(self, message: Any) -> int:
        """Number of a request or oplog that the shard keeps; a request's tag is its label."""
        frozen = freeze_to_shard(message, lambda request: request.tag)  # type: ignore[arg-type,return-value]
        return self._tables.messages.of((self._client_of[message.worker], frozen))

    def deliver(self, state: FrozenShard, message: int, full: int | None = None) -> Outcome:
        """A message of a client arrives; there is no room for pushes to the client ``full``."""
        self._tables.calls += 1
        box = self.thawed(state)
        shard, (client, _), live = box.machine, self._tables.messages[message], self._tables.live[message]
        clock, subscribed, out = shard.clock.minimum, shard.subscribed.copy(), box.handed_out()
        values = box.pool.values[out].copy()
        effects: list[Effect] = []
        try:
            effects = shard.receive(client, live)
            sent = effects if full is None else self._without(shard, effects, full)
            counts, sends = self._follow(box, state.seen.counts, state.apply_index, sent)
            if shard.clock.minimum < clock:
                broken("shard clocks never go back", f"shard {self._shard}: {clock}, {shard.clock.minimum}")
            if not np.array_equal(box.pool.values[out], values):
                broken("copies are never written", f"shard {self._shard} wrote a version it had handed out")
            traffic.replies_before_pushes(effects)
            traffic.subscriptions_follow_replies(shard, subscribed, client, live, effects)
            changed = traffic.pushes_what_changed(effects, set(state.seen.changed))
            if self._gated or shard.clock.minimum > clock or not shard.policy.subscribes:
                changed = set()
            seen = Seen(counts, tuple(sorted(changed)))
            return Done(self._tables.states.of(box.freeze(seen, self._kept)), sends, tuple(effects))
        except Exception as error:  # whatever it is, the core did it
            return Failure(said(error), tuple(effects))

    def _without(self, shard: ServerShard, effects: list[Effect], full: int) -> list[Effect]:
        """The effects without pushes to the client ``full``, which are put off."""
        kept = []
        for effect in effects:
            if isinstance(effect, ToClient) and effect.client == full and isinstance(effect.message, Push):
                shard.put_off(full, effect.message)
            else:
                kept.append(effect)
        return kept

    def catch_up(self, state: FrozenShard, client: int) -> Outcome:
        """There is room for the push that ``client`` is owed."""
        self._tables.calls += 1
        box = self.thawed(state)
        effects: list[Effect] = []
        try:
            effects = box.machine.catch_up(client)
            counts, sends = self._follow(box, state.seen.counts, state.apply_index, effects)
            assert counts == state.seen.counts
            return Done(self._tables.states.of(box.freeze(state.seen, self._kept)), sends, tuple(effects))
        except Exception as error:  # whatever it is, the core did it
            return Failure(said(error), tuple(effects))

    def _follow(
        self, box: ShardBox, counts: Counts, applied: int, effects: list[Effect]
    ) -> tuple[Counts, tuple[tuple[int, int], ...]]:
        """Check effect by effect; what was applied in the end, and what was sent."""
        shard, sends = box.machine, []
        for effect in effects:
            if isinstance(effect, Applied):
                if effect.apply_index != applied:
                    broken("apply index", f"shard {self._shard} applied {effect} as the one after {applied}")
                self._check_applied(effect, counts)
                worker, applied = effect.oplog.worker, applied + 1
                counts = with_count(counts, worker, effect.oplog.seq + 1)
            elif isinstance(effect, ToClient):
                self._check_sent(box, effect, applied)
                frozen = freeze_to_client(effect.message, box.pool, counts)
                sends.append((effect.client, self._tables.messages.of((self._shard, frozen))))
            elif isinstance(effect, Left) and effect.worker in shard.clock:
                broken("leaving", f"worker {effect.worker} has left shard {self._shard} and is a member")
        return counts, tuple(sends)

    def _check_applied(self, applied: Applied, counts: Counts) -> None:
        self._ledger.look_at({}, {})
        if isinstance(self._ledger, ByIncrement):
            invariants.unit_by_unit(self._ledger, applied, counts[applied.oplog.worker])
            return
        # Only how often a worker occurs is looked at, and the last one under BSP, whose order is this one.
        order = [w for k in range(max(counts)) for w, n in enumerate(counts) if n > k]
        self._ledger.order[self._shard] = order
        invariants.exactly_once_in_order(self._ledger, applied)
        if self._bsp:
            invariants.bsp_order(self._ledger, applied)

    def _check_sent(self, box: ShardBox, sent: ToClient, applied: int) -> None:
        shard, message = box.machine, sent.message
        assert isinstance(message, Reply | Push)
        if message.version != applied:
            broken("versions", f"shard {self._shard} has applied {applied} oplogs, and sent {message}")
        local = message.rows // self._n_shards
        unmarked = (shard.current[local] == message.slots) & ~shard.shared[local]
        if unmarked.any():
            broken("what is handed out is marked", f"shard {self._shard}, rows {message.rows[unmarked]}")

"""Calls of a real client, with all invariants that can be seen there."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pskit.core import invariants, traffic
from pskit.core.client import Client
from pskit.core.gated import GatedClient
from pskit.core.ledger import broken
from pskit.core.messages import Effect, Read, Request, ToShard, ToShards
from pskit.explore.clients import ClientBox, FrozenClient
from pskit.explore.outcomes import Done, Failure, Outcome, Tables, said
from pskit.explore.script import Call, delta_of
from pskit.explore.wire import FrozenPush, FrozenReply, freeze_to_shard, rows_of, thaw_to_client


class ClientCalls:
    """One client, called in any of its states.

    Parameters
    ----------
    tables : Tables
    client : int

    Attributes
    ----------
    start : int
        Number of its first state.
    """

    def __init__(self, tables: Tables, client: int) -> None:
        self._tables, self._system, self._ledger = tables, tables.system, tables.ledger
        self._client = client
        self._box = ClientBox(self._system, client)
        self._bsp = self._system.policy == "bsp"
        self._shard_of_row = np.arange(self._system.layout.n_rows) % self._system.shards
        self._box.known = {(j, 0): (0,) * self._system.workers for j in range(self._system.shards)}
        self.start = tables.states.of(self._box.freeze())

    def thawed(self, state: FrozenClient) -> ClientBox:
        """The client in ``state``."""
        self._box.thaw(state)
        return self._box

    def able(self, state: FrozenClient) -> list[int]:
        """Workers that can go on with their scripts."""
        moves, members = self._system.moves, self._system.members(self._client)
        workers = zip(members, state.workers, strict=True)
        out = {w for w, *_ in state.gate}
        return [w for w, own in workers if own.waiter is None and w not in out and own.done < len(moves[w])]

    # -- the calls -----------------------------------------------------------------------------------

    def step(self, state: FrozenClient, worker: int) -> Outcome:
        """A worker makes the next move of its script."""

        def act(box: ClientBox) -> list[Effect]:
            client, move = box.machine, self._system.moves[worker][box.done[worker]]
            clock = len(self._ledger.units[worker]) - 1
            box.done[worker] += 1
            for call in (*move.incs, move.call):
                if call.name in ("inc", "undo"):
                    if isinstance(client, GatedClient):  # nothing else happens in such a move
                        delta = self._delta(call, worker, client.workers[worker].clock)
                        return client.add(worker, 0, np.array(call.rows, np.int32), delta)
                    client.inc(worker, 0, np.array(call.rows, np.int32), self._delta(call, worker, clock))
            name, rows = move.call
            if name == "get":
                return client.get(worker, np.array(rows, np.int32))
            if name == "clock":
                return client.clock(worker)
            return client.leave(worker) if name == "leave" else []

        return self._call(state, act, asker=worker)

    def _delta(self, call: Call, worker: int, clock: int) -> Any:
        return delta_of(call, worker, self._system.workers, clock, shared=self._system.gated)

    def enter(self, state: FrozenClient, worker: int) -> Outcome:
        """The gate opens for a worker."""

        def act(box: ClientBox) -> list[Effect]:
            assert isinstance(box.machine, GatedClient)
            return box.machine.start(worker)

        return self._call(state, act)

    def evict(self, state: FrozenClient, row: int) -> Outcome:
        """A row is dropped from the cache."""
        return self._call(state, lambda box: box.machine.evict(np.array([row], np.int32)))

    def deliver(self, state: FrozenClient, message: int) -> Outcome:
        """A message of a shard arrives."""
        shard, frozen = self._tables.messages[message]
        assert isinstance(frozen, FrozenReply | FrozenPush)

        def act(box: ClientBox) -> list[Effect]:
            at = shard, frozen.version
            if box.known.setdefault(at, frozen.counts) != frozen.counts:
                broken("versions", f"(shard, version) {at} has {box.known[at]} and {frozen.counts}")
            return box.machine.receive(shard, thaw_to_client(frozen, box.pool))

        return self._call(state, act)

    # -- around a call -------------------------------------------------------------------------------

    def _call(
        self, state: FrozenClient, act: Callable[[ClientBox], list[Effect]], asker: int | None = None
    ) -> Outcome:
        """Make a call, check it, and number what comes of it."""
        self._tables.calls += 1
        box = self.thawed(state)
        waited = _waiting(box.machine)
        self._ledger.look_at(box.done, box.known)
        clocks, copies = self._clocks(box), box.pool.values[: box.used].copy()
        effects: list[Effect] = []
        try:
            effects = act(box)
            self._ledger.look_at(box.done, box.known)
            if asker is not None and self._last_call(box, asker).name == "get":
                waited.add(asker)
            self._check(box, effects, waited)
            now = self._clocks(box)
            if ((now < clocks) & (box.machine.cache.row_clock >= 0)).any():
                broken("effective row clocks never go back", f"client {state.client}: {clocks}, then {now}")
            if not np.array_equal(box.pool.values[: box.used], copies):
                broken("copies are never written", f"client {state.client} wrote a row version in place")
            sends = self._sends(box, effects)
            return Done(self._tables.states.of(box.freeze()), sends, tuple(effects))
        except Exception as error:  # whatever it is, the core did it
            return Failure(said(error), tuple(effects))

    def _last_call(self, box: ClientBox, worker: int) -> Call:
        return self._system.moves[worker][box.done[worker] - 1].call

    def _clocks(self, box: ClientBox) -> Any:
        """Effective clock of each cached row, -1 of the others."""
        cache = box.machine.cache
        newest = np.maximum(cache.row_clock, cache.push_clock[self._shard_of_row])
        return np.where(cache.row_clock >= 0, newest, -1)

    def _check(self, box: ClientBox, effects: list[Effect], waited: set[int]) -> None:
        """Check the effects and the new state; ``waited`` are the workers that wait or have just asked."""
        client = box.machine
        for effect in effects:
            if isinstance(effect, Read):
                if effect.worker not in waited:
                    broken("reads", f"a read for worker {effect.worker}, which asked for none")
                waited.remove(effect.worker)
                asked = self._last_call(box, effect.worker).rows
                if rows_of(effect.rows) != asked:
                    broken("reads", f"worker {effect.worker} asked for {asked}, and got {effect.rows}")
                invariants.right_read(self._ledger, client.policy, effect, self._bsp)
                if client.policy.refetches and len(client.workers) == 1:
                    invariants.fetched_in_this_clock(effect)
            elif isinstance(effect, ToShard) and isinstance(effect.message, Request):
                traffic.request_misses(client, effect.message)
        waiting = _waiting(client)
        if waiting != waited:
            broken("reads", f"the workers {waited} wait, and client {client.client} knows {waiting}")
        invariants.exact_copies(self._ledger, client)
        invariants.cache_is_bounded(client)

    def _sends(self, box: ClientBox, effects: list[Effect]) -> tuple[tuple[int, int], ...]:
        out: list[ToShard] = []
        for effect in effects:
            if isinstance(effect, ToShards):
                out += effect.each(box.machine.layout.shards)
            elif isinstance(effect, ToShard):
                out.append(effect)
        labels = box.label_requests(e.message for e in out if isinstance(e.message, Request))
        frozen = [freeze_to_shard(e.message, lambda request: labels[request.tag]) for e in out]
        number = self._tables.messages.of
        return tuple((e.shard, number((self._client, m))) for e, m in zip(out, frozen, strict=True))


def _waiting(client: Client) -> set[int]:
    """Workers with a GET in progress."""
    waiting = {w for w, state in client.workers.items() if state.waiter is not None}
    return waiting | set(client.gate) if isinstance(client, GatedClient) else waiting

"""Calls of the real machines, each made once.

What a machine does depends on its own state and its input alone. So a state of the whole system is a row
of numbers, one for each machine's state and each link's content, and a step looks up what the machine does,
calling it only the first time. The invariants of a call are checked then, and hold wherever it occurs.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pskit.core import invariants
from pskit.core.client import Client
from pskit.core.invariants import broken
from pskit.core.messages import Applied, Effect, Left, Push, Read, Reply, Request, ToClient, ToShard
from pskit.explore.clients import ClientBox, FrozenClient
from pskit.explore.ledger import Counts, ScriptLedger
from pskit.explore.script import delta_of
from pskit.explore.shards import FrozenShard, ShardBox
from pskit.explore.symmetry import Renaming
from pskit.explore.system import System
from pskit.explore.wire import (
    Frozen,
    FrozenPush,
    FrozenReply,
    freeze_to_client,
    freeze_to_shard,
    rows_of,
    thaw_to_client,
    thaw_to_shard,
)

Choice = tuple[str, int]
"""What may happen at a client by itself: ("step", worker) or ("evict", row)."""


class Done(NamedTuple):
    """A call went well: the machine's new state, and what it sent: (receiver, message) in order."""

    state: int
    sends: tuple[tuple[int, int], ...]


class Failure(NamedTuple):
    """A call broke an invariant or a rule."""

    what: str


Outcome = Done | Failure


class Machines:
    """All states of all machines that were met, numbered, and what leads from one to another.

    Attributes
    ----------
    states : list of FrozenClient or FrozenShard
    messages : list of (int, Frozen)
        With the client or shard that sent it.
    start : tuple of int
        Numbers of the first states of clients and shards.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.n_clients, self.n_shards = system.clients, system.shards
        self.n_machines = self.n_clients + self.n_shards
        self.states: list[FrozenClient | FrozenShard] = []
        self.messages: list[tuple[int, Frozen]] = []
        self._state_numbers: dict[FrozenClient | FrozenShard, int] = {}
        self._message_numbers: dict[tuple[int, Frozen], int] = {}
        self._live: dict[int, Any] = {}  # messages to shards, ready to be taken in
        self._delivered: list[dict[int, Outcome]] = []
        self._choices: dict[int, tuple[tuple[Choice, Outcome], ...]] = {}
        self._ledger = ScriptLedger(system)
        self._clients = [ClientBox(system, c) for c in range(self.n_clients)]
        self._shards = [ShardBox(system, j) for j in range(self.n_shards)]
        self._bsp = system.policy == "bsp"
        none: Counts = (0,) * system.workers
        for client in self._clients:
            client.known = {(j, 0): none for j in range(self.n_shards)}
        self.start = tuple(
            [self._number(client.freeze()) for client in self._clients]
            + [self._number(shard.freeze(none, self._keep(shard))) for shard in self._shards]
        )

    # -- what the search asks ------------------------------------------------------------------------

    def choices(self, client: int) -> tuple[tuple[Choice, Outcome], ...]:
        """What may happen at a client in state number ``client`` by itself, and what comes of it."""
        found = self._choices.get(client)
        if found is None:
            state = self.states[client]
            assert isinstance(state, FrozenClient)
            able = [w for w in self._able(state)]
            found = tuple((("step", w), self._step(state, w)) for w in able)
            if self.system.evictions:
                cached = np.flatnonzero(np.frombuffer(state.cache.row_clock, np.int32) >= 0).tolist()
                found += tuple((("evict", row), self._evict(state, row)) for row in cached)
            self._choices[client] = found
        return found

    def deliver(self, machine: int, message: int) -> Outcome:
        """What the machine in state number ``machine`` does with message number ``message``."""
        outcome = self._delivered[machine].get(message)
        if outcome is None:
            state = self.states[machine]
            call = self._at_client if isinstance(state, FrozenClient) else self._at_shard
            outcome = self._delivered[machine][message] = call(state, message)  # type: ignore[operator]
        return outcome

    def able(self, client: int) -> list[int]:
        """Workers that can make a step in state number ``client``."""
        state = self.states[client]
        assert isinstance(state, FrozenClient)
        return self._able(state)

    def check_pair(self, client: int, shard: int) -> str | None:
        """What is wrong with a client and a shard in these states when nothing is under way between them."""
        try:
            box = self._thaw_client(client)
            invariants.subscriptions_match(box.machine, self._thaw_shard(shard).machine)
        except Exception as error:
            return said(error)
        return None

    def check_rest(self, machines: tuple[int, ...]) -> str | None:
        """What is wrong with a whole state in which nothing is under way and no worker can make a step."""
        clients = [self._thaw_client(number).machine for number in machines[: self.n_clients]]
        shards = [self._thaw_shard(number).machine for number in machines[self.n_clients :]]
        try:
            invariants.not_stuck(clients, shards, able=[])
            final = {"n": np.zeros((self.system.layout.n_rows, self.system.workers), np.int64)}
            for shard in shards:
                shard.values_into(final)
                if len(shard.clock):
                    broken("all have left", f"shard {shard.shard} still has {sorted(shard.clock.received)}")
            self._ledger.look_at({}, {})
            invariants.end_state(self._ledger, final)
        except Exception as error:
            return said(error)
        return None

    def rename_message(self, renaming: Renaming, number: int) -> int:
        """Number of a message under other names."""
        sender, frozen = self.messages[number]
        to_client = isinstance(frozen, FrozenReply | FrozenPush)
        names = renaming.shards if to_client else renaming.clients
        return self._number_message(names[sender], renaming.message(frozen))

    def rename_state(self, renaming: Renaming, number: int) -> int:
        """Number of a machine's state under other names."""
        state = self.states[number]
        if isinstance(state, FrozenClient):
            return self._number(renaming.client(state))
        return self._number(renaming.shard(state, lambda m: self.rename_message(renaming, m)))

    # -- calls of clients ----------------------------------------------------------------------------

    def _able(self, state: FrozenClient) -> list[int]:
        moves, members = self.system.moves, self.system.members(state.client)
        return [
            w for w, s in zip(members, state.workers, strict=True) if s.waiter is None and s.done < len(moves[w])
        ]

    def _step(self, state: FrozenClient, worker: int) -> Outcome:
        def act(box: ClientBox) -> list[Effect]:
            client, move = box.machine, self.system.moves[worker][box.done[worker]]
            clock = len(self._ledger.units[worker]) - 1
            box.done[worker] += 1
            for inc in move.incs:
                self._inc(client, worker, inc, clock)
            name, rows = move.call
            if name == "get":
                return client.get(worker, np.array(rows, np.int32))
            if name == "clock":
                return client.clock(worker)
            if name == "leave":
                return client.leave(worker)
            self._inc(client, worker, move.call, clock)
            return []

        return self._call(state, act, asker=worker)

    def _inc(self, client: Client, worker: int, call: Any, clock: int) -> None:
        client.inc(worker, 0, np.array(call.rows, np.int32), delta_of(call, worker, self.system.workers, clock))

    def _evict(self, state: FrozenClient, row: int) -> Outcome:
        return self._call(state, lambda box: box.machine.evict(np.array([row], np.int32)))

    def _at_client(self, state: FrozenClient, message: int) -> Outcome:
        shard, frozen = self.messages[message]
        assert isinstance(frozen, FrozenReply | FrozenPush)

        def act(box: ClientBox) -> list[Effect]:
            known = box.known.setdefault((shard, frozen.version), frozen.counts)
            if known != frozen.counts:
                broken("versions", f"version {frozen.version} of shard {shard} is {known} and {frozen.counts}")
            return box.machine.receive(shard, thaw_to_client(frozen, box.pool))

        return self._call(state, act)

    def _call(
        self, state: FrozenClient, act: Callable[[ClientBox], list[Effect]], asker: int | None = None
    ) -> Outcome:
        """Make a call of a client, check it, and number what comes of it."""
        box = self._clients[state.client]
        box.thaw(state)
        waited = {w for w, s in box.machine.workers.items() if s.waiter is not None}
        self._ledger.look_at(box.done, box.known)
        clocks, copies = self._clocks(box), box.pool.values[: box.used].copy()
        try:
            effects = act(box)
            self._ledger.look_at(box.done, box.known)
            if asker is not None and self.system.moves[asker][box.done[asker] - 1].call.name == "get":
                waited.add(asker)
            self._check_client(box, effects, waited)
            now = self._clocks(box)
            if ((now < clocks) & (box.machine.cache.row_clock >= 0)).any():
                broken("effective row clocks never go back", f"client {state.client}: from {clocks} to {now}")
            if not np.array_equal(box.pool.values[: box.used], copies):
                broken("copies are never written", f"client {state.client} wrote a row version in place")
            sends = self._client_sends(box, effects)
            return Done(self._number(box.freeze()), sends)
        except Exception as error:
            return Failure(said(error))

    def _clocks(self, box: ClientBox) -> Any:
        """Effective clock of each cached row, -1 of the others."""
        cache, layout = box.machine.cache, self.system.layout
        pushed = cache.push_clock[np.arange(layout.n_rows) % layout.shards]
        return np.where(cache.row_clock >= 0, np.maximum(cache.row_clock, pushed), -1)

    def _check_client(self, box: ClientBox, effects: list[Effect], waited: set[int]) -> None:
        client = box.machine
        for effect in effects:
            if isinstance(effect, Read):
                if effect.worker not in waited:
                    broken("reads", f"a read for worker {effect.worker}, which asked for none")
                waited.remove(effect.worker)
                asked = self.system.moves[effect.worker][box.done[effect.worker] - 1].call.rows
                if rows_of(effect.rows) != asked:
                    broken("reads", f"worker {effect.worker} asked for {asked}, and got {rows_of(effect.rows)}")
                invariants.right_read(self._ledger, client.policy, effect, self._bsp)
        waiting = {w for w, s in client.workers.items() if s.waiter is not None}
        if waiting != waited:
            broken("reads", f"the workers {waited} wait for reads, and client {client.client} knows {waiting}")
        invariants.exact_copies(self._ledger, client)

    def _client_sends(self, box: ClientBox, effects: list[Effect]) -> tuple[tuple[int, int], ...]:
        c = box.machine.client
        out = [effect for effect in effects if isinstance(effect, ToShard)]
        labels = box.label_requests(e.message for e in out if isinstance(e.message, Request))
        return tuple(
            (
                e.shard,
                self._number_message(c, freeze_to_shard(e.message, lambda r: labels[r.tag])),
            )
            for e in out
        )

    # -- calls of shards -----------------------------------------------------------------------------

    def _at_shard(self, state: FrozenShard, message: int) -> Outcome:
        box = self._shards[state.shard]
        box.thaw(state, self._live_message)
        shard, (client, _) = box.machine, self.messages[message]
        before, out = shard.clock.minimum, box.handed_out()
        values = box.pool.values[out].copy()
        try:
            effects = shard.receive(client, self._live_message(message))
            counts, sends = self._shard_sends(box, state.counts, effects)
            if shard.clock.minimum < before:
                broken("shard clocks never go back", f"shard {state.shard} {before}, then {shard.clock.minimum}")
            if not np.array_equal(box.pool.values[out], values):
                broken("copies are never written", f"shard {state.shard} wrote a version that was handed out")
            return Done(self._number(box.freeze(counts, self._keep(box))), sends)
        except Exception as error:
            return Failure(said(error))

    def _shard_sends(
        self, box: ShardBox, counts: Counts, effects: list[Effect]
    ) -> tuple[Counts, tuple[tuple[int, int], ...]]:
        """What was applied in the end, and what was sent."""
        shard, j, sends = box.machine, box.machine.shard, []
        for effect in effects:
            if isinstance(effect, Applied):
                self._ledger.look_at({}, {})
                self._ledger.order[j] = [w for w, n in enumerate(counts) for _ in range(n)]
                invariants.exactly_once_in_order(self._ledger, effect)
                worker = effect.oplog.worker
                counts = (*counts[:worker], counts[worker] + 1, *counts[worker + 1 :])
            elif isinstance(effect, ToClient):
                frozen = freeze_to_client(effect.message, box.pool, counts)
                sends.append((effect.client, self._number_message(j, frozen)))
                assert isinstance(effect.message, Reply | Push)
                local = effect.message.rows // self.n_shards
                unmarked = (shard.current[local] == effect.message.slots) & ~shard.shared[local]
                if unmarked.any():
                    broken("what is handed out is marked", f"shard {j}, rows {effect.message.rows[unmarked]}")
            elif isinstance(effect, Left) and effect.worker in shard.clock.received:
                broken("leaving", f"worker {effect.worker} has left shard {j} and is a member")
        return counts, tuple(sends)

    # -- numbers -------------------------------------------------------------------------------------

    def _number(self, state: FrozenClient | FrozenShard) -> int:
        number = self._state_numbers.get(state)
        if number is None:
            number = self._state_numbers[state] = len(self.states)
            self.states.append(state)
            self._delivered.append({})
        return number

    def _number_message(self, sender: int, frozen: Frozen) -> int:
        number = self._message_numbers.get((sender, frozen))
        if number is None:
            number = self._message_numbers[sender, frozen] = len(self.messages)
            self.messages.append((sender, frozen))
        return number

    def _keep(self, box: ShardBox) -> Callable[[Any], int]:
        """Numbers the requests and oplogs that a shard keeps."""
        clients = {w: c for c, members in enumerate(box.machine.clients) for w in members}
        return lambda m: self._number_message(clients[m.worker], freeze_to_shard(m, lambda r: r.tag))  # type: ignore[arg-type,return-value]

    def _live_message(self, number: int) -> Any:
        live = self._live.get(number)
        if live is None:
            live = self._live[number] = thaw_to_shard(self.messages[number][1], self.system.workers)
        return live

    def _thaw_client(self, number: int) -> ClientBox:
        state = self.states[number]
        assert isinstance(state, FrozenClient)
        box = self._clients[state.client]
        box.thaw(state)
        return box

    def _thaw_shard(self, number: int) -> ShardBox:
        state = self.states[number]
        assert isinstance(state, FrozenShard)
        box = self._shards[state.shard]
        box.thaw(state, self._live_message)
        return box


def said(error: Exception) -> str:
    """An exception of the machines or the invariants in a line."""
    return f"{type(error).__name__}: {error}"

"""Calls of the real machines, each made once.

What a machine does depends on its own state and its input alone. So a state of the whole system is a row
of numbers, one for each machine's state and each link's content, and a step looks up what the machine does,
calling it only the first time. The invariants of a call are checked then, and hold wherever it occurs.
"""

import numpy as np

from pskit.core import invariants
from pskit.core.ledger import broken
from pskit.core.messages import Push, ToClient
from pskit.explore.client_calls import ClientCalls
from pskit.explore.clients import FrozenClient
from pskit.explore.memo import Memo
from pskit.explore.outcomes import Outcome, Tables, said
from pskit.explore.shard_calls import ShardCalls
from pskit.explore.shards import FrozenShard
from pskit.explore.symmetry import Renaming
from pskit.explore.system import System
from pskit.explore.wire import FrozenPush, FrozenReply

Choice = tuple[str, int]
"""What may happen at a client by itself: ("step", worker) or ("evict", row)."""


class Machines:
    """All states of all machines that were met, by number, and what leads from one to another.

    Attributes
    ----------
    tables : Tables
    start : tuple of int
        Numbers of the first states of clients and shards.
    choices : mapping of int to tuple of (Choice, Outcome)
        What may happen at a client in the state of that number by itself, and what comes of it.
    delivered : mapping of (state, message) to Outcome
    put_off : mapping of (state, message, client) to Outcome or None
        The same at a shard that has no room for pushes to a client; None if it sends it none.
    rooms : mapping of int to tuple of (client, Outcome)
        There is room for what a shard owes a client.
    started : mapping of (state, worker) to Outcome
        The gate opens for a worker that waits there.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.tables = Tables(system)
        self._clients = [ClientCalls(self.tables, c) for c in range(system.clients)]
        self._shards = [ShardCalls(self.tables, j) for j in range(system.shards)]
        self.start = (*(c.start for c in self._clients), *(s.start for s in self._shards))
        self.choices = Memo(self._choices)
        self.delivered = Memo(self._deliver)
        self.put_off = Memo(self._put_off)
        self.rooms = Memo(self._rooms)
        self.started = Memo(self._start)

    def client(self, number: int) -> FrozenClient:
        """The state of that number, which is one of a client."""
        state = self.tables.states[number]
        assert isinstance(state, FrozenClient)
        return state

    def shard(self, number: int) -> FrozenShard:
        """The state of that number, which is one of a shard."""
        state = self.tables.states[number]
        assert isinstance(state, FrozenShard)
        return state

    def _choices(self, number: int) -> tuple[tuple[Choice, Outcome], ...]:
        state = self.client(number)
        calls = self._clients[state.client]
        found = tuple((("step", w), calls.step(state, w)) for w in calls.able(state))
        if self.system.evictions:
            cached = np.flatnonzero(np.frombuffer(state.cache.row_clock, np.int32) >= 0).tolist()
            found += tuple((("evict", row), calls.evict(state, row)) for row in cached)
        return found

    def _start(self, key: tuple[int, int]) -> Outcome:
        state = self.client(key[0])
        return self._clients[state.client].enter(state, key[1])

    def _deliver(self, key: tuple[int, int]) -> Outcome:
        number, message = key
        state = self.tables.states[number]
        if isinstance(state, FrozenClient):
            return self._clients[state.client].deliver(state, message)
        return self._shards[state.shard].deliver(state, message)

    def _put_off(self, key: tuple[int, int, int]) -> Outcome | None:
        number, message, client = key
        usual = self.delivered[number, message]
        pushed = any(
            isinstance(e, ToClient) and e.client == client and isinstance(e.message, Push)
            for e in usual.effects
        )
        state = self.shard(number)
        return self._shards[state.shard].deliver(state, message, full=client) if pushed else None

    def _rooms(self, number: int) -> tuple[tuple[int, Outcome], ...]:
        state = self.shard(number)
        calls = self._shards[state.shard]
        return tuple((client, calls.catch_up(state, client)) for client, _ in state.owed)

    # -- invariants of more than one machine ---------------------------------------------------------

    def check_pair(self, client: int, shard: int) -> str | None:
        """What is wrong with a client and a shard in these states when nothing is under way between them."""
        own, other = self.client(client), self.shard(shard)
        try:
            invariants.subscriptions_match(
                self._clients[own.client].thawed(own).machine, self._shards[other.shard].thawed(other).machine
            )
        except Exception as error:
            return said(error)
        return None

    def check_rest(self, clients: tuple[int, ...], shards: tuple[int, ...]) -> str | None:
        """What is wrong with a whole state in which nothing is under way and no worker can make a step."""
        ours = [calls.thawed(self.client(n)).machine for calls, n in zip(self._clients, clients, strict=True)]
        others = [calls.thawed(self.shard(n)).machine for calls, n in zip(self._shards, shards, strict=True)]
        try:
            invariants.not_stuck(ours, others, able=[])
            final = {"n": np.zeros((self.system.layout.n_rows, self.system.columns), np.int64)}
            for shard in others:
                shard.values_into(final)
                if len(shard.clock):
                    broken("all have left", f"shard {shard.shard} still has {list(shard.clock.counts())}")
            self.tables.ledger.look_at({}, {})
            invariants.end_state(self.tables.ledger, final)
        except Exception as error:
            return said(error)
        return None

    # -- other names ---------------------------------------------------------------------------------

    def rename_message(self, renaming: Renaming, number: int) -> int:
        """Number of a message under other names."""
        sender, frozen = self.tables.messages[number]
        to_client = isinstance(frozen, FrozenReply | FrozenPush)
        names = renaming.shards if to_client else renaming.clients
        return self.tables.messages.of((names[sender], renaming.message(frozen)))

    def rename_state(self, renaming: Renaming, number: int) -> int:
        """Number of a machine's state under other names."""
        state = self.tables.states[number]
        if isinstance(state, FrozenClient):
            return self.tables.states.of(renaming.client(state))
        return self.tables.states.of(renaming.shard(state, lambda m: self.rename_message(renaming, m)))

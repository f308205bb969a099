"""Clients and shards joined by fake links: FIFO on each link, any order across links.

Every call is watched by `pskit.core.invariants`. Nothing here knows time: a test decides which link
delivers next, and when a worker calls.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np

from pskit.core import invariants
from pskit.core.client import Client
from pskit.core.layout import Layout, TableSpec
from pskit.core.messages import Effect, Message, Push, Read, Reply, ToClient, ToShard, ToShards
from pskit.core.oplog import UpdateLog
from pskit.core.policies import policy_class
from pskit.core.rows import RowPools
from pskit.core.server import ServerShard

Link = tuple[str, int, int]
"""("up", client, shard) or ("down", client, shard)."""

MOST_INCS = 7
"""INCs of a worker to one row in one clock that a digit of table "n" can count."""
MOST_CLOCKS = 20
"""Digits of an entry of table "n"."""


class ForgetfulLog(UpdateLog):
    """Forgets at every clock() what no view needs any more, not only when it has grown long."""

    long = property(lambda self: True)


class Cluster:
    """Machines, links, and what the workers are doing.

    Table ``n`` is int64 and decodable: an INC by worker w at clock c adds 8**c to column w, so digit c of
    that column of any view says how often the view has that update. Table ``x`` is float32: its column 0
    comes back to earlier values, and what its column 1 sums up to depends on the order.
    """

    def __init__(
        self,
        policy: str = "ssp",
        slack: int = 0,
        deltas: bool = False,
        clients: int = 2,
        threads: int = 1,
        shards: int = 1,
        n_rows: int = 2,
        x_rows: int = 0,
        cache_rows: int = 0,
        forgetful: bool = False,
    ) -> None:
        self.threads, self.workers = threads, clients * threads
        tables = [TableSpec("n", n_rows, self.workers, "i8")]
        if x_rows:
            tables.append(TableSpec("x", x_rows, 2, "f4"))
        self.layout = layout = Layout(tables, shards)
        self.pools = RowPools(layout)
        self.policy = policy_class(policy)(slack=slack, deltas=deltas)
        members = [range(c * threads, (c + 1) * threads) for c in range(clients)]
        initial = {t.name: np.zeros((t.rows, t.cols), t.dtype) for t in tables}
        if x_rows:
            initial["x"][:] = np.arange(x_rows)[:, None] + [0, 1 / 3]
        self.shards = [
            ServerShard(j, layout, self.policy, self.pools, members, initial) for j in range(shards)
        ]
        self.clients = [
            Client(c, workers, layout, self.policy, self.pools, cache_rows)
            for c, workers in enumerate(members)
        ]
        if forgetful:
            for client in self.clients:
                for state in client.workers.values():
                    state.log = ForgetfulLog(layout)
        self.ledger = invariants.Ledger(layout, initial, range(self.workers))
        self.watch = invariants.Watch(self.ledger, self.shards, self.clients, bsp=policy == "bsp")
        self.links: dict[Link, deque[Message]] = {
            (way, c, j): deque() for way in ("up", "down") for c in range(clients) for j in range(shards)
        }
        self.done: dict[int, Read] = {}
        """Newest read of each worker."""
        self.waiting: set[int] = set()
        self.full: set[tuple[int, int]] = set()
        """(client, shard): between them there is no room for pushes now."""
        self.dead: set[int] = set()
        """Clients."""

    # -- what workers do ---------------------------------------------------------------------------

    def client_of(self, worker: int) -> Client:
        return self.clients[worker // self.threads]

    def clock_of(self, worker: int) -> int:
        return self.client_of(worker).workers[worker].clock

    def has_left(self, worker: int) -> bool:
        return worker in self.ledger.left

    @property
    def idle(self) -> list[int]:
        """Workers that neither wait nor have left."""
        return [w for w in range(self.workers) if w not in self.waiting and not self.has_left(w)]

    def get(self, worker: int, rows: Sequence[int]) -> Read | None:
        """GET of ascending global ``rows``; the read if the cache served it at once."""
        self.waiting.add(worker)
        effects = self.client_of(worker).get(worker, np.array(rows, np.int32))
        self._client_did(worker // self.threads, effects)
        return None if worker in self.waiting else self.done[worker]

    def inc(self, worker: int, rows: Sequence[int], salt: int = 1) -> None:
        """INC of ascending global ``rows``; ``salt`` varies what table "x" gets."""
        ids = np.array(rows, np.int32)
        for table, cut in self.pools.split(ids):
            part, spec = ids[cut], self.layout.tables[table]
            delta = np.zeros((len(part), spec.cols), spec.dtype)
            if spec.name == "n":
                delta[:, worker] = 8 ** self.clock_of(worker)
            elif salt % 2:
                delta[:, 0] = 2 - salt % 4  # there and back again, exactly
            else:
                delta[:, 1] = (salt - 9) * 0.1 / (worker + 1)
            self.ledger.inc(worker, part, delta)
            self.client_of(worker).inc(worker, table, part, delta)

    def clock(self, worker: int) -> None:
        self.ledger.close(worker)
        self._client_did(worker // self.threads, self.client_of(worker).clock(worker))

    def leave(self, worker: int) -> None:
        self.ledger.close(worker, leaving=True)
        self._client_did(worker // self.threads, self.client_of(worker).leave(worker))

    # -- what links and caches do --------------------------------------------------------------------

    @property
    def busy(self) -> list[Link]:
        """Links with a message under way."""
        return [link for link, queue in self.links.items() if queue]

    def deliver(self, link: Link) -> Message:
        """The oldest message of ``link`` arrives."""
        message = self.links[link].popleft()
        self._arrived(link, message)
        return message

    def evict(self, client: int, rows: Sequence[int]) -> None:
        """Drop rows from a cache, whatever its capacity."""
        self._client_did(client, self.clients[client].evict(np.array(rows, np.int32)))

    def fill(self, client: int, shard: int) -> None:
        """From now on there is no room for pushes between the two."""
        self.full.add((client, shard))

    def make_room(self, client: int, shard: int) -> None:
        """There is room again, for the push that is owed."""
        self.full.discard((client, shard))
        effects = self.shards[shard].catch_up(client)
        self._send(client, shard, effects)
        self.watch.shard_did(shard, effects)

    def kill(self, client: int) -> None:
        """A client dies: what it has sent arrives, then its workers are taken out."""
        for worker in self.clients[client].workers:
            if not self.has_left(worker):
                self.ledger.units[worker][-1] = {}  # never sent
                self.ledger.left.add(worker)
            self.waiting.discard(worker)
        for j, shard in enumerate(self.shards):
            while self.links["up", client, j]:
                self.deliver(("up", client, j))
            effects = shard.lose(client)
            self._send(client, j, effects)
            self.watch.shard_did(j, effects)
            self.links["down", client, j].clear()
            self.full.discard((client, j))
        self.dead.add(client)

    def collect(self) -> None:
        """Free the row versions that nobody refers to, and spoil them."""
        roots = self.roots()
        self.pools.collect(roots)
        invariants.live_slots_are_kept(self.pools, roots)
        for pool in self.pools.pools:
            pool.values[pool.free[: pool.n_free]] = 77

    def check(self) -> None:
        """Invariants of a state."""
        alive = [client for client in self.clients if client.client not in self.dead]
        for client in alive:
            invariants.exact_copies(self.ledger, client)
            invariants.cache_is_bounded(client)
            for shard in self.shards:
                ends = client.client, shard.shard
                if not any(self.messages((way, *ends)) for way in ("up", "down")):
                    invariants.subscriptions_match(client, shard)
        if not self.busy and not self.full:
            invariants.not_stuck(alive, self.shards, self.idle)

    def run_up(self) -> None:
        """Everything under way to the shards arrives, what they answer does not yet."""
        for link in self.links:
            while link[0] == "up" and self.links[link]:
                self.deliver(link)

    def run_links(self) -> None:
        """Everything under way arrives."""
        while self.busy:
            self.deliver(self.busy[0])

    def run_out(self) -> None:
        """Every worker leaves as soon as it can, everything arrives; check the end."""
        for pair in sorted(self.full):
            self.make_room(*pair)
        while True:
            for worker in self.idle:
                self.leave(worker)
            if not self.busy:
                break
            self.deliver(self.busy[-1])
        self.check_end()

    def check_end(self) -> None:
        self.check()
        assert all(self.has_left(w) for w in range(self.workers))
        assert not any(len(s.clock) for s in self.shards)
        assert all(s.apply_index == sum(len(u) - 1 for u in self.ledger.units.values()) for s in self.shards)
        invariants.end_state(self.ledger, self.final())

    # -- inside ------------------------------------------------------------------------------------

    def final(self) -> dict[str, np.ndarray]:
        tables = {t.name: np.zeros((t.rows, t.cols), t.dtype) for t in self.layout.tables}
        for shard in self.shards:
            shard.values_into(tables)
        return tables

    def messages(self, link: Link) -> list[Message]:
        """Messages under way on ``link``."""
        return list(self.links[link])

    def roots(self) -> list[tuple[np.ndarray, np.ndarray]]:
        machines = [root for machine in (*self.shards, *self.clients) for root in machine.alive()]
        flying = [m for link in self.links for m in self.messages(link) if isinstance(m, Reply | Push)]
        return machines + [(m.rows, m.slots) for m in flying]

    def _arrived(self, link: Link, message: Message) -> None:
        way, c, j = link
        if way == "up":
            effects = self.shards[j].receive(c, message)
            self._send(c, j, effects)
            self.watch.shard_did(j, effects)
        else:
            self._client_did(c, self.clients[c].receive(j, message))

    def _client_did(self, c: int, effects: list[Effect]) -> None:
        self._send(c, 0, effects)
        self.watch.client_did(c, effects)
        for effect in effects:
            if isinstance(effect, Read):
                assert effect.worker in self.waiting
                self.waiting.remove(effect.worker)
                self.done[effect.worker] = effect

    def _send(self, c: int, j: int, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, ToShards):
                self._send(c, j, effect.each(len(self.shards)))
            elif isinstance(effect, ToShard):
                self._put(("up", c, effect.shard), effect.message)
            elif isinstance(effect, ToClient):
                if isinstance(effect.message, Push) and (effect.client, j) in self.full:
                    self.shards[j].put_off(effect.client, effect.message)
                    continue
                self._put(("down", effect.client, j), effect.message)

    def _put(self, link: Link, message: Message) -> None:
        self.links[link].append(message)

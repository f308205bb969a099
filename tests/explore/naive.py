"""The slow and simple way through all states: whole clusters copied for every step.

It shares nothing with `pskit.explore` but the scripts: machines with a common row pool, and a description
of a state written down anew.
"""

import copy
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pskit.core.messages import Oplog, Push, Reply, Request
from pskit.explore import System
from tests.property.cluster import Cluster


class Naive:
    """A cluster and how far its workers are with their scripts."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.cluster = Cluster(
            system.policy,
            system.slack,
            system.deltas,
            system.clients,
            system.threads,
            system.shards,
            system.rows * system.shards,
            cache_rows=system.capacity,
        )
        self.done = [0] * system.workers
        self.askers: dict[tuple[int, int], int] = {}
        """Worker of each request, by client and tag."""

    def steps(self) -> Iterator["Naive"]:
        """Copies of this state, one event later each."""
        for event in self.events():
            after = copy.deepcopy(self)
            event(after)
            for (way, client, _), queue in after.cluster.links.items():
                if way == "up":
                    after.askers |= {(client, m.tag): m.worker for m in queue if isinstance(m, Request)}
            yield after

    def events(self) -> Iterator[Callable[["Naive"], object]]:
        for worker in self.cluster.idle:
            if self.done[worker] < len(self.system.moves[worker]):
                yield lambda after, worker=worker: after.go_on(worker)
        for client, machine in enumerate(self.cluster.clients):
            if self.system.evictions:
                for row in np.flatnonzero(machine.cache.row_clock >= 0):
                    yield lambda after, client=client, row=row: after.cluster.evict(client, [row])
        for link in self.cluster.busy:
            yield lambda after, link=link: after.cluster.deliver(link)

    def go_on(self, worker: int) -> None:
        move = self.system.moves[worker][self.done[worker]]
        self.done[worker] += 1
        for call in (*move.incs, move.call):
            if call.name == "get":
                self.cluster.get(worker, call.rows)
            elif call.name == "inc":
                self.cluster.inc(worker, call.rows)
            else:
                getattr(self.cluster, call.name)(worker)

    # -- what tells states apart ---------------------------------------------------------------------

    def key(self) -> str:
        """Everything that matters, without slots and tags."""
        cluster = self.cluster
        parts = [self.done, *map(self.client, cluster.clients), *map(self.shard, cluster.shards)]
        for (way, client, _), queue in sorted(cluster.links.items()):
            parts.append([way, client, *(self.message(m, client) for m in queue)])
        return repr(parts)

    def values(self, slots: Any) -> list:
        return self.cluster.pools.pools[0].values[slots].tolist()

    def request(self, client: int, tag: int) -> list:
        need, rows = self.cluster.clients[client].outstanding[tag]
        return [need, rows.tolist(), self.askers[client, tag]]

    def message(self, message: Any, client: int) -> list:
        fields = message._asdict()
        name = type(message).__name__
        if isinstance(message, Oplog):
            fields["parts"] = [(p.rows.tolist(), p.delta.tolist()) for p in message.parts]
            return [name, *fields.values()]
        fields["rows"] = message.rows.tolist()
        if isinstance(message, Request | Reply):
            fields["tag"] = self.cluster.clients[client].outstanding[message.tag][0]
        if isinstance(message, Reply | Push):
            fields["slots"] = self.values(message.slots)
        if isinstance(message, Push):
            fields["entries"] = [
                [e.rows.tolist(), e.start.tolist(), e.cols.tolist(), e.values.tolist()]
                for e in message.entries
            ]
        return [name, *fields.values()]

    def client(self, client: Any) -> list:
        cache, rows = client.cache, np.flatnonzero(client.cache.row_clock >= 0)
        parts: list = [rows.tolist(), self.values(cache.slot[rows]), cache.hand]
        for array in (cache.row_clock, cache.row_version, cache.row_applied, cache.used):
            parts.append(array[rows if len(array) else []].tolist())
        for array in (cache.push_clock, cache.push_version, cache.push_applied, cache.fetched):
            parts.append(array.tolist())
        parts.append(sorted(self.request(client.client, tag) for tag in client.outstanding))
        for state in client.workers.values():
            parts += [state.clock, state.present, [(r, s, d.tolist()) for r, s, d in state.log.entries()]]
            if (waiter := state.waiter) is not None:
                have = np.setdiff1d(np.arange(len(waiter.rows)), waiter.missing)
                parts += [waiter.rows.tolist(), waiter.need, have.tolist(), waiter.hit.tolist()]
                parts.append(self.values(waiter.have_slot[have]))
                for array in (waiter.have_clock, waiter.have_version, waiter.have_own):
                    parts.append(array[have].tolist())
        return parts

    def shard(self, shard: Any) -> list:
        parts: list = [
            shard.clock.minimum,
            list(shard.clock.counts().items()),
            shard.applied.tolist(),
        ]
        for array in (shard.shared, shard.dirty, shard.subscribed, shard.replied):
            parts.append(array.tolist())
        parts += [self.values(shard.current), self.values(shard.pushed), shard.subscriptions]
        for client in range(self.system.clients):
            parts.append([self.message(r, c) for c, r in shard.waiting if c == client])
        parts.append(sorted((k, w) for k, by_worker in shard.held.items() for w in by_worker))
        return parts


def explore_naively(system: System) -> tuple[int, int]:
    """Numbers of states and transitions."""
    start = Naive(system)
    seen, frontier, transitions = {start.key()}, deque([start]), 0
    while frontier:
        for after in frontier.popleft().steps():
            transitions += 1
            after.cluster.check()
            key = after.key()
            if key not in seen:
                seen.add(key)
                frontier.append(after)
    return len(seen), transitions

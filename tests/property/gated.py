"""Clients with a gate, shards and an arbiter, joined by fake links; see `tests.property.cluster`.

Every update is remembered with its computation, so that the reference state of a start can be made from them
by plain sums, in exact arithmetic: all values are multiples of 1/64.
"""

from collections import deque

import numpy as np

from pskit.core import invariants
from pskit.core.arbiter import Arbiter
from pskit.core.gated import IDLE, READ, GatedClient
from pskit.core.layout import Layout, TableSpec
from pskit.core.ledger import ByIncrement
from pskit.core.messages import Applied, Ended, Increment, Push, Read, ToClient, ToShard, ToShards
from pskit.core.policies import VAP
from pskit.core.rows import RowPools
from pskit.core.server import ServerShard

LARGEST = 7 / 16
"""Magnitude of the largest entry of an update of one computation: what it reserves."""
MOST_CLOCKS = 8


class GatedCluster:
    """Machines, links, the arbiter, and what every computation has read and added."""

    def __init__(
        self, v0=1.0, variant="aggregate", schedule="inverse-sqrt", reserve=True, deltas=False,
        clients=2, threads=1, shards=1, n_rows=2, x_rows=0,
    ):  # fmt: skip
        self.threads, self.workers = threads, clients * threads
        tables = [TableSpec("n", n_rows, 2, "f8")]
        if x_rows:
            tables.append(TableSpec("x", x_rows, 1, "f4"))
        self.layout = Layout(tables, shards)
        self.pools, policy = RowPools(self.layout), VAP(deltas=deltas)
        members = [range(c * threads, (c + 1) * threads) for c in range(clients)]
        initial = {t.name: np.ones((t.rows, t.cols), t.dtype) for t in tables}
        machines = self.layout, policy, self.pools, members, initial
        self.shards = [ServerShard(j, *machines) for j in range(shards)]
        self.clients = [GatedClient(c, m, self.layout, policy, self.pools) for c, m in enumerate(members)]
        bound = (lambda worker, clock, t: LARGEST) if reserve else None
        self.arbiter = Arbiter(self.layout, members, v0, variant, schedule, bound)
        self.variant, self.reserve = variant, reserve
        self.ledger = ByIncrement(self.layout, initial, range(self.workers))
        self.watch = invariants.Watch(self.ledger, self.shards, self.clients)
        self.links = {
            (way, c, j): deque() for way in ("up", "down") for c in range(clients) for j in range(shards)
        }
        self.computations = []  # of each start: its worker, and what it added, by row
        self.current = {}

    # -- workers -------------------------------------------------------------------------------------

    def client_of(self, worker):
        return self.clients[worker // self.threads]

    @property
    def at_gate(self):
        return [w for client in self.clients for w in client.gate]

    @property
    def idle(self):
        states = {w: s for client in self.clients for w, s in client.workers.items()}
        out = set(self.at_gate)
        return [w for w, s in states.items() if s.present and s.waiter is None and w not in out]

    def phase(self, worker):
        return self.client_of(worker).phase[worker]

    def get(self, worker, rows):
        if self.phase(worker) != READ:
            self._client_did(worker, self.client_of(worker).get(worker, np.array(rows, np.int32)))

    def inc(self, worker, rows, salt):
        """Add -1/8, 0 or 1/8 to rows; a computation does so three times at most."""
        mine = self.current.get(worker)
        if self.phase(worker) == IDLE or mine["incs"] == 3:
            return
        mine["incs"] += 1
        ids = np.array(rows, np.int32)
        for table, cut in self.pools.split(ids):
            spec = self.layout.tables[table]
            part = ids[cut]
            delta = np.full((len(part), spec.cols), (salt % 3 - 1) / 8, spec.dtype)
            delta[:, 0] += 1 / 64
            self.ledger.inc(worker, part, delta)
            for row, values in zip(part.tolist(), delta, strict=True):
                mine["added"][row] = mine["added"].get(row, 0) + values.astype(np.float64)
            self._client_did(worker, self.client_of(worker).add(worker, table, part, delta))

    def clock(self, worker):
        if self.client_of(worker).workers[worker].clock < MOST_CLOCKS:
            self.ledger.close(worker)
            self._client_did(worker, self.client_of(worker).clock(worker))

    def leave(self, worker):
        self.ledger.close(worker, leaving=True)
        self._client_did(worker, self.client_of(worker).leave(worker))

    def open(self, worker):
        """The gate opens for ``worker``, if it may; whether it did."""
        client = self.client_of(worker)
        start = self.arbiter.ask(worker, client.workers[worker].clock, client.gate[worker].rows)
        if start is None:
            return False
        effects = client.start(worker)
        self.check_start(start, effects[0])
        self.current[worker] = {"worker": worker, "added": {}, "incs": 0}
        self.computations.append(self.current[worker])
        self._client_did(worker, effects)
        return True

    # -- the invariant -------------------------------------------------------------------------------

    def check_start(self, start, read: Read):
        """8. The view is within v_t of the reference state, or each producer's unseen sum is."""
        assert start.t == len(self.computations) + 1
        views = dict(zip(read.rows.tolist(), self._flat(read), strict=True))
        if self.variant == "per_worker":
            for worker in set(range(self.workers)) - {read.worker}:
                for row in views:
                    assert np.abs(self._unseen(read, worker, row)).max() <= start.v
        elif self.reserve:
            for row, view in views.items():
                added = [c["added"].get(row, 0) for c in self.computations]
                assert np.abs(view - (1 + sum(added))).max() <= start.v
        else:
            for row in views:
                others = [self._unseen(read, w, row) for w in range(self.workers) if w != read.worker]
                assert np.abs(sum(others)).max(initial=0.0) <= start.v

    def _flat(self, read):
        return [row.astype(np.float64) for view in read.views for row in view]

    def _unseen(self, read, worker, row):
        """Sum of what ``worker`` has made and the copy that was read lacks."""
        place = read.rows.tolist().index(row)
        has = self.ledger.included(row % self.layout.shards, int(read.version[place]))[worker]
        units = self.ledger.units[worker][has:]
        cols = self.layout.tables[int(self.layout.table_of_row[row])].cols
        return sum((unit[row].astype(np.float64) for unit in units if row in unit), np.zeros(cols))

    # -- links ---------------------------------------------------------------------------------------

    @property
    def busy(self):
        return [link for link, queue in self.links.items() if queue]

    def deliver(self, link):
        way, c, j = link
        message = self.links[link].popleft()
        if way == "up":
            self._shard_did(j, self.shards[j].receive(c, message))
            return
        if isinstance(message, Push):
            self.arbiter.transit.seen(c, j, message.version)
        first = c * self.threads
        self._client_did(first, self.clients[c].receive(j, message))

    def _client_did(self, worker, effects):
        c = worker // self.threads
        one_by_one = []
        for effect in effects:
            one_by_one += effect.each(len(self.shards)) if isinstance(effect, ToShards) else [effect]
        for effect in one_by_one:
            if isinstance(effect, ToShard):
                message = effect.message
                self.links["up", c, effect.shard].append(message)
                if isinstance(message, Increment):
                    (part,) = message.parts
                    self.arbiter.transit.made(
                        message.worker, message.seq, effect.shard, part.rows, part.delta
                    )
            elif isinstance(effect, Ended):
                self.arbiter.over(effect.worker)
        self.watch.client_did(c, effects)

    def _shard_did(self, j, effects):
        for effect in effects:
            if isinstance(effect, ToClient):
                self.links["down", effect.client, j].append(effect.message)
            elif isinstance(effect, Applied) and isinstance(effect.oplog, Increment):
                oplog = effect.oplog
                local = oplog.parts[0].rows // self.layout.shards
                owed = self.shards[j].subscribed[:, local].any(axis=1)
                self.arbiter.transit.applied(oplog.worker, oplog.seq, j, effect.apply_index, owed)
        self.watch.shard_did(j, effects)

    # -- checks --------------------------------------------------------------------------------------

    def check(self):
        for client in self.clients:
            invariants.exact_copies(self.ledger, client)
            for shard in self.shards:
                ends = client.client, shard.shard
                if not self.links["up", *ends] and not self.links["down", *ends]:
                    invariants.subscriptions_match(client, shard)
        assert (self.arbiter.reserved >= 0).all()

    def run_out(self):
        """Everybody leaves as soon as it can, everything arrives, and the gate lets everybody in."""
        while True:
            for worker in self.idle:
                self.leave(worker)
            if self.busy:
                self.deliver(self.busy[-1])
            else:
                opened = [self.open(worker) for worker in self.at_gate]
                if not any(opened):
                    break
        self.check()
        invariants.not_stuck(self.clients, self.shards, able=self.idle)
        assert self.idle == self.at_gate == []
        assert len(self.arbiter.transit) == 0
        assert not self.arbiter.reserved.any()
        final = {t.name: np.zeros((t.rows, t.cols), t.dtype) for t in self.layout.tables}
        for shard in self.shards:
            shard.values_into(final)
        invariants.end_state(self.ledger, final)

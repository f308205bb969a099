"""A shard with clients that a test plays by hand."""

import numpy as np

from pskit.core.layout import Layout
from pskit.core.messages import Oplog, Part, Request, ToClient, Unsubscribe
from pskit.core.policies import policy_class
from pskit.core.rows import RowPools
from pskit.core.server import ServerShard


class Desk:
    """A shard with one worker per client; all rows start at their own number."""

    def __init__(self, policy="ssp", clients=2, n_rows=4, shards=1, shard=0, deltas=False, threads=1):
        self.layout = Layout([("a", n_rows, 2, "i8")], shards)
        self.pools = RowPools(self.layout)
        members = [range(c * threads, (c + 1) * threads) for c in range(clients)]
        initial = {"a": np.repeat(np.arange(n_rows, dtype=np.int64)[:, None], 2, axis=1)}
        cls = policy_class(policy)
        self.shard = ServerShard(shard, self.layout, cls(0, deltas), self.pools, members, initial)
        self.threads = threads
        self.clocks = dict.fromkeys(range(clients * threads), 0)

    def oplog(self, worker, updates=None, leaving=False):
        """The next oplog of ``worker``: adds ``value`` to both columns of each row of ``updates``."""
        parts = ()
        if updates:
            rows = np.array(sorted(updates), np.int32)
            delta = np.array([[updates[r]] * 2 for r in sorted(updates)], np.int64)
            parts = (Part(0, rows, delta),)
        clock = self.clocks[worker]
        self.clocks[worker] += 1
        return self.shard.receive(worker // self.threads, Oplog(worker, clock, clock, parts, leaving, 0, 0))

    def request(self, client, rows, need, tag=0):
        return self.shard.receive(client, Request(client * self.threads, np.array(rows, np.int32), need, tag))

    def unsubscribe(self, client, rows):
        return self.shard.receive(client, Unsubscribe(np.array(rows, np.int32)))

    def values(self, message):
        """First entry of every row in a reply or push."""
        slots = self.pools.pools[0].values[message.slots, 0]
        return dict(zip(message.rows.tolist(), slots.tolist(), strict=True))

    def final(self):
        tables = {"a": np.zeros((self.layout.n_rows, 2), np.int64)}
        self.shard.values_into(tables)
        return tables["a"][:, 0].tolist()


def sent(effects, kind):
    """(client, message) of each message of a kind among the effects."""
    return [(e.client, e.message) for e in effects if isinstance(e, ToClient) and isinstance(e.message, kind)]

"""The process cache of a client: server copies only, shared by the client's workers.

For every row it keeps the slot of the copy and what the last reply said of it: clock, apply index, and
how much of each own worker is in. A push moves these on for all cached rows of its shard at once, since
a cached copy under a pushing policy is always subscribed. So a copy's *effective* clock, version and
``applied`` are the later of the two (links are FIFO and neither ever goes back).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pskit.core import kernels
from pskit.core.delta import overwrite_entries
from pskit.core.layout import Layout, RowIds
from pskit.core.messages import Push, Reply, Slots
from pskit.core.rows import RowPools

NOT_CACHED = -1


class ProcessCache:
    """Copies of rows, with approximate LRU eviction (second chance).

    Parameters
    ----------
    layout : Layout
    pools : RowPools
    workers : int
        Workers of the client.
    capacity : int
        Rows it may keep; 0 = all.
    per_clock : bool
        Keep, per worker, the clock for which each row was last fetched (ASP).
    """

    def __init__(self, layout: Layout, pools: RowPools, workers: int, capacity: int, per_clock: bool) -> None:
        n, shards = layout.n_rows, layout.shards
        self.layout, self.pools, self.capacity = layout, pools, capacity
        self.slot: Slots = np.zeros(n, np.int32)
        self.row_clock = np.full(n, NOT_CACHED, np.int32)
        self.row_version = np.zeros(n, np.int64)
        self.row_applied = np.zeros((n, workers), np.int32)
        self.push_clock = np.full(shards, NOT_CACHED, np.int32)
        self.push_version = np.zeros(shards, np.int64)
        self.push_applied = np.zeros((shards, workers), np.int32)
        self.fetched = np.full((workers, n if per_clock else 0), NOT_CACHED, np.int32)
        self.used = np.zeros(n if capacity else 0, np.bool_)
        self.count = 0
        self.hand = 0
        self.dropped = 0  # rows pushed although no longer cached

    def lookup(
        self,
        where: npt.NDArray[np.int32],
        rows: RowIds,
        need: int,
        me: int,
        clock: int,
        out: "tuple[Slots, npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int32]]",
    ) -> int:
        """Serve positions ``where`` of ``rows``; see `kernels.lookup`. Returns how many are missing."""
        if self.capacity:
            self.used[rows] = True
        missing: int = kernels.lookup(
            where, rows, need, me, self.layout.shards, self.slot, self.row_clock, self.row_version,
            self.row_applied, self.push_clock, self.push_version, self.push_applied, self.fetched[me], clock,
            *out,
        )  # fmt: skip
        return missing

    def install_reply(self, reply: Reply) -> None:
        """Put replied copies in, also when nobody waits for them any more."""
        self.count += kernels.install_reply(
            reply.rows, reply.slots, reply.clock, reply.version, np.array(reply.applied, np.int32),
            self.slot, self.row_clock, self.row_version, self.row_applied, self.used,
        )  # fmt: skip

    def install_push(self, shard: int, push: Push) -> None:
        """Take a push in: new values of cached rows, and the confirmation of all rows of ``shard``."""
        if len(push.rows):
            self.dropped += kernels.install_push(push.rows, push.slots, self.slot, self.row_clock)
        for entries in push.entries:
            self.dropped += overwrite_entries(entries, self.slot, self.row_clock, self.pools)
        self.push_clock[shard] = push.clock
        self.push_version[shard] = push.version
        self.push_applied[shard] = push.applied

    def evict(self) -> RowIds:
        """Drop rows down to the capacity; the dropped ones (n,), ascending."""
        excess = self.count - self.capacity
        if not self.capacity or excess <= 0:
            return np.empty(0, np.int32)
        out = np.empty(excess, np.int32)
        self.hand = kernels.second_chance(self.row_clock, self.used, self.hand, excess, out)
        self.count -= excess
        return np.sort(out)

    def contains_own(self, me: int, rows: RowIds, seq: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether the cached copy of each row contains own unit ``seq`` of worker ``me`` (n,) bool."""
        applied = np.maximum(self.row_applied[rows, me], self.push_applied[rows % self.layout.shards, me])
        contained: npt.NDArray[np.bool_] = (self.row_clock[rows] != NOT_CACHED) & (applied > seq)
        return contained

    def alive(self) -> Sequence[tuple[RowIds, Slots]]:
        """Rows and slots that this cache refers to."""
        rows = np.flatnonzero(self.row_clock != NOT_CACHED).astype(np.int32)
        return [(rows, self.slot[rows])]

"""Delta pushes: only the entries that changed since the last rise, with their new values.

Entries are overwritten at the receiver, not added: added float deltas drift in the last bits. A row
replied to since the last push goes in full: an entry that went away from its old value and back is no
change since the last rise, but the replied copy has it.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pskit.core import kernels
from pskit.core.layout import RowIds
from pskit.core.messages import Entries, Slots, Values
from pskit.core.rows import RowPools

if TYPE_CHECKING:
    from pskit.core.server import ServerShard


def bits(values: Values) -> Values:
    """The same memory as unsigned integers, so that NaN and -0.0 compare by their bits."""
    return values.view(f"u{values.itemsize}")


def delta_push(
    shard: "ServerShard", changed: RowIds, to: Sequence[int], skip: npt.NDArray[np.bool_]
) -> Iterator[tuple[int, RowIds, Slots, tuple[Entries, ...]]]:
    """What each client of ``to`` gets: ``(client, full rows, slots, entries)``.

    ``changed`` (n,) are local row indices; ``skip`` (len(to), n) marks rows not to be pushed, or is empty.
    The shard's record of what was last pushed moves on.
    """
    shards, rows = shard.layout.shards, shard.rows[changed]
    pieces = []
    for table, cut in shard.pools.split(rows):
        values = shard.pools.pools[table].values
        start, cols = kernels.changed_entries(
            bits(values), bits(values), shard.pushed[changed[cut]], shard.current[changed[cut]]
        )
        pieces.append((table, cut, start, cols, values))
    for i, client in enumerate(to):
        wanted = shard.subscribed[client, changed]
        if len(skip):
            wanted &= ~skip[i]
        full = wanted & shard.replied[client, changed]
        partial = wanted & ~full
        entries = []
        for table, cut, start, cols, values in pieces:
            pick = np.flatnonzero(partial[cut])
            if len(pick) == 0:
                continue
            counts = start[pick + 1] - start[pick]
            out_start = np.concatenate([np.zeros(1, np.int32), np.cumsum(counts, dtype=np.int32)])
            take = np.repeat(start[pick] - out_start[:-1], counts) + np.arange(out_start[-1])
            owner = np.repeat(shard.current[changed[cut][pick]], counts)
            entries.append(Entries(table, rows[cut][pick], out_start, cols[take], values[owner, cols[take]]))
        yield client, changed[full] * shards + shard.shard, shard.current[changed[full]], tuple(entries)
    shard.pushed[changed] = shard.current[changed]
    shard.shared[changed] = True
    shard.replied[np.asarray(to, np.intp)] = False


def overwrite_entries(
    entries: Entries, slot: Slots, row_clock: npt.NDArray[np.int32], pools: RowPools
) -> int:
    """Overwrite the entries of the cached rows in fresh versions; returns how many rows were dropped."""
    cached = row_clock[entries.rows] >= 0
    pick = np.flatnonzero(cached)
    if len(pick):
        pool = pools.pools[entries.table]
        fresh = pool.take(len(pick))
        pool.values[fresh] = pool.values[slot[entries.rows[pick]]]
        counts = np.diff(entries.start)
        keep = np.repeat(cached, counts)
        pool.values[np.repeat(fresh, counts[pick]), entries.cols[keep]] = entries.values[keep]
        slot[entries.rows[pick]] = fresh
    return len(cached) - len(pick)

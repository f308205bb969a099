"""Pushes for which there is no room: what a client is owed, sent as one push when there is room again.

A shard never waits for a client, and keeps no queue of pushes for one that is slow. Rules:

1. A runtime that has no room for a push gives it back (`ServerShard.put_off`). From then on the client is
   *behind*: no push is made for it, and the shard keeps a set of the rows that it lacks, and no more.
2. When there is room the client gets one push (`ServerShard.catch_up`), with the newest version of every row
   that it lacks and still subscribes to, and with the clock, the apply index and the counts *of that moment*.
   A push confirms all subscribed rows at its apply index: so rows changed since the last rise are in it, too.
3. Replies are not held up by what is owed. A reply has the versions of its own moment, and the push that is
   made after it none that are older: so nothing that the client has ever goes back.
4. Under delta pushes owed rows go in full, as nobody remembers which of their entries the client has. They
   count as replied-to: an entry that comes back to its value at the last rise until the next one is no change
   since then, but this copy lacks it.
"""

from typing import TYPE_CHECKING

import numpy as np

from pskit.core.layout import RowIds
from pskit.core.messages import Push

if TYPE_CHECKING:
    from pskit.core.server import ServerShard


def put_off(shard: "ServerShard", client: int, push: Push | None) -> None:
    """``client`` is behind from now on, and owed the rows of ``push``."""
    owed = shard.owed.get(client)
    if owed is None:
        owed = shard.owed[client] = np.zeros(len(shard.rows), np.bool_)
    if push is not None:
        shard.put_offs += 1
        for rows in (push.rows, *(entries.rows for entries in push.entries)):
            owed[rows // shard.layout.shards] = True


def owe(shard: "ServerShard", changed: RowIds, to: list[int]) -> list[int]:
    """On a rise: those of the clients ``to`` that are not behind; the others are owed the ``changed`` rows.

    ``changed`` (n,) are local row indices.
    """
    for owed in shard.owed.values():
        owed[changed] = True
    ahead = [client for client in to if client not in shard.owed]
    shard.put_offs += len(to) - len(ahead)
    return ahead


def due(shard: "ServerShard", client: int) -> RowIds | None:
    """What the push has that ``client`` is now made up to date with: local row indices (n,).

    None: it is not behind, or subscribes to nothing. It is not behind any more.
    """
    owed = shard.owed.pop(client, None)
    if owed is None or not shard.subscriptions[client]:
        return None
    local = np.flatnonzero((owed | shard.dirty) & shard.subscribed[client]).astype(np.int32)
    shard.shared[local] = True
    if len(shard.replied):
        shard.replied[client, local] = True
    return local

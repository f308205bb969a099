"""Rules on what is sent. Who breaks one of these wastes messages, or is right by luck only."""

from collections.abc import Iterable, Set

import numpy as np
import numpy.typing as npt

from pskit.core.client import Client
from pskit.core.ledger import broken
from pskit.core.messages import Applied, Effect, Left, Message, Push, Reply, Request, ToClient, Unsubscribe
from pskit.core.server import ServerShard


def rows_sent(message: Reply | Push) -> list[int]:
    """Global rows that a message has values of, in full or in part."""
    entries = message.entries if isinstance(message, Push) else ()
    return [row for part in (message, *entries) for row in part.rows.tolist()]


def request_misses(client: Client, request: Request) -> None:
    """Under a pushing policy only rows that are not cached are asked for: the push of others is under way."""
    if client.policy.subscribes and (client.cache.row_clock[request.rows] >= 0).any():
        broken("a cached row's push is under way", f"client {client.client} asks for rows {request.rows}")


def replies_before_pushes(effects: Iterable[Effect]) -> None:
    """A rise answers requests first, and then pushes no row to a client that has just got it."""
    sent: set[tuple[int, int]] = set()
    pushed = False
    for effect in effects:
        if isinstance(effect, Applied | Left):
            pushed = False  # what follows belongs to another rise
        elif isinstance(effect, ToClient) and isinstance(effect.message, Reply | Push):
            is_push = isinstance(effect.message, Push)
            if pushed and not is_push:
                broken("waiting requests first", f"client {effect.client} is answered after a push")
            pushed = pushed or is_push
            rows = {(effect.client, row) for row in rows_sent(effect.message)}
            if is_push and rows & sent:
                broken("pushed once", f"(client, row) {sorted(rows & sent)} had just been sent")
            sent |= rows


def pushes_what_changed(effects: Iterable[Effect], changed: Set[int]) -> set[int]:
    """Pushes carry only rows ``changed`` since the last rise; those changed once the effects are done."""
    now = set(changed)
    for effect in effects:
        if isinstance(effect, Applied):
            now.update(row for part in effect.oplog.parts for row in part.rows.tolist())
        elif isinstance(effect, ToClient) and isinstance(effect.message, Push):
            unchanged = set(rows_sent(effect.message)) - now
            if unchanged:
                broken("changed rows are pushed", f"to client {effect.client} also rows {sorted(unchanged)}")
    return now


def subscriptions_follow_replies(
    shard: ServerShard,
    before: npt.NDArray[np.bool_],
    client: int,
    message: Message,
    effects: Iterable[Effect],
) -> None:
    """A subscription begins at a reply, and ends at an unsubscribe.

    Parameters
    ----------
    shard : ServerShard
        After it took in ``message`` of ``client``.
    before : (clients, rows of the shard) bool
        Who was subscribed to what before that.
    """
    if not shard.policy.subscribes:
        return
    expected = before.copy()
    if isinstance(message, Unsubscribe):
        expected[client, message.rows // shard.layout.shards] = False
    for effect in effects:
        if isinstance(effect, ToClient) and isinstance(effect.message, Reply):
            expected[effect.client, effect.message.rows // shard.layout.shards] = True
    if not np.array_equal(shard.subscribed, expected):
        said = f"shard {shard.shard} has {shard.subscribed.tolist()}, not {expected.tolist()}"
        broken("subscriptions follow replies", said)

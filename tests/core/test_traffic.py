"""That the rules on what is sent notice what they are there for."""

import numpy as np
import pytest

from pskit.core import traffic
from pskit.core.ledger import InvariantBroken
from pskit.core.messages import (
    Applied,
    Entries,
    Left,
    Oplog,
    Part,
    Push,
    Reply,
    Request,
    ToClient,
    Unsubscribe,
)
from tests.property.cluster import Cluster


def ids(*rows):
    return np.array(rows, np.int32)


def reply(client, *rows):
    return ToClient(client, Reply(ids(*rows), ids(*rows), 0, 0, (0,), 0))


def push(client, *rows, entries=()):
    part = (Entries(0, ids(*entries), ids(), ids(), np.zeros(0, np.int64)),) if entries else ()
    return ToClient(client, Push(ids(*rows), ids(*rows), part, 0, 0, (0,)))


def applied(*rows):
    delta = np.ones((len(rows), 1), np.int64)
    return Applied(0, Oplog(0, 0, 0, (Part(0, ids(*rows), delta),), False, 0, 0), 0)


def test_only_rows_that_are_not_cached_are_asked_for():
    cluster = Cluster("essp", slack=0, clients=1, n_rows=2)
    cluster.get(0, [0])
    cluster.run_links()
    traffic.request_misses(cluster.clients[0], Request(0, ids(1), 0, 0))
    with pytest.raises(InvariantBroken, match="client 0 asks for rows"):
        traffic.request_misses(cluster.clients[0], Request(0, ids(0, 1), 0, 0))
    pulled = Cluster("ssp", slack=0, clients=1)
    pulled.get(0, [0])
    pulled.run_links()
    traffic.request_misses(pulled.clients[0], Request(0, ids(0), 1, 0))


def test_replies_come_before_pushes():
    traffic.replies_before_pushes([applied(0), reply(0, 0), reply(1, 0), push(0, 1), push(1, 1)])
    traffic.replies_before_pushes([applied(0), push(0, 1), Left(0, 0, 1, 1), reply(0, 1), push(0)])
    with pytest.raises(InvariantBroken, match="client 1 is answered after a push"):
        traffic.replies_before_pushes([push(0, 1), reply(1, 0)])


def test_no_row_is_pushed_once_more():
    with pytest.raises(InvariantBroken, match=r"\[\(0, 1\)\] had just been sent"):
        traffic.replies_before_pushes([reply(0, 1), push(0, 0, 1)])
    with pytest.raises(InvariantBroken, match=r"\[\(0, 1\)\] had just been sent"):
        traffic.replies_before_pushes([push(0, 1), Left(0, 0, 1, 1), push(0, entries=[1])])


def test_only_changed_rows_are_pushed():
    assert traffic.pushes_what_changed([push(0, 3), applied(0, 1), push(1, 1)], {3}) == {0, 1, 3}
    with pytest.raises(InvariantBroken, match=r"client 1 also rows \[2\]"):
        traffic.pushes_what_changed([applied(0, 1), push(1, 1, entries=[2])], set())


def test_subscriptions_follow_replies():
    cluster = Cluster("essp", slack=0, clients=2, n_rows=2)
    (shard,) = cluster.shards
    before = shard.subscribed.copy()
    request = Request(0, ids(1), 0, 0)
    effects = shard.receive(0, request)
    traffic.subscriptions_follow_replies(shard, before, 0, request, effects)
    with pytest.raises(InvariantBroken, match="subscriptions follow replies"):
        traffic.subscriptions_follow_replies(shard, before, 0, request, [])
    before = shard.subscribed.copy()
    unsubscribe = Unsubscribe(ids(1))
    shard.receive(0, unsubscribe)
    traffic.subscriptions_follow_replies(shard, before, 0, unsubscribe, [])
    with pytest.raises(InvariantBroken, match="subscriptions follow replies"):
        traffic.subscriptions_follow_replies(shard, before, 1, unsubscribe, [])


def test_policies_that_push_nothing_have_no_subscriptions():
    (shard,) = Cluster("ssp").shards
    traffic.subscriptions_follow_replies(shard, shard.subscribed, 0, Request(0, ids(0), 0, 0), [reply(0, 0)])

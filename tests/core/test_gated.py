"""A client whose GETs start computations and whose INCs leave at once."""

import numpy as np
import pytest

from pskit.core.client import NonFiniteUpdate
from pskit.core.gated import GatedClient, Misuse
from pskit.core.layout import Layout, TableSpec
from pskit.core.messages import (
    Ended,
    Increment,
    Knock,
    Oplog,
    ProtocolViolation,
    Push,
    Read,
    Reply,
    Request,
    ToShard,
)
from pskit.core.policies import VAP
from pskit.core.rows import RowPools
from pskit.core.server import ServerShard

LAYOUT = Layout([TableSpec("x", 4, 1, "f8")], shards=2)


class Pair:
    """Two workers on one client, and two shards; messages arrive when told."""

    def __init__(self, cache_rows=0):
        pools, policy = RowPools(LAYOUT), VAP()
        initial = {"x": np.arange(4.0)[:, None]}
        self.shards = [ServerShard(j, LAYOUT, policy, pools, [[0, 1]], initial) for j in range(2)]
        self.client = GatedClient(0, [0, 1], LAYOUT, policy, pools, cache_rows)

    def fetch(self, *rows):
        """Worker 0 gets rows: ask, and take the replies in; the last effects."""
        effects = self.client.get(0, np.array(rows, np.int32))
        for effect in [e for e in effects if isinstance(e, ToShard)]:
            for answer in self.shards[effect.shard].receive(0, effect.message):
                effects = self.client.receive(effect.shard, answer.message)
        return effects

    def inc(self, rows, value, worker=0):
        return self.client.add(worker, 0, np.array(rows, np.int32), np.full((len(rows), 1), value), now=7)


def test_a_get_knocks_once_its_rows_are_there_and_reads_when_it_is_let_in():
    pair = Pair()
    first = pair.client.get(0, np.array([0, 1], np.int32))
    assert [type(e.message) for e in first] == [Request, Request]
    (even,) = pair.shards[0].receive(0, first[0].message)
    assert isinstance(even.message, Reply)
    assert pair.client.receive(0, even.message) == []
    (odd,) = pair.shards[1].receive(0, first[1].message)
    assert pair.client.receive(1, odd.message) == [Knock(0)]
    (read,) = pair.client.start(0)
    assert isinstance(read, Read)
    assert read.views[0].tolist() == [[0.0], [1.0]]
    assert read.hit.tolist() == [False, False]


def test_copies_are_those_of_the_moment_of_the_start():
    pair = Pair()
    pair.fetch(0)
    pair.client.start(0)
    (sent,) = pair.inc([0], 5.0)
    assert pair.client.get(1, np.array([0], np.int32)) == [Knock(1)]
    _, push = pair.shards[0].receive(0, sent.message)
    assert isinstance(push.message, Push)
    assert pair.client.receive(0, push.message) == [Knock(1)]  # perhaps it may start now
    (read,) = pair.client.start(1)
    assert read.views[0].tolist() == [[5.0]]
    assert read.hit.tolist() == [True]
    assert read.version.tolist() == [1]


def test_an_inc_leaves_at_once_for_the_shards_of_its_rows():
    pair = Pair()
    pair.fetch(0, 1, 2)
    pair.client.start(0)
    both, one = pair.inc([0, 1], 1.0), pair.inc([2], 2.0)
    assert [(e.shard, type(e.message), e.message.seq) for e in both] == [(0, Increment, 0), (1, Increment, 0)]
    assert [(e.shard, e.message.seq, e.message.parts[0].rows.tolist()) for e in one] == [(0, 1, [2])]
    assert both[0].message[4:] == (False, 7, 7)
    assert pair.inc([], 1.0) == []


def test_clock_sends_the_tick_alone_and_ends_the_computation():
    pair = Pair()
    pair.fetch(0)
    pair.client.start(0)
    pair.inc([0], 1.0)
    unit, ended = pair.client.clock(0, 3, 9)
    assert ended == Ended(0)
    assert [(e.shard, type(e.message), e.message.seq, e.message.parts) for e in unit.each(2)] == [
        (0, Oplog, 1, ()),
        (1, Oplog, 1, ()),
    ]
    assert not any(isinstance(e, Ended) for e in pair.client.clock(0))  # there is none to end


def test_own_updates_are_in_the_view_once_wherever_they_are():
    pair = Pair()
    pair.fetch(0, 1)
    pair.client.start(0)
    even, _ = pair.inc([0, 1], 10.0)
    assert pair.client.get(0, np.array([0, 1], np.int32)) == [Ended(0), Knock(0)]
    _, push = pair.shards[0].receive(0, even.message)
    pair.client.receive(0, push.message)
    (read,) = pair.client.start(0)
    assert read.views[0].tolist() == [[10.0], [11.0]]
    assert (read.own_from.tolist(), read.own_upto) == ([1, 0], 2)


def test_units_of_other_shards_are_skipped_in_the_count():
    pair = Pair()
    pair.fetch(0, 1)
    pair.client.start(0)
    pair.inc([0], 1.0)
    (sent,) = pair.inc([1], 1.0)
    applied, push = pair.shards[1].receive(0, sent.message)
    assert (applied.oplog.seq, applied.apply_index) == (1, 0)
    assert push.message.applied == (2, 0)  # the newest unit that is in, plus 1


def test_nothing_is_pushed_to_who_has_none_of_the_rows():
    pair = Pair()
    pair.fetch(0)
    pair.client.start(0)
    (sent,) = pair.inc([2], 1.0)  # a row of the same shard that was never read
    assert [type(e).__name__ for e in pair.shards[0].receive(0, sent.message)] == ["Applied"]


def test_what_is_refused():
    pair = Pair()
    with pytest.raises(Misuse, match=r"an INC of worker 0 at clock 0 without a GET"):
        pair.inc([0], 1.0)
    pair.fetch(0)
    with pytest.raises(ProtocolViolation, match="it waits in a GET"):
        pair.client.get(0, np.array([0], np.int32))
    with pytest.raises(ProtocolViolation, match="it waits in a GET"):
        pair.client.clock(0)
    pair.client.start(0)
    with pytest.raises(Misuse, match=r"a second GET of worker 0 at clock 0: .* one ps.get"):
        pair.client.get(0, np.array([1], np.int32))
    with pytest.raises(NonFiniteUpdate):
        pair.inc([0], np.nan)
    pair.client.clock(0)
    with pytest.raises(Misuse, match="at clock 1 without a GET"):
        pair.inc([0], 1.0)
    with pytest.raises(Misuse, match="needs all 4 rows in the cache, not 3"):
        Pair(cache_rows=3)
    assert Pair(cache_rows=4).client.cache.capacity == 0


def test_a_shard_takes_units_in_order_only():
    pair = Pair()
    pair.fetch(0)
    pair.client.start(0)
    (first,), (second,) = pair.inc([0], 1.0), pair.inc([0], 1.0)
    pair.shards[0].receive(0, second.message)
    with pytest.raises(ProtocolViolation, match="2 is the lowest possible"):
        pair.shards[0].receive(0, first.message)
    with pytest.raises(ProtocolViolation, match="clock 0 is not over"):
        pair.shards[0].receive(0, second.message._replace(clock=1, seq=5))


def test_own_updates_are_forgotten_once_they_are_in_the_copies():
    """Those to rows that are not cached too: any copy that comes will have them."""
    pair = Pair()
    pair.fetch(0)
    log = pair.client.workers[0].log
    log._limit = -1
    pair.client.start(0)
    for rows in ([0], [2]):
        (sent,) = pair.inc(rows, 1.0)
        for effect in pair.shards[0].receive(0, sent.message)[1:]:
            pair.client.receive(0, effect.message)
    assert len(log.entries()) == 2
    pair.client.clock(0)
    assert log.entries() == []

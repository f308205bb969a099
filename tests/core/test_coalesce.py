"""Pushes without room, merged into one: rules 1 to 4 at the head of pskit/core/coalesce.py."""

import numpy as np
import pytest

from pskit.core.messages import Push, Reply
from tests.core.desk import Desk, sent


def subscribed(deltas=False, rows=(0, 1, 2), **more):
    """Two clients that subscribe to these rows."""
    desk = Desk("essp", deltas=deltas, **more)
    for client in range(2):
        desk.request(client, rows, need=0)
    return desk


def rise(desk, updates=None):
    """Both workers end a clock; worker 0 with ``updates``. What clients are sent."""
    return [*desk.oplog(0, updates), *desk.oplog(1)]


def pushes(effects, client):
    return [message for to, message in sent(effects, Push) if to == client]


@pytest.mark.parametrize("deltas", [False, True])
def test_what_is_put_off_comes_as_one_push_with_the_newest_rows(deltas):
    desk = subscribed(deltas)
    (first,) = pushes(rise(desk, {0: 10}), 1)
    desk.shard.put_off(1, first)
    for updates in ({1: 100}, {1: 200}, None):
        effects = rise(desk, updates)
        assert not pushes(effects, 1), "no push for a client that is behind"
        assert len(pushes(effects, 0)) == 1, "others get theirs"
    (push,) = pushes(desk.shard.catch_up(1), 1)
    assert desk.values(push) == {0: 10, 1: 301}
    assert (push.clock, push.version, push.applied, push.entries) == (4, 8, (4,), ())
    assert not desk.shard.owed
    assert desk.shard.catch_up(1) == [], "and that was all"


def test_rows_changed_since_the_last_rise_are_in_it():
    """A push confirms every subscribed row at its apply index."""
    desk = subscribed()
    desk.shard.put_off(1)
    rise(desk, {0: 10})
    desk.oplog(0, {2: 7})
    (push,) = pushes(desk.shard.catch_up(1), 1)
    assert (push.clock, push.version) == (1, 3)
    assert desk.values(push) == {0: 10, 2: 9}
    (regular,) = pushes(desk.oplog(1), 1)
    assert desk.values(regular) == {2: 9}, "the next rise is as ever"


def test_without_any_change_the_clock_still_comes():
    desk = subscribed()
    desk.shard.put_off(1)
    rise(desk)
    (push,) = pushes(desk.shard.catch_up(1), 1)
    assert (push.clock, len(push.rows)) == (1, 0)


def test_a_reply_is_not_held_up_and_the_push_after_it_is_newer():
    desk = subscribed()
    desk.shard.put_off(1)
    rise(desk, {0: 10})
    ((_, reply),) = sent(desk.request(1, [3], need=0), Reply)
    assert reply.clock == 1
    rise(desk, {3: 5})
    (push,) = pushes(desk.shard.catch_up(1), 1)
    assert push.version > reply.version
    assert desk.values(push) == {0: 10, 3: 8}


def test_rows_unsubscribed_meanwhile_are_owed_no_more():
    desk = subscribed()
    desk.shard.put_off(1)
    rise(desk, {0: 10, 1: 20})
    desk.unsubscribe(1, [0])
    (push,) = pushes(desk.shard.catch_up(1), 1)
    assert desk.values(push) == {1: 21}
    desk.shard.put_off(1)
    desk.unsubscribe(1, [1, 2])
    rise(desk, {1: 5})
    assert desk.shard.catch_up(1) == [], "who subscribes to nothing is owed nothing"


def test_versions_that_are_owed_are_not_written_any_more_once_they_are_sent():
    desk = subscribed()
    desk.shard.put_off(1)
    rise(desk, {0: 10})
    (push,) = pushes(desk.shard.catch_up(1), 1)
    desk.oplog(0, {0: 1000})
    assert desk.values(push) == {0: 10}


def test_under_deltas_an_entry_that_comes_back_is_pushed_to_who_has_it_otherwise():
    """The owed push has an entry as it was in between; at the next rise it is what it was at the last."""
    desk = subscribed(deltas=True)
    desk.shard.put_off(1)
    rise(desk, {0: 10})
    desk.oplog(0, {0: 5})
    (owed,) = pushes(desk.shard.catch_up(1), 1)
    assert desk.values(owed) == {0: 15}
    desk.oplog(0, {0: -5})
    effects = desk.oplog(1)  # clock 2: since clock 1 the row has not changed for who got that push
    (other,), (mine,) = pushes(effects, 0), pushes(effects, 1)
    assert [len(e.cols) for e in other.entries] == [0]
    assert desk.values(mine) == {0: 10}


def test_the_owed_rows_of_delta_pushes_count_entries_too():
    desk = subscribed(deltas=True)
    rise(desk, {0: 1})
    (push,) = pushes(rise(desk, {1: 3}), 1)
    assert [e.rows.tolist() for e in push.entries] == [[1]]
    desk.shard.put_off(1, push)
    (late,) = pushes(desk.shard.catch_up(1), 1)
    assert desk.values(late) == {1: 4}


def test_shards_owe_their_own_rows():
    desk = Desk("essp", n_rows=6, shards=3, shard=1)
    desk.request(1, [1, 4], need=0)
    desk.shard.put_off(1)
    rise(desk, {4: 10})
    (push,) = pushes(desk.shard.catch_up(1), 1)
    assert desk.values(push) == {4: 14}
    assert push.rows.dtype == np.int32

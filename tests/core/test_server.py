"""One shard, driven by hand: rules 1 to 7 at the head of pskit/core/server.py."""

import numpy as np
import pytest

from pskit.core.messages import Applied, Left, Lost, Oplog, ProtocolViolation, Push, Reply, ToClient
from tests.core.desk import Desk, sent


def test_a_request_that_is_due_is_answered_at_once():
    desk = Desk()
    ((client, reply),) = sent(desk.request(1, [0, 3], need=0, tag=9), Reply)
    assert (client, reply.clock, reply.version, reply.applied, reply.tag) == (1, 0, 0, (0,), 9)
    assert desk.values(reply) == {0: 0, 3: 3}


def test_an_oplog_is_applied_when_it_arrives_and_before_the_clock():
    desk = Desk()
    effects = desk.oplog(0, {1: 100})
    assert [type(e) for e in effects] == [Applied]
    assert (effects[0].shard, effects[0].apply_index) == (0, 0)
    ((_, reply),) = sent(desk.request(0, [1], need=0), Reply)
    assert desk.values(reply) == {1: 101}, "in-window updates are in"
    assert (reply.clock, reply.version, reply.applied) == (0, 1, (1,))
    desk.request(0, [1], need=1)
    effects = desk.oplog(1, {1: 1000})
    assert [type(e) for e in effects] == [Applied, ToClient]
    assert desk.values(effects[1].message) == {1: 1101}


def test_a_rise_answers_all_requests_that_are_due_in_order_of_arrival():
    desk = Desk(clients=3)
    for need, tag in [(2, 0), (1, 1), (3, 2), (2, 3), (1, 4)]:
        assert desk.request(0, [0], need, tag) == []
    for _ in range(3):
        desk.oplog(1), desk.oplog(2)
    assert desk.shard.clock.minimum == 0
    released = []
    for _ in range(3):
        released.append([m.tag for _, m in sent(desk.oplog(0), Reply)])
    assert released == [[1, 4], [0, 3], [2]]
    assert desk.shard.waiting == []


def test_a_jump_of_the_clock_answers_requests_in_between():
    """Only equal clocks matched is a known bug elsewhere."""
    desk = Desk(clients=2)
    for need in (1, 2, 3):
        desk.request(1, [0], need, tag=need)
    for _ in range(3):
        desk.oplog(1)
    tags = [m.tag for _, m in sent(desk.oplog(0, leaving=True), Reply)]
    assert tags == [1, 2, 3]
    assert desk.shard.clock.minimum == 3


def test_a_version_handed_out_never_changes():
    desk = Desk()
    ((_, reply),) = sent(desk.request(0, [1], need=0), Reply)
    desk.oplog(0, {1: 5})
    desk.oplog(1, {1: 7})
    assert desk.values(reply) == {1: 1}
    assert desk.final() == [0, 13, 2, 3]


def test_replies_say_which_of_the_receivers_workers_are_in():
    desk = Desk(clients=2, threads=2)
    desk.oplog(0), desk.oplog(0), desk.oplog(3)
    applied = [sent(desk.request(c, [0], need=0), Reply)[0][1].applied for c in (0, 1)]
    assert applied == [(2, 0), (0, 1)]


# -- pushes ------------------------------------------------------------------------------------------


def test_a_push_has_the_changed_rows_of_each_subscriber():
    desk = Desk("essp", clients=3)
    desk.request(0, [0, 1], need=0)
    desk.request(1, [1, 2], need=0)
    for worker in (0, 1):
        assert sent(desk.oplog(worker, {1: 10, 2: 100, 3: 1000}), Push) == []
    pushes = sent(desk.oplog(2), Push)
    assert [c for c, _ in pushes] == [0, 1], "client 2 has not subscribed"
    assert [desk.values(p) for _, p in pushes] == [{1: 21}, {1: 21, 2: 202}]
    assert [(p.clock, p.version, p.applied) for _, p in pushes] == [(1, 3, (1,)), (1, 3, (1,))]


def test_a_subscriber_with_no_changed_row_still_gets_the_clock():
    desk = Desk("essp")
    desk.request(0, [0], need=0)
    desk.oplog(0, {3: 1})
    ((client, push),) = sent(desk.oplog(1), Push)
    assert (client, push.clock, push.version, len(push.rows)) == (0, 1, 2, 0)


def test_rows_pushed_once_are_not_pushed_again():
    desk = Desk("essp")
    desk.request(0, [0, 1], need=0)
    desk.oplog(0, {0: 1}), desk.oplog(1)
    desk.oplog(0)
    ((_, push),) = sent(desk.oplog(1), Push)
    assert desk.values(push) == {}


def test_waiting_requests_are_answered_before_the_pushes_and_not_pushed_again():
    desk = Desk("essp")
    desk.request(0, [0], need=0)
    desk.request(0, [1], need=1)
    desk.oplog(0, {0: 10, 1: 10})
    effects = desk.oplog(1, {1: 100})
    assert [type(e) for e in effects] == [Applied, ToClient, ToClient]
    reply, push = (e.message for e in effects[1:])
    assert desk.values(reply) == {1: 111}
    assert desk.values(push) == {0: 10}, "row 1 went in the reply"
    assert push.clock == reply.clock == 1


def test_a_subscription_begins_at_the_reply():
    desk = Desk("essp")
    desk.request(0, [0], need=2)
    desk.oplog(0, {0: 1})
    assert sent(desk.oplog(1), Push) == [], "asked for, but no copy is there yet"
    desk.oplog(0)
    effects = desk.oplog(1)
    assert len(sent(effects, Reply)) == 1
    assert desk.shard.subscriptions == [1, 0]


def test_unsubscribing():
    desk = Desk("essp")
    desk.request(0, [0, 1], need=0)
    desk.unsubscribe(0, [0])
    assert desk.shard.subscriptions == [1, 0]
    desk.oplog(0, {0: 1, 1: 1})
    ((_, push),) = sent(desk.oplog(1), Push)
    assert desk.values(push) == {1: 2}
    desk.unsubscribe(0, [0, 1])
    assert desk.shard.subscriptions == [0, 0]
    desk.oplog(0, {1: 1})
    assert sent(desk.oplog(1), Push) == []


def test_asking_twice_is_one_subscription():
    desk = Desk("essp")
    desk.request(0, [0, 1], need=0)
    desk.request(0, [1, 2], need=0)
    assert desk.shard.subscriptions == [3, 0]


@pytest.mark.parametrize("policy", ["ssp", "bsp", "asp"])
def test_other_policies_push_nothing(policy):
    desk = Desk(policy)
    desk.request(0, [0], need=0)
    desk.oplog(0, {0: 1})
    assert sent(desk.oplog(1), Push) == []


# -- BSP ---------------------------------------------------------------------------------------------


def test_bsp_applies_a_clock_in_worker_order_once_all_have_arrived():
    desk = Desk("bsp", clients=3)
    desk.oplog(2, {0: 1}), desk.oplog(2, {0: 1})
    assert desk.oplog(0, {0: 10}) == []
    ((_, reply),) = sent(desk.request(0, [0], need=0), Reply)
    assert (desk.values(reply), reply.version, reply.applied) == ({0: 0}, 0, (0,)), "received, not applied"
    desk.request(0, [0], need=1)
    effects = desk.oplog(1, {0: 100})
    assert [e.oplog.worker for e in effects if isinstance(e, Applied)] == [0, 1, 2]
    ((_, reply),) = sent(effects, Reply)
    assert (desk.values(reply), reply.version, reply.applied) == ({0: 111}, 3, (1,)), "clock 1 is held back"
    assert list(desk.shard.held) == [1]


def test_bsp_applies_what_is_left_when_the_last_worker_leaves():
    desk = Desk("bsp", clients=3)
    desk.oplog(1, {0: 1}), desk.oplog(1, {0: 10}), desk.oplog(1, {0: 100}, leaving=True)
    desk.oplog(2, {0: 1000}), desk.oplog(2, {0: 10_000}, leaving=True)
    effects = desk.oplog(0, {0: 100_000}, leaving=True)
    order = [(e.oplog.clock, e.oplog.worker) for e in effects if isinstance(e, Applied)]
    assert order == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 1)]
    assert desk.final()[0] == 111_111
    assert desk.shard.clock.minimum == 3
    assert desk.shard.held == {}


# -- leaving -----------------------------------------------------------------------------------------


def test_a_leaving_oplog_counts_as_a_clock_and_then_the_worker_is_taken_out():
    desk = Desk("essp", clients=2)
    desk.request(1, [0], need=0)
    desk.request(1, [1], need=1)
    desk.request(1, [2], need=2)
    desk.oplog(1), desk.oplog(1)
    effects = desk.oplog(0, {0: 5}, leaving=True)
    kinds = [type(e.message) if isinstance(e, ToClient) else type(e) for e in effects]
    assert kinds == [Applied, Reply, Push, Left, Reply, Push]
    messages = [e.message for e in effects if isinstance(e, ToClient)]
    assert [m.clock for m in messages] == [1, 1, 2, 2]
    assert [desk.values(m) for m in messages] == [{1: 1}, {0: 5}, {2: 2}, {}]
    left = effects[3]
    assert (left.worker, left.shard, left.clock, left.apply_index) == (0, 0, 2, 3)


def test_with_no_members_left_the_clock_stays():
    desk = Desk(clients=2)
    desk.oplog(0), desk.oplog(0, leaving=True)
    desk.oplog(1, leaving=True)
    assert desk.shard.clock.minimum == 1, "worker 1 left with 1 clock, and nobody waits for more"
    assert len(desk.shard.clock) == 0


# -- shards ------------------------------------------------------------------------------------------


def test_a_shard_keeps_every_nth_row():
    desk = Desk(n_rows=5, shards=2, shard=1)
    ((_, reply),) = sent(desk.request(0, [1, 3], need=0), Reply)
    assert desk.values(reply) == {1: 1, 3: 3}
    desk.oplog(0, {3: 10})
    assert desk.final() == [0, 1, 0, 13, 0]


@pytest.mark.parametrize("policy", ["ssp", "essp", "bsp", "asp"])
def test_a_shard_without_rows_counts_clocks(policy):
    desk = Desk(policy, n_rows=1, shards=3, shard=2)
    assert len(desk.shard.rows) == 0
    desk.oplog(0), desk.oplog(1), desk.oplog(0, leaving=True)
    assert (desk.shard.clock.minimum, desk.shard.apply_index) == (1, 2 if policy == "bsp" else 3)
    desk.oplog(1, leaving=True)
    assert desk.shard.apply_index == 4


def test_alive_names_the_newest_versions_and_those_pushed():
    desk = Desk("essp", deltas=True)
    desk.oplog(0, {1: 1})
    (rows, current), (_, pushed) = desk.shard.alive()
    assert rows.tolist() == [0, 1, 2, 3]
    assert (current != pushed).tolist() == [False, True, False, False]


# -- who broke a rule --------------------------------------------------------------------------------


def test_violations_name_who_and_what():
    desk = Desk()
    with pytest.raises(
        ProtocolViolation, match=r"client 0 sent shard 0 the oplog of worker 0, clock 1, but clock 0"
    ):
        desk.shard.receive(0, Oplog(0, 1, 1, (), False, 0, 0))
    with pytest.raises(ProtocolViolation, match=r"of worker 7, clock 0, but that worker is no member"):
        desk.shard.receive(1, Oplog(7, 0, 0, (), False, 0, 0))
    desk.oplog(1, leaving=True)
    with pytest.raises(ProtocolViolation, match="no member"):
        desk.oplog(1)
    with pytest.raises(ProtocolViolation, match=r"client 1 sent shard 0 a Push: only shards send that"):
        desk.shard.receive(1, Push(np.empty(0, np.int32), np.empty(0, np.int32), (), 0, 0, ()))


# -- clients that die ---------------------------------------------------------------------------------


def test_a_client_that_dies_is_taken_out_and_those_who_waited_for_it_are_answered():
    desk = Desk(clients=3)
    desk.oplog(0, {0: 10})
    desk.oplog(2)
    assert desk.request(0, [0], need=1) == []
    assert desk.request(1, [0], need=5) == []
    effects = desk.shard.lose(1)
    assert effects[0] == Lost(1, 0, 1, 2)
    ((client, reply),) = sent(effects, Reply)
    assert (client, reply.clock, desk.values(reply)) == (0, 1, {0: 10})
    assert not desk.shard.waiting, "what the dead asked for is forgotten"
    with pytest.raises(ProtocolViolation, match="that worker is no member"):
        desk.oplog(1)


def test_all_workers_of_a_client_go_at_once():
    """One by one they would raise the clock in between."""
    desk = Desk("essp", clients=2, threads=2)
    desk.request(1, [0], need=0)
    desk.oplog(0)
    for worker in (2, 3):
        for _ in range(3):
            desk.oplog(worker, {0: 1})
    effects = desk.shard.lose(0)
    assert [e.worker for e in effects if isinstance(e, Lost)] == [0, 1]
    ((client, push),) = sent(effects, Push)
    assert (client, push.clock) == (1, 3)


def test_under_bsp_what_the_dead_had_sent_counts_at_its_clock():
    desk = Desk("bsp", clients=2)
    desk.oplog(0, {0: 1})
    desk.oplog(0, {0: 10})
    effects = desk.shard.lose(0)
    assert not [e for e in effects if isinstance(e, Applied)], "nobody has finished clock 0 yet"
    applied = [e for e in desk.oplog(1, {0: 100}) if isinstance(e, Applied)]
    assert [(e.oplog.worker, e.oplog.clock) for e in applied] == [(0, 0), (1, 0)]
    applied = [e for e in desk.oplog(1, {0: 1000}, leaving=True) if isinstance(e, Applied)]
    assert [(e.oplog.worker, e.oplog.clock) for e in applied] == [(0, 1), (1, 1)]
    assert desk.final()[0] == 1111


def test_under_bsp_the_last_death_takes_in_what_was_held_back():
    desk = Desk("bsp", clients=2)
    desk.oplog(0, {0: 1})
    desk.oplog(1, {0: 10}, leaving=True)
    desk.oplog(0, {0: 100})
    effects = desk.shard.lose(0)
    assert desk.final()[0] == 111
    assert len(desk.shard.clock) == 0
    assert not desk.shard.held
    assert [type(e) for e in effects if isinstance(e, Lost)] == [Lost]


def test_who_has_left_is_lost_without_a_trace():
    desk = Desk("essp", clients=2)
    desk.oplog(1, leaving=True)
    assert desk.shard.lose(1) == []


def test_a_client_that_died_is_sent_nothing_any_more():
    desk = Desk("essp", clients=3)
    for client in range(3):
        desk.request(client, [0], need=0)
    desk.shard.put_off(2)
    desk.shard.lose(2)
    assert not desk.shard.owed
    desk.oplog(0, {0: 1})
    assert [client for client, _ in sent(desk.oplog(1), Push)] == [0, 1]

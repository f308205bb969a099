"""One client, driven by hand or in a small cluster: rules 1 to 6 at the head of pskit/core/client.py."""

import numpy as np
import pytest

from pskit.core import invariants
from pskit.core.client import NonFiniteUpdate
from pskit.core.messages import Oplog, ProtocolViolation, Push, Reply, Request, Unsubscribe
from pskit.core.oplog import SHORT
from tests.property.cluster import Cluster
from tests.property.machines import POLICIES

UP, DOWN = ("up", 0, 0), ("down", 0, 0)


def kinds(cluster, link):
    return [type(m) for m in cluster.links[link]]


def fetch(cluster, worker, rows):
    """GET, and everything arrives until it is there."""
    cluster.get(worker, rows)
    cluster.run_links()
    assert worker not in cluster.waiting
    return cluster.done[worker]


def tick(cluster, *workers):
    for worker in workers:
        cluster.clock(worker)
    cluster.run_links()


# -- what may be returned ----------------------------------------------------------------------------


@pytest.mark.parametrize("slack", [0, 1, 2, 3])
@pytest.mark.parametrize("policy", ["ssp", "essp"])
def test_a_copy_may_be_returned_iff_its_clock_is_at_least_c_minus_s(policy, slack):
    cluster = Cluster(policy, slack, clients=2)
    fetch(cluster, 0, [0])
    for clock in range(1, slack + 3):
        cluster.clock(0)  # worker 1 makes no clock: the row stays at clock 0
        read = cluster.get(0, [0])
        if clock - 0 <= slack:
            assert read is not None, "k >= c - s, and not the paper's stricter k > c - s"
            assert (read.age.tolist(), read.hit.tolist()) == ([clock], [True])
        else:
            assert read is None
            break
    assert clock == slack + 1


def test_a_hit_sends_nothing():
    cluster = Cluster(slack=1)
    fetch(cluster, 0, [0, 1])
    assert cluster.get(0, [0, 1]).hit.all()
    assert cluster.busy == []


def test_only_missing_rows_are_asked_for_one_request_per_shard():
    cluster = Cluster(shards=2, n_rows=6)
    fetch(cluster, 0, [1, 2])
    cluster.get(0, range(6))
    asked = {link: [(type(m), m.rows.tolist()) for m in cluster.links[link]] for link in cluster.busy}
    assert asked == {("up", 0, 0): [(Request, [0, 4])], ("up", 0, 1): [(Request, [3, 5])]}
    cluster.run_links()
    assert cluster.done[0].hit.tolist() == [False, True, True, False, False, False]


def test_a_get_of_nothing_is_done():
    read = Cluster().get(0, [])
    assert (len(read.rows), read.views) == (0, ())


def test_views_are_copies():
    cluster = Cluster(slack=9)
    view = fetch(cluster, 0, [0]).views[0]
    view[:] = 99
    assert cluster.get(0, [0]).views[0].tolist() == [[0, 0]]
    cluster.run_out()


def test_every_policy_reads_its_own_writes_at_once():
    for name, policy in POLICIES.items():
        cluster = Cluster(**policy, threads=2)
        fetch(cluster, 0, [0])
        cluster.inc(0, [0])
        cluster.inc(0, [0])
        assert cluster.get(0, [0]).views[0].tolist() == [[2, 0, 0, 0]], name
        other = fetch(cluster, 1, [0])
        assert other.views[0].tolist() == [[0, 0, 0, 0]], "workers see each other through the server only"
        cluster.clock(0)
        assert fetch_with_others(cluster, 0, [0]).views[0][0, 0] == 2, name


def fetch_with_others(cluster, worker, rows):
    """GET while the others finish their clocks, too."""
    cluster.get(worker, rows)
    for other in cluster.idle:
        if cluster.clock_of(other) < cluster.clock_of(worker):
            cluster.clock(other)
    cluster.run_links()
    return cluster.done[worker]


def test_own_updates_are_in_once_when_a_push_brings_them_back():
    cluster = Cluster("essp", slack=1, clients=2)
    fetch(cluster, 0, [0])
    for _ in range(3):
        cluster.inc(0, [0])
        cluster.clock(0)
        before = cluster.get(0, [0])
        cluster.clock(1)
        cluster.run_up()
        cluster.deliver(DOWN)
        after = cluster.get(0, [0])
        assert before.views[0].tolist() == after.views[0].tolist()
        assert (before.own_from[0] + 1, before.own_upto) == (after.own_from[0], after.own_upto)


# -- how a row is got --------------------------------------------------------------------------------


def test_an_outstanding_request_is_shared_if_its_need_is_equal():
    cluster = Cluster(clients=2, threads=3)
    for worker in (0, 1):
        cluster.clock(worker)
        cluster.get(worker, [0])
    assert kinds(cluster, UP) == [Oplog, Request, Oplog], "the second shares the first's request"
    cluster.get(2, [0])
    assert [m.need for m in cluster.links[UP] if isinstance(m, Request)] == [1, 0], "a lower need is its own"
    for worker in (2, 3, 4, 5):
        if worker != 2:
            cluster.clock(worker)
    cluster.run_links()
    assert 2 not in cluster.waiting, "sharing with a higher need deadlocks: it may wait for this very worker"
    cluster.clock(2)
    cluster.run_links()
    assert cluster.waiting == set()


def test_a_request_with_a_lower_need_is_not_shared():
    cluster = Cluster(clients=2, threads=2)
    cluster.get(0, [0])
    cluster.clock(1)
    cluster.get(1, [0])
    assert [m.need for m in cluster.links[UP] if isinstance(m, Request)] == [0, 1]


def test_a_subscribed_copy_that_is_too_old_waits_for_the_push():
    cluster = Cluster("essp")
    fetch(cluster, 0, [0])
    cluster.clock(0)
    cluster.get(0, [0, 1])
    assert [m.rows.tolist() for m in cluster.links[UP] if isinstance(m, Request)] == [[1]]
    tick(cluster, 1)
    assert cluster.done[0].clock == 1


def test_under_ssp_it_is_asked_for_again():
    cluster = Cluster("ssp")
    fetch(cluster, 0, [0])
    cluster.clock(0)
    cluster.get(0, [0])
    assert kinds(cluster, UP) == [Oplog, Request]


def test_one_reply_wakes_every_waiter_it_satisfies():
    cluster = Cluster(threads=3, clients=1)
    for worker in range(3):
        cluster.get(worker, [0])
    assert kinds(cluster, UP) == [Request]
    cluster.run_links()
    assert cluster.waiting == set()


def test_a_reply_nobody_waits_for_any_more_is_installed():
    cluster = Cluster(slack=1, clients=1, threads=2, n_rows=1)
    cluster.clock(1)
    cluster.clock(1)
    cluster.get(1, [0])  # need 1
    cluster.get(0, [0])  # need -1: its own request
    cluster.run_up()
    reply_low, *_ = cluster.links[DOWN]
    assert reply_low.clock == 0
    cluster.deliver(DOWN)
    cluster.clock(0)
    cluster.run_links()
    assert cluster.waiting == set()
    assert cluster.clients[0].outstanding == {}
    assert cluster.clients[0].cache.row_clock[0] == 1


def test_asp_fetches_once_per_clock():
    cluster = Cluster("asp")
    fetch(cluster, 0, [0])
    assert cluster.get(0, [0]).hit.all(), "the clock's first GET has fetched it"
    cluster.clock(0)
    assert cluster.get(0, [0]) is None
    cluster.run_links()
    assert cluster.done[0].age.tolist() == [1], "and waits for nobody"


def test_under_asp_another_workers_fetch_serves_only_who_waits_for_it():
    cluster = Cluster("asp", clients=1, threads=3, shards=2)
    cluster.get(0, [0])
    cluster.get(1, [0, 1])
    requests = [m.rows.tolist() for link in cluster.busy for m in cluster.links[link]]
    assert requests == [[0], [1]], "row 0 is under way already"
    cluster.run_up()
    cluster.deliver(("down", 0, 1)), cluster.deliver(DOWN)
    assert not cluster.done[1].hit.any()
    assert cluster.get(1, [0]).hit.all()
    assert cluster.get(0, [1]) is None, "it asks for it itself, although worker 1 has it"
    assert cluster.get(2, [0]) is None, "its first GET of the row in this clock fetches it"


# -- eviction ----------------------------------------------------------------------------------------


def test_eviction_unsubscribes():
    cluster = Cluster("essp")
    fetch(cluster, 0, [0, 1])
    cluster.evict(0, [0])
    assert [(type(m), m.rows.tolist()) for m in cluster.links[UP]] == [(Unsubscribe, [0])]
    cluster.run_links()
    assert cluster.shards[0].subscribed[0].tolist() == [False, True]


@pytest.mark.parametrize("policy", ["ssp", "bsp", "asp"])
def test_without_subscriptions_eviction_is_silent(policy):
    cluster = Cluster(policy)
    fetch(cluster, 0, [0])
    cluster.evict(0, [0, 1])
    assert cluster.busy == []
    assert cluster.get(0, [0]) is None


@pytest.mark.parametrize("deltas", [False, True])
def test_a_row_with_a_request_under_way_stays_subscribed(deltas):
    """Else the unsubscribe overtakes the reply, and the copy goes stale in silence."""
    cluster = Cluster("essp", deltas=deltas, clients=2, threads=2, n_rows=1)
    cluster.clock(1)
    cluster.get(1, [0])  # need 1, waits at the shard
    cluster.get(0, [0])  # need 0, answered
    cluster.run_up()
    cluster.deliver(DOWN)
    cluster.evict(0, [0])
    assert kinds(cluster, UP) == []
    for worker in (0, 2, 3):
        cluster.clock(worker)
    cluster.run_links()
    assert cluster.done[1].clock == 1
    invariants.subscriptions_match(cluster.clients[0], cluster.shards[0])
    assert cluster.shards[0].subscribed[0].all()


def test_a_worker_whose_push_was_evicted_asks_after_the_unsubscribe():
    cluster = Cluster("essp", clients=2)
    fetch(cluster, 0, [0])
    cluster.clock(0)
    cluster.get(0, [0])
    cluster.evict(0, [0])
    assert kinds(cluster, UP) == [Oplog, Unsubscribe, Request]
    tick(cluster, 1)
    assert cluster.done[0].clock == 1
    cluster.run_out()


def test_pushes_for_evicted_rows_are_dropped():
    cluster = Cluster("essp", clients=2)
    fetch(cluster, 0, [0, 1])
    cluster.inc(1, [0])
    cluster.clock(0), cluster.clock(1)
    cluster.run_up()
    assert kinds(cluster, DOWN) == [Push]
    cluster.evict(0, [0])
    cluster.deliver(DOWN)
    assert cluster.clients[0].cache.dropped == 1
    cluster.run_out()


@pytest.mark.parametrize("name", POLICIES)
def test_capacity_one_serves_a_get_of_many_rows(name):
    cluster = Cluster(**POLICIES[name], clients=2, threads=2, shards=2, n_rows=5, cache_rows=1)
    for clock in range(4):
        for worker in range(4):
            cluster.get(worker, range(5))
        cluster.run_links()
        assert cluster.waiting == set()
        assert all(client.cache.count <= 1 for client in cluster.clients)
        for worker in range(4):
            assert cluster.done[worker].clock == clock
            cluster.inc(worker, [worker])
            cluster.clock(worker)
    cluster.run_out()


def test_rows_served_to_a_waiting_get_survive_their_eviction():
    cluster = Cluster(clients=1, shards=2, n_rows=2, cache_rows=1)
    cluster.get(0, [0, 1])
    cluster.deliver(("up", 0, 0)), cluster.deliver(("down", 0, 0))
    cluster.evict(0, [0])
    cluster.collect()
    cluster.run_links()
    assert cluster.done[0].views[0].tolist() == [[0], [0]]


# -- clock(), INC and leave() ------------------------------------------------------------------------


def test_clock_sends_an_oplog_to_every_shard():
    cluster = Cluster(clients=1, shards=3, n_rows=4)
    cluster.inc(0, [0, 3])
    cluster.clock(0)
    oplogs = {j: cluster.links["up", 0, j][0] for j in range(3)}
    assert {j: [p.rows.tolist() for p in o.parts] for j, o in oplogs.items()} == {0: [[0, 3]], 1: [], 2: []}
    assert {(o.worker, o.clock, o.seq, o.leaving) for o in oplogs.values()} == {(0, 0, 0, False)}


def test_times_are_carried_along():
    cluster = Cluster(clients=1)
    client = cluster.clients[0]
    (effect,) = client.clock(0, t_inc=5, now=9)
    assert (effect.tick.t_inc, effect.tick.t_sent) == (5, 9)
    (effect,) = client.leave(0, t_inc=10, now=11)
    assert (effect.tick.t_inc, effect.tick.t_sent, effect.tick.clock) == (10, 11, 1)


def test_leaving_takes_the_last_updates_along():
    cluster = Cluster(clients=2)
    cluster.inc(0, [1])
    cluster.leave(0)
    (oplog,) = cluster.links[UP]
    assert (oplog.leaving, oplog.clock, oplog.parts[0].rows.tolist()) == (True, 0, [1])
    cluster.run_out()
    assert cluster.final()["n"].tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize("name", POLICIES)
def test_workers_that_leave_at_once_hold_nobody_up(name):
    cluster = Cluster(**POLICIES[name], clients=2, threads=2)
    for worker in (0, 2, 3):
        cluster.leave(worker)
    for clock in range(5):
        fetch(cluster, 1, [0, 1])
        cluster.inc(1, [clock % 2])
        cluster.clock(1)
    cluster.run_out()


def float_client():
    cluster = Cluster(clients=1, n_rows=2, x_rows=3)
    return cluster.clients[0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_non_finite_inc_is_refused_and_says_where(bad):
    client = float_client()
    client.clock(0)
    delta = np.array([[1, 2], [3, bad]], np.float32)
    with pytest.raises(
        NonFiniteUpdate, match=r"worker 0 at clock 1: INC of a non-finite value to row 2 of table 'x'"
    ) as e:
        client.inc(0, 1, np.array([3, 4], np.int32), delta)
    assert (e.value.worker, e.value.clock, e.value.table, e.value.row) == (0, 1, "x", 2)
    assert client.workers[0].log.entries() == [], "nothing is added"


def test_calls_at_the_wrong_time():
    cluster = Cluster(clients=1)
    client = cluster.clients[0]
    rows = np.zeros(1, np.int32)
    with pytest.raises(
        ProtocolViolation, match="GET by worker 5 at client 0: the worker is not on this client"
    ):
        client.get(5, rows)
    client.get(0, rows)
    for call in (lambda: client.get(0, rows), lambda: client.clock(0), lambda: client.leave(0)):
        with pytest.raises(ProtocolViolation, match="waits in a GET"):
            call()
    with pytest.raises(ProtocolViolation, match="INC by worker 0 at client 0: the worker waits in a GET"):
        client.inc(0, 0, rows, np.ones((1, 1), np.int64))
    other = Cluster(clients=1).clients[0]
    other.leave(0)
    with pytest.raises(ProtocolViolation, match="CLOCK by worker 0 at client 0: the worker has left"):
        other.clock(0)
    with pytest.raises(
        ProtocolViolation, match=r"shard 3 sent client 0 a Unsubscribe: only clients send that"
    ):
        other.receive(3, Unsubscribe(rows))


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("reads", [True, False])
def test_the_log_of_own_updates_stays_short(name, reads, monkeypatch):
    """Whether or not the worker ever reads what it updates."""
    monkeypatch.setattr("tests.property.cluster.Cluster.inc", small_inc)
    cluster = Cluster(**POLICIES[name], clients=2, n_rows=40)
    log = cluster.clients[0].workers[0].log
    longest = 0
    for _ in range(60):
        for worker in (0, 1):
            if reads:
                fetch(cluster, worker, range(0, 40, 2))
            cluster.inc(worker, range(40))
        tick(cluster, 0, 1)
        longest = max(longest, len(log.entries()))
    assert longest <= SHORT, "of 2400"


def small_inc(cluster, worker, rows):
    rows = np.array(rows, np.int32)
    delta = np.ones((len(rows), cluster.workers), np.int64)
    cluster.ledger.inc(worker, rows, delta)
    cluster.client_of(worker).inc(worker, 0, rows, delta)


def test_alive_names_copies_and_what_waiting_gets_hold():
    cluster = Cluster(clients=1, shards=2, n_rows=2)
    cluster.get(0, [0, 1])
    cluster.deliver(("up", 0, 0)), cluster.deliver(("down", 0, 0))
    assert [rows.tolist() for rows, _ in cluster.clients[0].alive()] == [[0], [0]]
    cluster.run_links()
    assert [rows.tolist() for rows, _ in cluster.clients[0].alive()] == [[0, 1]]


def test_requests_and_replies_are_matched_by_tag():
    cluster = Cluster(clients=1, threads=2)
    cluster.get(0, [0])
    cluster.get(1, [1])
    tags = [m.tag for m in cluster.links[UP]]
    assert len(set(tags)) == 2
    cluster.run_up()
    assert [m.tag for m in cluster.links[DOWN] if isinstance(m, Reply)] == tags
    assert set(cluster.clients[0].outstanding) == set(tags)
    cluster.run_links()
    assert cluster.clients[0].outstanding == {}

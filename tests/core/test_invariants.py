"""That the invariants notice what they are there for."""

import numpy as np
import pytest

from pskit.core import invariants
from pskit.core.ledger import InvariantBroken, Ledger
from pskit.core.messages import Applied, Left, Oplog, Part
from tests.property.cluster import Cluster


@pytest.fixture
def cluster():
    """Two workers at clock 2, of which worker 0 has just read both rows with its own open update."""
    cluster = Cluster("essp", slack=1, x_rows=1)
    for _ in range(2):
        for worker in (0, 1):
            cluster.get(worker, [0, 2])
            cluster.run_links()
            cluster.inc(worker, [0, 2])
            cluster.clock(worker)
        cluster.run_links()
    cluster.inc(0, [0])
    cluster.get(0, [0, 2])
    cluster.run_links()
    return cluster


def changed(read, **fields):
    return read._replace(**{k: np.array(v, getattr(read, k).dtype) for k, v in fields.items()})


def test_a_correct_run_is_accepted(cluster):
    cluster.check()
    read = cluster.done[0]
    assert read.version.tolist() == [4, 4]
    assert read.age.tolist() == [0, 0]
    assert cluster.watch.reads == 10
    cluster.run_out()


def test_a_view_decodes_into_its_updates(cluster):
    """Digits of table "n", in base 8: how often each (worker, clock) is in."""
    view = cluster.done[0].views[0][0]
    assert [oct(v) for v in view] == ["0o111", "0o11"]


def test_ssp_guarantee(cluster):
    read = changed(cluster.done[0], version=[3, 3])
    invariants.ssp_guarantee(cluster.ledger, read, slack=1)
    with pytest.raises(
        InvariantBroken, match=r"SSP guarantee: worker 0 at clock 2 .*1 of the 2 units of worker 1"
    ):
        invariants.ssp_guarantee(cluster.ledger, read, slack=0)
    cluster.ledger.left.add(1)
    cluster.ledger.units[1].pop()  # as if worker 1 had left with one unit
    invariants.ssp_guarantee(cluster.ledger, read, slack=0)


def test_true_row_clock(cluster):
    with pytest.raises(InvariantBroken, match="true row clock"):
        invariants.true_row_clock(cluster.ledger, changed(cluster.done[0], version=[3, 3]))
    with pytest.raises(InvariantBroken, match="true row clock"):
        invariants.true_row_clock(cluster.ledger, changed(cluster.done[0], age=[-1, 0]))
    invariants.true_row_clock(cluster.ledger, changed(cluster.done[0], version=[3, 3], age=[1, 1]))


@pytest.mark.parametrize("own_from", [1, 3])
def test_own_updates_once(cluster, own_from):
    with pytest.raises(InvariantBroken, match=f"copy has 2 own units, but own_from is {own_from}"):
        invariants.own_updates_once(cluster.ledger, changed(cluster.done[0], own_from=[2, own_from]))
    with pytest.raises(InvariantBroken, match="own_upto 2, not 3"):
        invariants.own_updates_once(cluster.ledger, cluster.done[0]._replace(own_upto=2))


@pytest.mark.parametrize("column", [0, 1])
def test_exact_view(cluster, column):
    read = cluster.done[0]
    read.views[0][0, column] += 8
    with pytest.raises(InvariantBroken, match="exact view"):
        invariants.exact_view(cluster.ledger, read)
    with pytest.raises(InvariantBroken, match="1 rows for 2"):
        invariants.exact_view(cluster.ledger, read._replace(views=read.views[:1]))


def test_bsp_view_and_equal_row_clocks(cluster):
    read = cluster.done[0]
    invariants.bsp_view(cluster.ledger, read)
    cluster.inc(1, [0])
    cluster.clock(1)
    cluster.run_links()
    with pytest.raises(InvariantBroken, match=r"with updates of clock 2 of workers \[1\]"):
        invariants.bsp_view(cluster.ledger, changed(read, version=[5, 4]))
    invariants.equal_row_clocks(read)
    with pytest.raises(InvariantBroken, match="ages"):
        invariants.equal_row_clocks(changed(read, age=[0, 1]))


def applied(seq=0, worker=0, index=0, value=5, clock=None, rows=(0,)):
    part = Part(0, np.array(rows, np.int32), np.full((len(rows), 1), value, np.int64))
    oplog = Oplog(worker, seq if clock is None else clock, seq, (part,), False, 0, 0)
    return Applied(0, oplog, index)


@pytest.mark.parametrize(
    ("effect", "message"),
    [
        (applied(index=1), "apply index: .* as number 1 after 0"),
        (applied(seq=1), "exactly once, in order: .*unit 1 of worker 0"),
        (applied(clock=1), "exactly once, in order"),
        (applied(worker=1), "leave at clock.*which is open"),
        (applied(value=6), "leave exactly once"),
        (applied(rows=(0, 1)), "leave exactly once"),
        (applied(rows=()), "leave exactly once"),
    ],
)
def test_exactly_once_in_order(effect, message):
    layout = Cluster(clients=1).layout
    ledger = Ledger(layout, {"n": np.zeros((2, 1), np.int64)}, [0, 1])
    ledger.inc(0, np.zeros(1, np.int32), np.full((1, 1), 5))
    ledger.close(0)
    ledger.close(0)
    invariants.exactly_once_in_order(ledger, applied())
    with pytest.raises(InvariantBroken, match=message):
        invariants.exactly_once_in_order(ledger, effect)
    ledger.apply(applied())
    with pytest.raises(InvariantBroken, match="exactly once, in order"):
        invariants.exactly_once_in_order(ledger, applied(index=1))


def test_exact_copies(cluster):
    client = cluster.clients[0]
    client.cache.row_applied[0, 0] = 9
    with pytest.raises(InvariantBroken, match="9 units of worker 0, not 2"):
        invariants.exact_copies(cluster.ledger, client)
    client.cache.push_clock[0] = 3
    with pytest.raises(InvariantBroken, match="true row clock"):
        invariants.exact_copies(cluster.ledger, client)
    cluster.pools.pools[0].values[client.cache.slot[0], 0] += 1
    with pytest.raises(InvariantBroken, match="exact copies"):
        invariants.exact_copies(cluster.ledger, client)


@pytest.mark.parametrize("what", ["subscribed", "count", "cached"])
def test_subscriptions_match(cluster, what):
    client, shard = cluster.clients[0], cluster.shards[0]
    invariants.subscriptions_match(client, shard)
    if what == "subscribed":
        shard.subscribed[0, 0] = False
    elif what == "count":
        shard.subscriptions[0] += 1
    else:
        client.cache.row_clock[2] = -1
    with pytest.raises(InvariantBroken, match="subscriptions match"):
        invariants.subscriptions_match(client, shard)


def test_cache_is_bounded():
    cluster = Cluster(clients=1, cache_rows=1)
    client = cluster.clients[0]
    invariants.cache_is_bounded(client)
    client.cache.count = 1
    with pytest.raises(InvariantBroken, match="has 0 rows, counts 1, may keep 1"):
        invariants.cache_is_bounded(client)
    client.cache.row_clock[:] = 0
    client.cache.count = 2
    with pytest.raises(InvariantBroken, match="has 2 rows, counts 2, may keep 1"):
        invariants.cache_is_bounded(client)


def test_bsp_order():
    ledger = Ledger(Cluster(clients=1).layout, {"n": np.zeros((2, 1), np.int64)}, [0, 1])
    for worker, seq in [(0, 0), (1, 0)]:
        effect = applied(worker=worker, seq=seq)
        invariants.bsp_order(ledger, effect)
        ledger.order[0].append(worker)
    invariants.bsp_order(ledger, applied(worker=0, seq=1))
    ledger.order[0][:] = [1]
    with pytest.raises(InvariantBroken, match=r"\(clock, worker\) \(0, 0\) after \(0, 1\)"):
        invariants.bsp_order(ledger, applied(worker=0, seq=0))


def test_live_slots_are_kept(cluster):
    roots = cluster.roots()
    invariants.live_slots_are_kept(cluster.pools, roots)
    cluster.pools.collect(roots[1:])
    with pytest.raises(InvariantBroken, match="row 1 refers to the free slot"):
        invariants.live_slots_are_kept(cluster.pools, roots)


def test_not_stuck():
    cluster = Cluster(clients=1, threads=2)
    cluster.clock(0)
    cluster.get(0, [0])
    cluster.run_links()
    cluster.check()
    with pytest.raises(InvariantBroken, match=r"the workers \[0\] wait"):
        invariants.not_stuck(cluster.clients, cluster.shards, able=[])


@pytest.mark.parametrize(("table", "entry"), [("n", 1), ("x", np.float32(1e-2))])
def test_end_state(cluster, table, entry):
    cluster.run_out()
    final = cluster.final()
    final[table][0, 0] += entry
    with pytest.raises(InvariantBroken, match=f"end state: table '{table}'"):
        invariants.end_state(cluster.ledger, final)


def test_watch_sees_clocks_go_back(cluster):
    clock = cluster.shards[0].clock
    clock.set(clock.counts(), clock.minimum - 1)
    with pytest.raises(InvariantBroken, match="shard 0 went from 2 to 1"):
        cluster.watch.shard_did(0, [])
    cluster.clients[0].cache.push_clock[0] = 1
    cluster.clients[0].cache.row_clock[0] = 1
    with pytest.raises(InvariantBroken, match="effective row clocks never go back"):
        cluster.watch.client_did(0, [])


def test_watch_sees_reads_go_back(cluster):
    older = changed(cluster.done[0], age=[1, 1])
    with pytest.raises(InvariantBroken, match=r"row clocks of a reader never go back.*from 2 to 1"):
        cluster.watch.client_did(0, [older])


def test_watch_sees_who_leaves(cluster):
    left = Left(0, 0, 2, 4)
    with pytest.raises(InvariantBroken, match="leaving, once"):
        cluster.watch.shard_did(0, [left])
    cluster.ledger.left.add(0)
    cluster.watch.shard_did(0, [left])
    with pytest.raises(InvariantBroken, match="leaving, once"):
        cluster.watch.shard_did(0, [left])


def test_asp_fetches_in_every_clock():
    cluster = Cluster("asp", clients=1)
    cluster.get(0, [0])
    cluster.run_links()
    cluster.clock(0)
    read = cluster.done[0]
    invariants.fetched_in_this_clock(read)
    with pytest.raises(InvariantBroken, match="fetched in this clock: worker 0 at clock 1"):
        invariants.fetched_in_this_clock(read._replace(clock=1))

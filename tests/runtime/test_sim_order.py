"""What happens first at equal times: (time, kind, destination, source, number within the link)."""

from heapq import heappop

from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.runtime.events import CALL, DELIVER, FINISH, TIMER, EventQueue
from tests.runtime.apps import Digits, Scripted
from tests.runtime.simulate import config, ps, simulate

SMALL = st.integers(0, 2)
EVENTS = st.lists(st.tuples(SMALL, st.sampled_from([DELIVER, FINISH, TIMER]), SMALL, SMALL), max_size=30)


def drained(queue):
    return [heappop(queue.heap) for _ in range(len(queue.heap))]


@settings(max_examples=100)
@given(EVENTS, st.sets(st.integers(0, 30)))
def test_the_order_is_of_the_events_and_not_of_their_creation(events, calls):
    """Any order of creation that keeps the order within each link, and with calls in between."""
    plain, other = EventQueue(), EventQueue()
    for number, event in enumerate(events):
        plain.add(*event, number)
    by_link = sorted(enumerate(events), key=lambda e: e[1][1:])  # stable: link by link
    for at, (number, event) in enumerate(by_link):
        if at in calls:
            other.schedule(event[0], lambda: None)
        other.add(*event, number)
    order = [event[5] for event in drained(plain)]
    assert [events[n] for n in order] == sorted(events)
    assert [event[5] for event in drained(other) if event[1] != CALL] == order


def test_calls_come_last_at_their_time():
    queue = EventQueue()
    queue.schedule(5, "call")
    for kind in (TIMER, FINISH, DELIVER):
        queue.add(5, kind, 9, 9, kind)
    queue.add(6, DELIVER, 0, 0, "later")
    assert [event[5] for event in drained(queue)] == [DELIVER, FINISH, TIMER, "call", "later"]


LOCKSTEP = {
    "compute": {"model": "constant", "mean": "200ms"},
    "network": {"latency": {"model": "constant", "mean": "100ms"}},
}


def separate(clients, threads=1):
    return {"clients": clients, "threads": threads, "placement": "separate"}


def test_oplogs_that_arrive_together_are_applied_by_shard_client_and_sending():
    cfg = config(ps=ps("asp", shards=2), cluster=separate(3, 2), **LOCKSTEP)
    updates = simulate(cfg, Digits()).columns["updates"]
    order = list(
        zip(updates["t_applied"].tolist(), updates["shard"].tolist(), updates["worker"].tolist(), strict=True)
    )
    assert len(order) == 6 * 2 * 11
    assert len(set(updates["t_applied"])) < 30, "they do arrive together"
    assert [(t, j) for t, j, _ in order] == sorted((t, j) for t, j, _ in order)
    clients = [(t, j, w // 2) for t, j, w in order]
    assert clients == sorted(clients)


def test_a_message_arrives_before_a_computation_ends():
    """Worker 1 finds the row that worker 0's reply brings at the very same time."""
    hits = {}

    async def script(ps):
        if ps.worker == 1:
            await ps.compute(tuple)
        await ps.table("n").get([0])

    run = simulate(config(ps=ps("ssp", 1), cluster=separate(1, 2), **LOCKSTEP), Scripted(script))
    reads = run.columns["reads"]
    hits = dict(zip(reads["worker"].tolist(), reads["hit"].tolist(), strict=True))
    assert reads["t"].tolist() == [200_000_000, 200_000_000]
    assert hits == {0: False, 1: True}


def test_a_workers_messages_leave_in_the_order_of_its_calls():
    """The oplog of clock() is there before the request of the GET behind it."""

    async def script(ps):
        for _ in range(3):
            ps.table("n").inc([0], [[1]])
            await ps.clock()
            await ps.table("n").get([0])

    run = simulate(config(ps=ps("asp"), cluster=separate(1), **LOCKSTEP), Scripted(script))
    assert run.columns["reads"]["own_from"].tolist() == [1, 2, 3], "the copies have all sent updates"

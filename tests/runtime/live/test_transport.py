"""Two ends of the transport in one process, over rings that are too small."""

import contextlib
import multiprocessing
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from pskit.core.layout import Layout, TableSpec
from pskit.core.messages import Oplog, Part, Push, Reply, Request
from pskit.core.rows import RowPools
from pskit.emulation.network import Network
from pskit.errors import InputError
from pskit.runtime.events import EventQueue
from pskit.runtime.live import plan as plans
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.bells import Bell
from pskit.runtime.live.plan import EARLY, STOP, Plan, Shared
from pskit.runtime.live.transport import LOG_WIDTH, LiveTransport
from pskit.trace.schema import MESSAGE_KINDS
from tests.runtime.live.runs import config

LAYOUT = Layout([TableSpec("x", 300, 8)])


@pytest.fixture
def ends(monkeypatch):
    """The client's and the server's end, over rings of 4 KiB."""
    monkeypatch.setattr(plans, "SMALLEST_RING", 4096)
    monkeypatch.setattr(plans, "LARGEST_RING", 4096)
    network = {"latency": {"model": "constant", "mean": "1s"}}
    cfg = config(cluster={"clients": 1, "placement": "separate"}, network=network)
    plan = Plan(cfg, LAYOUT)
    pipes = [multiprocessing.Pipe(duplex=False) for _ in range(2)]
    with Arena.create(plan.nbytes) as arena:
        shared = Shared(arena, plan)
        made = []
        for me in range(2):
            bell = Bell(me, shared.processes, pipes[me][0], {1 - me: pipes[1 - me][1]})
            mail, pools = EventQueue(), RowPools(LAYOUT)
            transport = LiveTransport(me, shared, bell, Network(cfg, 0), mail, pools, 1)
            made.append(SimpleNamespace(transport=transport, mail=mail, pools=pools, shared=shared))
        yield made
    for pipe in pipes:
        for end in pipe:
            end.close()


def oplog(clock):
    rows = np.arange(300, dtype=np.int32)
    return Oplog(0, clock, clock, (Part(0, rows, np.full((300, 8), clock, np.float32)),), False, 0, 0)


@contextlib.contextmanager
def polling(end):
    """Another thread takes out what comes to ``end``."""
    over = threading.Event()

    def poll():
        while not over.wait(0.001):
            end.transport.poll()
        end.transport.poll()

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_messages_larger_than_a_ring_come_through_in_order(ends):
    """Each is more than twice the ring; a client waits while as much waits in it as a ring holds."""
    client, server = ends
    with polling(server):
        for clock in range(5):
            client.transport.send(0, 1, oplog(clock))
            (writer,) = client.transport._writers.values()
            assert writer.waiting <= 4096
        while not client.transport.flush():
            pass
    assert client.transport.delayed == client.transport.pauses == 5
    got = [event[5] for event in sorted(server.mail.heap)]
    assert [m.clock for m in got] == list(range(5))
    for m in got:
        assert (m.parts[0].delta == m.clock).all()
    assert client.transport.posted == 5


def test_a_client_that_waits_for_room_stops_waiting_when_the_run_stops(ends):
    client, _ = ends
    client.shared.control[STOP] = EARLY
    for clock in range(3):
        client.transport.send(0, 1, oplog(clock))
    assert client.transport.delayed == 3


def test_the_server_never_waits_and_says_for_what_there_is_room(ends):
    client, server = ends
    rows = np.arange(300, dtype=np.int32)
    slots = server.pools.pools[0].take(300)
    small = Push(rows[:1], slots[:1], (), 1, 1, (0,))
    large = Push(rows, slots, (), 1, 1, (0,))
    assert server.transport.has_room_for(0, small)
    assert server.transport.has_room_for(0, large), "in pieces"
    server.transport.send(1, 0, large)
    for push in (small, large):
        assert not server.transport.has_room_for(0, push)
    assert not server.transport.has_much_room(0)
    server.transport.send(1, 0, Reply(rows, slots, 0, 0, (0,), 0))  # may be sent all the same
    assert server.transport.delayed == 2
    assert server.transport.pauses == 0
    while not server.transport.flush():
        client.transport.poll()
    client.transport.poll()
    assert server.transport.has_much_room(0)
    kinds = [type(event[5]) for event in sorted(client.mail.heap, key=lambda e: (e[0], e[4]))]
    assert kinds == [Push, Reply]


def test_nothing_goes_to_a_client_that_has_died(ends):
    _, server = ends
    rows = np.arange(300, dtype=np.int32)
    slots = server.pools.pools[0].take(300)
    for _ in range(3):
        server.transport.send(1, 0, Reply(rows, slots, 0, 0, (0,), 0))
    assert not server.transport.flush()
    server.transport.forget(0)
    assert server.transport.flush()
    sent = server.transport.sent
    server.transport.send(1, 0, Reply(rows, slots, 0, 0, (0,), 0))
    assert server.transport.sent == sent


def test_times_beyond_the_end_of_emulated_time_are_refused(ends):
    client, _ = ends
    client.mail.now = 2**63 - 10**9
    with pytest.raises(
        InputError, match=r"from client 0 to shard 0 would end after the end of emulated time"
    ):
        client.transport.send(0, 1, Request(0, np.arange(3, dtype=np.int32), 0, 0))


def test_nothing_is_visible_before_its_latency(ends):
    client, server = ends
    client.mail.now = 7
    client.transport.send(0, 1, Request(0, np.arange(3, dtype=np.int32), 0, 0))
    server.transport.poll()
    assert [event[0] for event in server.mail.heap] == [7 + 10**9]


def test_the_log_has_every_message_once(ends):
    client, server = ends
    rows = np.arange(300, dtype=np.int32)
    client.transport.send(0, 1, Request(0, rows, 0, 0))
    server.transport.poll()
    server.transport.delivered(server.mail.heap.pop(), 10**9 + 5)
    slots = server.pools.pools[0].take(300)
    for _ in range(3):  # more than the ring holds: some stay with the sender
        server.transport.send(1, 0, Reply(rows, slots, 0, 0, (0,), 0))
    for end in ends:
        end.transport.log_what_is_left(3 * 10**9)
    logs = [end.transport.log() for end in ends]
    log = np.concatenate(logs)
    assert log.shape == (4, LOG_WIDTH)
    kinds = [MESSAGE_KINDS[kind] for kind in log[:, 3]]
    assert sorted(kinds) == ["reply"] * 3 + ["request"]
    sent = {(sender, number) for sender, number in log[:, 1:3].tolist()}
    assert len(sent) == 4
    replies = log[[kind == "reply" for kind in kinds]]
    assert (replies[:, 6] == 3 * 10**9).all()  # visible after one second, but nobody looked
    request = log[kinds.index("request")]
    assert request.tolist()[:7] == [0, 0, 0, 0, 0, 1, 10**9 + 5]

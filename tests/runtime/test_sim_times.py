"""Emulated times, exactly: constant compute times and latencies can be followed by hand."""

import numpy as np

from tests.runtime.apps import Digits, Scripted
from tests.runtime.simulate import POLICIES, config, ps, simulate

MS = 1_000_000


def steady(compute="1s", latency="100ms", **more):
    given = {"model": "constant", "mean": compute, **more}
    return {"compute": given, "network": {"latency": {"model": "constant", "mean": latency}}}


def one(**cluster):
    return {"clients": 1, "placement": "separate", **cluster}


async def simple(ps):
    for _ in range(3):
        await ps.table("n").get([0])
        await ps.compute(tuple, cost=5)
        ps.table("n").inc([0], [[1]])
        await ps.clock()


def test_a_clock_of_one_worker():
    """A GET waits for a request and a reply, then the worker computes; a message takes 100 ms."""
    run = simulate(config(ps=ps("ssp", 0), cluster=one(), **steady()), Scripted(simple))
    clocks, updates, reads = (run.columns[t] for t in ("clocks", "updates", "reads"))
    begin = np.array([0, 1200, 2400]) * MS
    assert clocks["t_begin"].tolist() == begin.tolist()
    assert clocks["t_end"].tolist() == (begin + 1200 * MS).tolist()
    assert clocks["t_compute"].tolist() == [1000 * MS] * 3
    assert clocks["t_wait"].tolist() == [200 * MS] * 3
    assert reads["t"].tolist() == (begin + 200 * MS).tolist()
    assert reads["waited"].tolist() == [200 * MS] * 3
    end = begin + 1200 * MS
    assert updates["t_inc"][:3].tolist() == updates["t_sent"][:3].tolist() == end.tolist()
    assert updates["t_applied"][:3].tolist() == (end + 100 * MS).tolist()
    assert updates["clock"].tolist() == updates["seq"].tolist() == [0, 1, 2, 3], "the last one takes it out"
    assert run.outcome.emulated == 3700 * MS


def test_hits_take_no_time():
    run = simulate(config(ps=ps("ssp", 9), cluster=one(), **steady()), Scripted(simple))
    assert run.columns["reads"]["waited"].tolist() == [200 * MS, 0, 0]
    assert run.columns["reads"]["age"].tolist() == [0, 1, 2]
    assert run.columns["clocks"]["t_end"].tolist() == [1200 * MS, 2200 * MS, 3200 * MS]


def test_a_push_comes_100_ms_after_the_rise():
    """ESSP, slack 0: clock() at t, the oplog arrives at t + 100 ms, the push at t + 200 ms."""
    run = simulate(config(ps=ps("essp-rows", 0), cluster=one(), **steady()), Scripted(simple))
    assert run.columns["reads"]["waited"].tolist() == [200 * MS] * 3
    assert len(run.messages("request")["id"]) == 1
    pushes = run.messages("push")
    assert pushes["t_send"].tolist() == [1300 * MS, 2500 * MS, 3700 * MS, 3700 * MS]


def test_everybody_waits_for_the_slowest():
    slow = steady(stragglers=[{"worker": 1, "factor": 4.0}])
    run = simulate(config(ps=ps("bsp"), cluster=one(clients=2), **slow), Scripted(simple))
    clocks = run.columns["clocks"]
    ends = {w: clocks["t_end"][clocks["worker"] == w].tolist() for w in (0, 1)}
    assert ends[1] == [4200 * MS, 8400 * MS, 12600 * MS]
    assert ends[0] == [1200 * MS, 5400 * MS, 9600 * MS]


def test_only_the_first_compute_of_a_clock_pays_for_the_clock():
    async def script(ps):
        for _ in range(2):
            await ps.compute(tuple, cost=3)
            await ps.compute(tuple, cost=2)
            await ps.clock()

    run = simulate(config(ps=ps("ssp", 9), cluster=one(), **steady(per_item="10ms")), Scripted(script))
    assert run.columns["clocks"]["t_compute"].tolist() == [1050 * MS] * 2


def test_t_inc_is_that_of_the_units_first_inc():
    async def script(ps):
        n = ps.table("n")
        n.inc([0], [[1]])
        await ps.compute(tuple)
        n.inc([1], [[1]])
        await ps.clock()
        await ps.clock()
        await ps.compute(tuple)
        n.inc([2], [[1]])

    run = simulate(config(ps=ps("ssp", 9), cluster=one(), **steady()), Scripted(script))
    updates = run.columns["updates"]
    assert updates["t_inc"].tolist() == [0, 1000 * MS, 2000 * MS]
    assert updates["t_sent"].tolist() == [1000 * MS, 1000 * MS, 2000 * MS]
    assert updates["linf"].tolist() == [1, 0, 1]
    assert np.allclose(updates["l2"], [2**0.5, 0, 1])


def test_norms_are_of_all_tables_together():
    async def script(ps):
        ps.table("n").inc([0, 1], [[-4], [2]])
        ps.table("x").inc([2], [[0.5]])

    updates = simulate(config(ps=ps("ssp", 9), cluster=one()), Scripted(script)).columns["updates"]
    assert updates["linf"].tolist() == [4]
    assert updates["l2"].tolist() == [(16 + 4 + 0.25) ** 0.5]


def test_clocks_are_computing_and_waiting_and_nothing_else():
    for name in POLICIES:
        clocks = simulate(
            config(ps=ps(name, 1, shards=2), cluster={"clients": 2, "threads": 2}), Digits()
        ).columns["clocks"]
        assert np.array_equal(clocks["t_end"] - clocks["t_begin"], clocks["t_compute"] + clocks["t_wait"])
        for worker in range(4):
            mine = {k: v[clocks["worker"] == worker] for k, v in clocks.items()}
            assert mine["clock"].tolist() == list(range(10))
            assert np.array_equal(mine["t_begin"][1:], mine["t_end"][:-1])
            assert mine["t_begin"][0] == 0


def test_messages_within_a_machine_are_free():
    run = simulate(config(ps=ps("ssp", 0), cluster={"clients": 1}, **steady()), Scripted(simple))
    messages = run.columns["messages"]
    assert np.array_equal(messages["t_send"], messages["t_deliver"])
    assert run.outcome.emulated == 3000 * MS


def test_a_slow_card_delays_what_comes_behind():
    """A request of 36 bytes at 3600 bytes/s holds the card for 10 ms."""
    network = {"latency": {"model": "constant", "mean": "100ms"}, "bandwidth": "3600B/s"}

    async def script(ps):
        await ps.table("n").get([ps.worker])

    cfg = config(ps=ps("ssp", 0), cluster=one(threads=3), network=network)
    requests = simulate(cfg, Scripted(script)).messages("request")
    assert requests["bytes"].tolist() == [36] * 3
    assert requests["t_deliver"].tolist() == [110 * MS, 120 * MS, 130 * MS]


def test_lost_messages_are_marked_and_sent_again():
    network = {"latency": {"model": "constant", "mean": "100ms"}, "loss": 0.4, "retransmit": "300ms"}
    run = simulate(config(ps=ps("ssp", 1), cluster=one(clients=3), network=network), Digits())
    messages = run.columns["messages"]
    lost = messages["t_deliver"] == -1
    assert 0.3 < lost.mean() < 0.5
    assert (messages["t_deliver"][~lost] - messages["t_send"][~lost] == 100 * MS).all()
    assert messages["id"].tolist() == list(range(len(lost)))


def test_the_run_ends_when_the_last_worker_is_taken_out():
    """Timers that mean nothing any more go off later."""
    network = {"latency": {"model": "constant", "mean": "100ms"}, "loss": 1e-9, "retransmit": "60s"}
    run = simulate(config(ps=ps("ssp", 0), cluster=one(), network=network), Scripted(simple))
    assert (
        run.outcome.emulated == run.columns["members"]["t"].max() == run.columns["updates"]["t_applied"].max()
    )
    assert run.columns["metrics"]["t"].max() <= run.outcome.emulated < 60_000 * MS

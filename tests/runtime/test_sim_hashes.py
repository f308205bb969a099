"""A run is a function of its config: nothing else changes it, least of all looking at it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pskit
from pskit.runtime import workers
from pskit.runtime.sim import simulation
from tests.runtime.apps import Digits, Drift
from tests.runtime.simulate import POLICIES, config, ps, same_tables, simulate

# At constant times many events coincide, so this shows whether their order depends on anything else.
LOCKSTEP = {
    "compute": {"model": "constant", "mean": "100ms"},
    "network": {"latency": {"model": "constant", "mean": "100ms"}},
}


def configs(name):
    cluster = {"clients": 3, "threads": 2}
    lossy = {"latency": {"model": "exponential", "mean": "1s"}, "loss": 0.2, "reorder": True}
    yield config(ps=ps(name, 1, shards=2), cluster=cluster)
    yield config(ps=ps(name, 1, shards=2, cache_rows=2), cluster=cluster, **LOCKSTEP)
    yield config(ps=ps(name, 1, shards=2), cluster=cluster, network=lossy)


def same(a, b):
    """Everything that a run has come to, its number of events apart."""
    assert a.schedule_hash == b.schedule_hash
    assert a.columns.keys() == b.columns.keys()
    for table, columns in a.columns.items():
        for column, values in columns.items():
            assert np.array_equal(values, b.columns[table][column]), (table, column)
    for kind in ("initial", "final", "incs"):
        assert same_tables(getattr(a.outcome, kind), getattr(b.outcome, kind))
    assert a.outcome.status == b.outcome.status
    assert a.outcome.emulated == b.outcome.emulated
    return True


@pytest.mark.parametrize("name", POLICIES)
def test_ten_runs_are_equal(name):
    for cfg in configs(name):
        first, *others = (simulate(cfg, Digits()) for _ in range(10))
        assert all(same(first, other) for other in others)
        assert first.outcome.events == others[0].outcome.events


@pytest.mark.parametrize("name", POLICIES)
def test_a_no_op_event_changes_nothing(name):
    for cfg in configs(name):
        plain = simulate(cfg, Digits())
        end = plain.outcome.emulated
        times = [0, 0, 100_000_000, 300_000_000, end // 3, end // 2, end, end + 1, 3 * end]
        seen = []

        def add(sim, times=times, seen=seen):
            for time in times:
                sim.queue.schedule(time, lambda: seen.append(sim.queue.now))

        assert same(plain, simulate(cfg, Digits(), before=add))
        assert seen == sorted(times)


def test_a_caller_sees_all_of_its_time():
    """It is called after everything else that happens then."""
    cfg = config(ps=ps("essp-rows", 1), **LOCKSTEP)
    applied = []

    def look(sim):
        for time in range(100_000_000, 800_000_000, 100_000_000):
            sim.queue.schedule(time, lambda: applied.append((sim.queue.now, sim.shards[0].apply_index)))

    updates = simulate(cfg, Digits(), before=look).columns["updates"]
    assert applied == [(t, (updates["t_applied"] <= t).sum()) for t, _ in applied]
    assert applied[-1][1] > 0


@pytest.mark.parametrize("name", POLICIES)
def test_when_the_row_pools_are_looked_through_changes_nothing(name, monkeypatch):
    for cfg in configs(name):
        plain = simulate(cfg, Drift())
        with monkeypatch.context() as patch:
            patch.setattr(simulation, "COLLECT_EVERY", 1)
            patch.setattr(simulation.RowPools, "crowded", True)
            assert same(plain, simulate(cfg, Drift()))


def test_the_thread_pool_changes_nothing(monkeypatch):
    monkeypatch.setattr(workers, "POOL_FROM_COST", 0)
    cfg = config(ps=ps("essp-rows", 1), cluster={"clients": 4})
    plain = simulate(cfg, Drift())
    with ThreadPoolExecutor(3) as pool:
        assert same(plain, simulate(cfg, Drift(), pool=pool))


def test_progress_changes_nothing():
    cfg = config(ps=ps("ssp", 1), clocks=19)
    said = []
    followed = simulate(cfg, Digits(), progress=lambda sim: said.append(sim.progress()))
    assert same(simulate(cfg, Digits()), followed)
    said.append(followed.simulation.progress())
    assert said[-1] == (19, said[-1][1] | {"clock_max": 19, "waiting_share": 0, "in_flight": 0})
    clocks = [done for done, _ in said]
    assert clocks == sorted(clocks)
    assert len(clocks) > 3
    for done, info in said:
        assert info["clock_min"] == done <= info["clock_max"]
        assert 0 <= info["waiting_share"] <= 1
    assert [info["emulated_ns"] for _, info in said] == sorted(info["emulated_ns"] for _, info in said)


def test_progress_counts_every_event_to_come():
    cfg = config(ps={**ps("ssp", 1), "shards": 12}, clocks=19, options={"rows": 12})  # fans, and ticks
    said = []

    def look(sim):
        heap = sim.queue.heap
        fans = sum(len(list(event[6].rest())) for event in heap if event[6] is not None)
        ticks = len(sim._ticks)
        said.append((sim.progress()[1]["in_flight"], len(heap) + fans + ticks, fans, ticks))

    simulate(cfg, Digits(), progress=look)
    assert all(told == counted for told, counted, *_ in said)
    assert any(fans for _, _, fans, _ in said)
    assert any(ticks for *_, ticks in said)


def test_the_seed_changes_the_schedule():
    hashes = {simulate(config(run={"seed": seed}), Digits()).schedule_hash for seed in range(3)}
    assert len(hashes) == 3


def test_pskit_run_is_the_same_run():
    cfg = config(ps=ps("essp-rows", 1), run={"trace": "full"})
    trace, run = pskit.run(cfg), simulate(cfg, Digits())
    assert trace.manifest["schedule_hash"] == run.schedule_hash
    assert np.array_equal(trace.table("n"), run.outcome.final["n"])
    assert np.array_equal(trace.table("n"), trace.table("n", "initial") + trace.table("n", "incs"))
    summary = pskit.run(config(ps=ps("essp-rows", 1), run={"trace": "summary"}))
    assert summary.manifest["schedule_hash"] == run.schedule_hash

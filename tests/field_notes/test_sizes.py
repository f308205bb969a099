"""Memory that is bounded, said before the start, and enough for large rows."""

import tracemalloc

import pytest

import pskit
from pskit.core.oplog import SHORT
from tests.field_notes.runs import BAD_LINKS, STEADY, config, finished
from tests.runtime.apps import Drift
from tests.runtime.simulate import POLICIES, ps, simulate
from tests.runtime.simulate import config as simulated


@pytest.mark.field_note(
    25,
    "What a run needs is estimated before anything of its size is allocated; one that does not fit is "
    "refused with both numbers, and leaves no folder.",
)
def test_a_run_that_does_not_fit_is_refused_before_it_starts(monkeypatch, tmp_path):
    monkeypatch.setattr("pskit.runtime.memory.available_bytes", lambda: 8 << 30)
    cfg = pskit.Config(app={"name": "quadratic", "dim": 1_000_000_000, "clocks": 1})
    tracemalloc.start()
    with pytest.raises(pskit.InputError, match=r"needs about \d+\.\d GiB, and 8\.0 GiB are free: use fewer"):
        pskit.run(cfg, out=tmp_path / "run")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20, "bytes that were taken on the way to the refusal"
    assert not (tmp_path / "run").exists()


CLOCKS = 220
MOST = 64
"""Far below the number of clocks, so that nothing that gains one entry a clock, or a few, passes."""
MOST_VERSIONS = 1500
"""A clock of all workers makes 24; without giving any back there would be 5,280."""


def largest_sizes(name: str, network: dict) -> dict[str, int]:
    """Largest size of everything that a run of `CLOCKS` clocks keeps, looked at twice per clock."""
    cfg = simulated(
        clocks=CLOCKS,
        ps=ps(name, 2, shards=2),
        cluster={"clients": 2, "threads": 2},
        network=network,
        compute={"model": "exponential", "floor": "1s", "mean": "100ms", "reversion": 0.2},
    )
    largest: dict[str, int] = {}

    def look(sim):
        logs = [worker.log for client in sim.clients for worker in client.workers.values()]
        now = {
            "events": len(sim.queue.heap),
            "messages, kept for repetition or reordering included": len(sim.transport.in_flight()),
            "own updates": max(sum(table.used for table in log.tables) for log in logs),
            "requests of a client": max(len(client.outstanding) for client in sim.clients),
            "requests at a shard": max(len(shard.waiting) for shard in sim.shards),
            "oplogs held back": max(sum(map(len, shard.held.values())) for shard in sim.shards),
            "row versions": sum(len(pool.values) for pool in sim.pools.pools),
        }
        for what, size in now.items():
            largest[what] = max(size, largest.get(what, 0))
        if any(not driver.done for driver in sim.drivers):
            sim.queue.schedule(sim.queue.now + 500_000_000, lambda: look(sim))

    simulate(cfg, Drift(), before=look)
    return largest


@pytest.mark.field_note(
    30,
    "Event queue, own updates, requests, oplogs held back, channel buffers and row versions stay as small as"
    " they are after a few clocks, however long the run is. What grows is the trace of clocks and updates, "
    "which is the result.",
)
@pytest.mark.parametrize("network", [{}, BAD_LINKS], ids=["good links", "bad links"])
@pytest.mark.parametrize("name", POLICIES)
def test_nothing_grows_with_the_number_of_clocks(name, network):
    sizes = largest_sizes(name, network or {"latency": {"model": "exponential", "mean": "200ms"}})
    assert 6 * CLOCKS > SHORT >= sizes.pop("own updates"), "entries; each clock adds 6"
    assert sizes.pop("row versions") < MOST_VERSIONS
    assert max(sizes.values()) < MOST, sizes


@pytest.mark.field_note(
    31,
    "There is no largest message: a row of any width goes as one message, whose bytes take their time on the"
    " card.",
)
@pytest.mark.parametrize("policy", ["ssp, slack 0", "essp", "essp, deltas", "bsp", "asp"])
def test_a_wide_row_goes_as_one_message(policy):
    columns, rate = 1_000_000, 100_000_000  # 4 MB a row, 100 MB/s
    cfg = config(
        "WideRow",
        policy,
        clocks=3,
        options={"columns": columns},
        compute=STEADY,
        cluster={"clients": 2, "placement": "separate"},
        network={"latency": {"model": "constant", "mean": "1ms"}, "bandwidth": "100MB/s"},
    )
    trace = finished(cfg)
    assert (trace.table("x") == 2 * 3).all()
    messages = trace.columns("messages")
    wide = messages["bytes"] >= 4 * columns
    assert wide.sum() >= 2 * 3
    took = messages["t_deliver"][wide] - messages["t_send"][wide]
    assert took.min() >= 4 * columns * 10**9 // rate

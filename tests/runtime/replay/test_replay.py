"""Recorded live runs, replayed in virtual time: the same reads, updates, messages and values."""

import os
import signal

import numpy as np
import pytest

import pskit
from pskit.trace.schema import MOMENTS
from tests.runtime.live.runs import BAD_LINKS, POLICIES, config
from tests.runtime.live.waiting import meanwhile, told
from tests.runtime.replay.apps import COLS, ROWS

THREADS = {"clients": 2, "threads": 3, "placement": "colocated"}


def recorded(folder, policy="ssp", *args, **given):
    run = {"record": True, **given.pop("run", {})}
    return pskit.run(config(policy, *args, run=run, **given), out=folder)


def moments(trace, what):
    return np.count_nonzero(trace.columns("moments")["what"] == MOMENTS.index(what))


def check(folder, out=None):
    """Replay ``folder`` and compare here, too, by the columns that say who read and applied what."""
    replayed = pskit.replay(folder, out=out)
    assert replayed.agrees, replayed.difference
    assert "the replay agrees" in replayed.verdict()
    live, sim = pskit.open_trace(folder), replayed.trace
    for table, way, compared in (
        ("reads", ("worker",), ("worker", "clock", "table", "row", "version", "own_from", "own_upto", "t")),
        ("updates", ("shard", "apply_index"), ("worker", "clock", "seq", "t_sent", "t_applied")),
    ):
        pair = []
        for trace in (live, sim):
            columns = trace.columns(table)
            order = np.lexsort([columns[key] for key in reversed(way)])
            pair.append([columns[key][order] for key in compared])
        assert len(pair[0][0])
        for key, a, b in zip(compared, *pair, strict=True):
            assert np.array_equal(a, b), (table, key)
    assert live.manifest["value_hash"] == sim.manifest["value_hash"]
    assert live.status == sim.status
    return replayed


@pytest.mark.parametrize("policy", POLICIES)
def test_several_shards_threads_and_a_small_cache(policy, tmp_path):
    recorded(tmp_path / "live", policy, ps={"shards": 3, "cache_rows": 2}, cluster=THREADS)
    check(tmp_path / "live", tmp_path / "sim")
    assert pskit.audit(tmp_path / "sim").ok


@pytest.mark.parametrize("policy", ["ssp", "essp, deltas", "bsp"])
def test_links_that_lose_and_reorder(policy, tmp_path):
    live = recorded(tmp_path / "live", policy, network=BAD_LINKS, clocks=6, ps={"shards": 2})
    assert moments(live, "timer")
    assert (live.columns("messages")["t_deliver"] == -1).any()
    check(tmp_path / "live")


def test_pushes_for_which_there_was_no_room(tmp_path):
    live = recorded(
        tmp_path / "live",
        "essp",
        "tests.runtime.replay.apps:Sleeper",
        clocks=30,
        options={"folder": str(tmp_path)},
        ps={"slack": 50},
        compute={"model": "constant", "mean": "100ms", "stragglers": [
            {"worker": w, "factor": 8.0} for w in (1, 2)
        ]},
    )  # fmt: skip
    assert ROWS * COLS * 8 * 16 > 64 * 1024  # sixteen pushes are more than the smallest ring
    assert moments(live, "put off") == moments(live, "caught up") > 0
    check(tmp_path / "live")


def test_the_flagship_application(tmp_path):
    overrides = [
        "app.clocks=4",
        "cluster.clients=3",
        "cluster.threads=2",
        "run.runtime=live",
        "run.record=true",
    ]
    cfg = pskit.load_config("experiments/mf.toml", [*overrides, "run.time_scale=0.02", "ps.shards=2"])
    assert cfg.run.trace == "full"
    pskit.run(cfg, out=tmp_path / "live")
    check(tmp_path / "live")


def test_a_run_that_explodes(tmp_path):
    live = recorded(tmp_path / "live", "ssp", "tests.runtime.live.apps:Explodes", clocks=1000)
    assert live.status == "diverged"
    check(tmp_path / "live")


def test_a_refused_update(tmp_path):
    options = {"fail": 1, "how": "nan"}
    live = recorded(
        tmp_path / "live",
        "ssp",
        "tests.runtime.live.apps:Told",
        clocks=1000,
        options=options,
        cluster=THREADS,
    )
    assert live.columns("faults")["what"].tolist() == ["non-finite"]
    replayed = check(tmp_path / "live")
    assert replayed.trace.columns("faults")["worker"].tolist() == [1]


def test_an_interrupted_run(tmp_path):
    options = {"folder": str(tmp_path)}
    cfg = config("essp", "tests.runtime.live.apps:Told", clocks=10_000, options=options, run={"record": True})

    def interrupt():
        told(tmp_path / "worker-1")
        os.kill(os.getpid(), signal.SIGINT)

    with meanwhile(interrupt), pytest.raises(KeyboardInterrupt):
        pskit.run(cfg, out=tmp_path / "live")
    assert pskit.open_trace(tmp_path / "live").status == "interrupted"
    check(tmp_path / "live")


def test_step_by_step(tmp_path):
    """The same events one by one, in their order; the tables are those of the end."""
    live = recorded(tmp_path / "live", "essp")
    simulation = pskit.open_replay(tmp_path / "live")
    simulation.begin()
    clocks, times = [], []
    while simulation.step():
        times.append(simulation.queue.now)
        clocks.append(simulation.shards[0].clock.minimum)
    assert times == sorted(times)
    assert sorted(set(clocks)) == list(range(max(clocks) + 1))
    final = simulation.outcome().final
    for name in ("x", "y"):
        assert np.array_equal(final[name], live.table(name))
    assert len(times) == simulation.events > len(live.columns("messages")["id"])


def test_what_cannot_be_drawn_again_is_noticed(tmp_path):
    recorded(tmp_path / "live", "ssp", "tests.runtime.replay.apps:Unrepeatable", clocks=4)
    replayed = pskit.replay(tmp_path / "live", out=tmp_path / "sim")
    assert not replayed.agrees
    assert replayed.difference.startswith(("metrics: the record has", "updates: the record has"))
    assert not (tmp_path / "sim").exists()

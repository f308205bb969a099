"""Clients that die under ``run.on_death = "continue"``: the others finish, the trace tells what is lost."""

import os
import signal

import numpy as np
import pytest

import pskit
from tests.runtime.live.runs import BAD_LINKS, POLICIES, config
from tests.runtime.live.waiting import meanwhile, told

TOLD = "tests.runtime.live.apps:Told"
CLOCKS, TELL = 40, 6


def mourning(policy, folder, *, clients=3, threads=1, shards=2, run=None, **more):
    """A config whose run goes on without the dead; workers tell of themselves at clock `TELL`."""
    return config(
        policy, TOLD, clocks=CLOCKS, scale=0.01, options={"folder": str(folder), "tell": TELL},
        ps={"shards": shards}, run={"on_death": "continue", **(run or {})},
        cluster={"clients": clients, "threads": threads, "placement": "separate"}, **more,
    )  # fmt: skip


def run_and_kill(cfg, folder, workers=(1,), how=signal.SIGKILL):
    def kill():
        for worker in workers:
            os.kill(told(folder / f"worker-{worker}"), how)

    with meanwhile(kill):
        return pskit.run(cfg)


def check(trace, clients, threads=1):
    """The audit is clean, the others came to their end, and tables hold what was applied of the dead."""
    assert trace.status == "finished"
    report = pskit.audit(trace)
    assert report.ok, [str(violation) for violation in report.violations]
    dead = {w for c in clients for w in range(c * threads, (c + 1) * threads)}
    members, clocks = trace.columns("members"), trace.columns("clocks")
    for worker in range(trace.manifest["workers"]):
        events = members["event"][members["worker"] == worker]
        assert set(events) == {"lost" if worker in dead else "left"}
        assert len(events) == trace.manifest["layout"]["shards"]
        assert (clocks["worker"] == worker).sum() == (0 if worker in dead else CLOCKS)
    faults = trace.columns("faults")
    assert set(faults["what"]) == {"death"}
    assert sorted(faults["worker"]) == sorted(c * threads for c in clients)
    assert [d["client"] for d in trace.manifest["deaths"]] == sorted(clients)
    # Every worker adds 1 to every row in every clock; the sums of the dead are what shards applied of them.
    updates = trace.columns("updates")
    n, incs = trace.table("n"), trace.table("n", "incs")
    assert np.array_equal(n, incs)
    for row in range(len(n)):
        shard = row % trace.manifest["layout"]["shards"]
        counted = (updates["linf"] > 0) & (updates["shard"] == shard)
        assert n[row].tolist() == [counted.sum()] * 2
    return report


@pytest.mark.parametrize("policy", POLICIES)
def test_the_others_finish(policy, tmp_path, nothing_left):
    trace = run_and_kill(mourning(policy, tmp_path), tmp_path)
    check(trace, [1])
    (detail,) = trace.columns("faults")["detail"]
    assert detail.startswith(f"client 1 (process {told(tmp_path / 'worker-1')}; worker 1 at clock ")
    assert "was killed by SIGKILL; the run went on without it" in detail
    members = trace.columns("members")
    lost = members["event"] == "lost"
    assert (members["t"][lost] >= trace.columns("faults")["t"]).all()
    assert members["t"][lost].max() < trace.manifest["emulated_ns"]


@pytest.mark.parametrize("policy", ["essp", "bsp"])
def test_a_client_with_several_workers_and_links_that_lose(policy, tmp_path):
    cfg = mourning(policy, tmp_path, threads=2, network=BAD_LINKS)
    check(run_and_kill(cfg, tmp_path, workers=[2]), [1], threads=2)


def test_two_deaths_and_one_that_is_left(tmp_path):
    check(run_and_kill(mourning("ssp", tmp_path), tmp_path, workers=[0, 2]), [0, 2])


def test_the_slowest_dies_and_those_who_waited_for_it_go_on(tmp_path):
    """It is stopped until all others wait for it, so that something is there to be released."""
    cfg = mourning("bsp", tmp_path)

    def stop_then_kill():
        victim = told(tmp_path / "worker-0")
        os.kill(victim, signal.SIGSTOP)
        for worker in (1, 2):
            told(tmp_path / f"worker-{worker}")
        os.kill(victim, signal.SIGKILL)

    with meanwhile(stop_then_kill):
        trace = pskit.run(cfg)
    check(trace, [0])


def test_with_all_clients_dead_the_run_has_failed(tmp_path):
    cfg = mourning("asp", tmp_path, clients=2)
    with pytest.raises(pskit.RunFailed, match=r"was killed by SIGKILL, and so had all other clients"):
        run_and_kill(cfg, tmp_path, workers=[0, 1])


def test_without_the_server_the_run_fails_all_the_same(tmp_path):
    cfg = config(
        "ssp", "tests.runtime.live.apps:TellsServer", clocks=10_000, options={"folder": str(tmp_path)},
        run={"on_death": "continue"},
    )  # fmt: skip
    with (
        meanwhile(lambda: os.kill(told(tmp_path / "server"), signal.SIGKILL)),
        pytest.raises(
            pskit.RunFailed, match=r"^the server \(process \d+\) was killed by SIGKILL, so the run"
        ),
    ):
        pskit.run(cfg)


def test_a_fault_of_the_application_is_no_death(tmp_path):
    cfg = config("ssp", TOLD, options={"fail": 1, "how": "raise"}, run={"on_death": "continue"})
    with pytest.raises(pskit.AppError, match="a kernel went wrong"):
        pskit.run(cfg)


def test_who_dies_after_its_work_takes_only_its_records_along(tmp_path):
    """Its workers have left by then; what it added is in the tables, and the sums know it."""
    options = {"folder": str(tmp_path), "tell": 20, "short": 1}
    cfg = config(
        "asp", "tests.runtime.live.apps:OneEndsEarly", clocks=60, scale=0.01, options=options,
        run={"on_death": "continue"},
    )  # fmt: skip

    def kill():
        told(tmp_path / "worker-0")
        os.kill(told(tmp_path / "worker-1"), signal.SIGKILL)

    with meanwhile(kill):
        trace = pskit.run(cfg)
    assert trace.status == "finished"
    assert pskit.audit(trace).ok
    assert set(trace.columns("members")["event"]) == {"left"}
    assert trace.columns("faults")["what"].tolist() == ["death"]
    assert np.array_equal(trace.table("n"), trace.table("n", "incs"))
    assert set(trace.columns("clocks")["worker"]) == {0, 2}


def test_the_config_knows_when_it_means_something():
    with pytest.raises(pskit.InputError, match="no process that could die"):
        pskit.Config(run={"on_death": "continue"})
    with pytest.raises(pskit.InputError, match="on_death"):
        pskit.Config(run={"runtime": "live", "on_death": "pray"})
    assert pskit.Config(run={"runtime": "live"}).run.on_death == "stop"

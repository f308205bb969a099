"""Whole runs with real processes: what they compute, and what their traces say."""

import multiprocessing

import numpy as np
import pytest

import pskit
from pskit.core.layout import Layout, TableSpec
from pskit.runtime.live import limits, starting
from pskit.runtime.live.launcher import LiveRun
from tests.runtime.live.runs import config


def check(trace):
    """What every finished run must show."""
    assert trace.status == "finished"
    report = pskit.audit(trace)
    assert report.ok, [str(violation) for violation in report.violations]
    assert not multiprocessing.active_children()
    return report


def test_nothing_is_early():
    trace = pskit.run(
        config(
            "essp",
            compute={"model": "constant", "mean": "1s"},
            network={"latency": {"model": "constant", "mean": "300ms"}},
        )
    )
    messages, clocks = trace.columns("messages"), trace.columns("clocks")
    assert (messages["t_deliver"] - messages["t_send"]).min() >= 300_000_000
    assert clocks["t_compute"].min() >= 1_000_000_000


def test_a_client_and_a_shard_on_one_machine_share_its_card():
    trace = pskit.run(
        config(
            "essp",
            ps={"shards": 2},
            cluster={"clients": 2, "placement": "colocated"},
            network={"latency": {"model": "constant", "mean": "0s"}, "bandwidth": "10kB/s"},
        )
    )
    check(trace)
    messages = trace.columns("messages")
    machine = messages["src"] % 2
    remote = machine != messages["dst"] % 2
    for which in (0, 1):
        sent = remote & (machine == which)
        least = messages["bytes"][sent].sum() * 100_000  # ns that the card needs for all of it
        assert messages["t_deliver"][sent].max() - messages["t_send"][sent].min() >= least


def test_cards_queue():
    """A kilobyte takes a second on every card, so a clock's messages arrive one after the other."""
    trace = pskit.run(
        config(
            "asp", network={"latency": {"model": "constant", "mean": "0s"}, "bandwidth": "1kB/s"}, clocks=3
        )
    )
    check(trace)
    messages = trace.columns("messages")
    assert (messages["t_deliver"] - messages["t_send"] >= messages["bytes"] * 1_000_000).all()


def test_a_sampled_trace_keeps_its_totals():
    trace = pskit.run(config("ssp", run={"trace": "summary"}))
    check(trace)


def test_a_run_that_explodes_ends_as_diverged_and_keeps_its_trace():
    trace = pskit.run(config("ssp", "tests.runtime.live.apps:Explodes", clocks=1000))
    assert trace.status == "diverged"
    assert np.isinf(trace.final_loss())
    assert pskit.audit(trace).ok
    assert 0 < trace.columns("clocks")["clock"].max() < 999
    assert trace.manifest["emulated_ns"] >= trace.columns("clocks")["t_end"].max()


def test_a_loss_that_was_too_large_once_marks_a_run_that_goes_on():
    trace = pskit.run(config("ssp", "tests.runtime.live.apps:Excursion", clocks=8))
    assert trace.status == "diverged"
    assert trace.columns("clocks")["clock"].max() == 7
    assert pskit.audit(trace).ok
    assert trace.manifest["emulated_ns"] == trace.columns("members")["t"].max()


def test_the_manifest_says_how_faithful_the_run_was(tmp_path):
    pskit.run(config("ssp"), out=tmp_path / "run")
    manifest = pskit.open_trace(tmp_path / "run").manifest
    fidelity = manifest["fidelity"]
    assert fidelity["verdict"] in ("faithful", "strained", "not faithful")
    assert fidelity["time_scale"] == manifest["config"]["run"]["time_scale"]
    for which in ("lateness_us", "overshoot_us"):
        assert 0 <= fidelity[which]["p50"] <= fidelity[which]["p99"] <= fidelity[which]["max"]
    assert manifest["processes"]["number"] == 4


def test_kernels_longer_than_their_modelled_time_are_seen():
    options = {"slow": 0.03}
    trace = pskit.run(config("ssp", "tests.runtime.live.apps:Told", clocks=4, options=options))
    fidelity = trace.manifest["fidelity"]
    assert fidelity["overran_share"] > 0.5
    assert fidelity["verdict"] == "not faithful"
    assert "longer than its modelled time" in fidelity["reason"]
    assert "time_scale" in fidelity["advice"]


def test_progress_is_told():
    seen = []
    pskit.run(config("ssp", clocks=30, scale=0.03), progress=lambda *state: seen.append(state))
    assert seen
    for done, total, info in seen:
        assert total == 30
        assert info["clock_min"] == done <= info["clock_max"]
        assert info["messages"] >= info["in_flight"] >= 0
        assert 0 <= info["waiting_share"] <= 1


def test_more_processes_than_can_be_are_refused(monkeypatch):
    layout = Layout([TableSpec("x", 1, 1)])
    with pytest.raises(pskit.InputError, match="a process for each client"):
        LiveRun(config("ssp", cluster={"clients": 1000}), layout)
    monkeypatch.setattr(limits, "open_files_allowed", lambda: 1024)
    with pytest.raises(pskit.InputError, match="need 1206 open files, and 1024 are allowed"):
        LiveRun(config("ssp", cluster={"clients": 190}), layout)


@pytest.mark.slow
def test_where_there_is_no_fork_server_processes_are_spawned(monkeypatch):
    monkeypatch.setattr(starting, "METHOD", "spawn")
    check(pskit.run(config("essp")))

"""VAP with real processes: one arbiter in shared memory, and nobody left hanging."""

import os
import signal

import pytest

import pskit
from pskit.errors import InputError, RunFailed
from pskit.runtime.live.arena import Arena


def config(v0=0.3, clocks=6, **more):
    return pskit.Config(
        app={"name": "tests.runtime.signs:Medians", "clocks": clocks, "step": 0.1, "options": {"dim": 3}}
        | more.pop("app", {}),
        ps={"policy": "vap", "v0": v0, "shards": 2} | more.pop("ps", {}),
        cluster={"clients": 3, "threads": 2, "placement": "separate"},
        compute={"model": "exponential", "mean": "1s"},
        network={"latency": {"model": "constant", "mean": "200ms"}},
        run={"runtime": "live", "time_scale": 0.02, "trace": "full"} | more,
    )


def test_every_view_is_within_v_of_the_reference_state():
    trace = pskit.run(config())
    starts = trace.columns("starts")
    assert trace.status == "finished"
    assert starts["t"].tolist() == list(range(1, 37))
    assert (starts["distance"] <= starts["v"] * (1 + 1e-9)).all()
    assert (starts["distance"] > 0).any()
    assert starts["waited"].sum() == trace.columns("clocks")["t_wait"].sum() > 0
    kinds = {kind: counts["messages"] for kind, counts in trace.manifest["gate"]["by_kind"].items()}
    assert (kinds["asked"], kinds["granted"], kinds["over"], kinds["announced"]) == (36, 36, 36, 72)
    report = pskit.audit(trace)
    assert report.ok, str(report)


def test_a_tiny_threshold_is_a_serial_execution():
    """In the order of t each computation has seen all others: nothing was reserved by anybody else."""
    trace = pskit.run(config(v0=1e-9, clocks=2))
    starts = trace.columns("starts")
    assert (starts["others"] == 0).all()
    assert (starts["distance"] == 0).all()
    assert pskit.audit(trace).ok


def test_a_killed_client_leaves_nobody_hanging():
    """It dies with a reservation that keeps the others out; the launcher ends the run and says who died."""
    with pytest.raises(RunFailed, match=r"client 1 .*was killed by SIGKILL"):
        pskit.run(config(v0=1e-9, app={"name": "tests.runtime.signs:Doomed"}))


def test_the_lock_of_an_arena_goes_with_the_process_that_holds_it():
    with Arena.create(4096) as arena:
        told, tell = os.pipe()
        child = os.fork()
        if child == 0:
            with arena.locked():
                os.write(tell, b"!")
                signal.pause()
        os.read(told, 1)  # it has the lock
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with arena.locked():
            pass
        os.close(told)
        os.close(tell)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"on_death": "continue"}, "leave run.on_death at 'stop'"),
        ({"record": True}, "leave run.record out"),
        ({"ps": {"cache_rows": 2}}, r"must hold all 3 rows of this application"),
    ],
)
def test_what_it_cannot_do(more, message):
    with pytest.raises(InputError, match=message):
        pskit.run(config(**more))

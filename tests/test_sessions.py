"""Sessions, in virtual and in real time: what calls return, whom they wait for, and that nothing is left."""

import contextlib
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import pskit
from pskit.core.layout import TableSpec

RUNTIMES = ("sim", "live")
SPECS = [TableSpec("w", 5, 2), TableSpec("n", 3, 1, "i8")]


def config(runtime, policy="ssp", clients=3, app=None, **given):
    run = {"runtime": runtime, "trace": "full"} | ({"time_scale": 0.005} if runtime == "live" else {})
    slack = {"slack": given.pop("slack", 1)} if policy in ("ssp", "essp") else {}
    return pskit.Config(
        app=app or {"name": "quadratic", "dim": 6, "step": 0.1, "clocks": 20},
        ps={"policy": policy, "shards": 2, **slack},
        cluster={"clients": clients, "placement": "separate", **given},
        run=run,
    )


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("policy", ["ssp", "essp", "bsp", "asp"])
def test_the_calls_of_the_docstring(runtime, policy):
    with pskit.session(config(runtime, policy, clients=1), SPECS) as ps:
        t = ps.table("w")
        assert t.get(3).tolist() == [0, 0]
        t.inc(3, [1, 2])
        assert t.get(3).tolist() == [1, 2]  # its own, at once
        ps.clock()
        assert ps.clock_index == 1
        assert t.get([3, 0, 3]).tolist() == [[1, 2], [0, 0], [1, 2]]
        t.inc([0, 0], 0.5)  # broadcast, and added up
        ps.table("n").inc(2, 7)
        w, n = ps.get((t, [0]), (ps.table("n"), [2, 1]))
        assert (w.tolist(), n.tolist()) == ([[1, 1]], [[7], [0]])
        ps.clock()
        before = ps.now
        assert ps.compute(np.sum, np.arange(4), cost=2) == 6
        assert ps.now > before
        trace = ps.close()
        assert ps.close() is None
    assert trace.status == "finished"
    assert pskit.audit(trace).ok
    assert trace.table("w").tolist() == [[1, 1], [0, 0], [0, 0], [1, 2], [0, 0]]
    assert trace.table("n").tolist() == [[0], [0], [7]]


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_others_run_the_application_and_wait_for_you(runtime, tmp_path):
    with pskit.session(config(runtime), out=tmp_path / "run") as ps:
        x = ps.table("x")
        ps.sleep("30s")
        assert ps.clocks == [0, 2, 2]  # slack 1: they wait at clock 2 for this worker's first
        for _ in range(5):
            x.get(np.arange(6))
            x.inc(0, 0.25)
            ps.clock()
        ps.sleep("30s")
        assert ps.clocks == [5, 7, 7]
        assert "5" not in repr(x)
        with pytest.raises(pskit.InputError, match="worker 1 is not in your hands"):
            ps.worker(1)
    trace = pskit.open_trace(tmp_path / "run")
    assert trace.status == "interrupted"
    assert pskit.audit(tmp_path / "run").ok
    assert np.count_nonzero(trace.columns("clocks")["worker"] == 0) == 5


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_get_that_would_never_return_says_whom_it_waits_for(runtime):
    cfg = config(runtime, clients=1, threads=2)
    with pskit.session(cfg, SPECS, workers=(0, 1)) as ps:
        t = ps.table("w")
        t.get(1)
        ps.clock()
        ps.clock()
        with pytest.raises(pskit.Blocked) as caught:
            t.get(1)
        message = str(caught.value)
        assert message.startswith("this GET would never return")
        assert "worker 0 at clock 2" in message
        assert "worker 1" in message.partition("n your hands")[0 if runtime == "sim" else 2]
        assert "clock 0" in message
        ps.worker(1).table("w").inc(1, [3, 4])
        ps.worker(1).clock()
        assert t.get(1).tolist() == [3, 4]  # the same call again
        assert pskit.audit(ps.close()).ok


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_what_is_wrong_is_said_and_the_session_goes_on(runtime):
    with pskit.session(config(runtime, clients=1), SPECS) as ps:
        t = ps.table("w")
        with pytest.raises(pskit.InputError, match=r"must lie in 0\.\.4"):
            t.get(9)
        with pytest.raises(pskit.InputError, match=r"shape \(1, 2\), or one that broadcasts"):
            t.inc(1, [1, 2, 3])
        with pytest.raises(pskit.InputError, match="non-finite value to row 1 of table 'w'"):
            t.inc(1, np.nan)
        with pytest.raises(pskit.InputError, match="would be cut"):
            ps.table("n").inc(1, 0.5)
        with pytest.raises(pskit.InputError, match="no table 'v'"):
            ps.table("v")
        with pytest.raises(pskit.InputError, match="a time"):
            ps.sleep("soon")
        with pytest.raises(pskit.AppError, match="compute kernel failed, worker 0 at clock 0: ZeroDivision"):
            ps.compute(lambda: 1 / 0)
        t.inc(1, 1)
        assert t.get(1).tolist() == [1, 1]
    for call in (lambda: ps.table("w"), lambda: t.get(1), ps.clock, lambda: ps.now):
        with pytest.raises(pskit.InputError, match="this session is closed"):
            call()


@pytest.mark.parametrize(
    ("runtime", "given", "message"),
    [
        ("sim", {"workers": ()}, "one or more of the workers 0 to 2"),
        ("sim", {"workers": (3,)}, "one or more of the workers 0 to 2"),
        ("sim", {"tables": []}, "1 to 255 tables"),
        ("sim", {"tables": [("w", 0, 1)]}, "at least one row"),
        ("live", {"workers": (0, 1)}, "have to be on one"),
    ],
)
def test_a_session_that_cannot_be(runtime, given, message):
    with pytest.raises(pskit.InputError, match=message):
        pskit.session(config(runtime), **given)


def test_a_session_keeps_no_record_and_has_no_gate():
    live = pskit.Config(run={"runtime": "live", "record": True})
    with pytest.raises(pskit.InputError, match="cannot be replayed"):
        pskit.session(live, SPECS)
    with pytest.raises(pskit.InputError, match="has no such gate"):
        pskit.session(pskit.Config(ps={"policy": "vap", "v0": 1.0}), SPECS)


class Interrupts:
    """Presses Ctrl-C in every kernel of worker 1."""

    def tables(self, cfg):
        return SPECS

    def init(self, ctx):
        pass

    async def work(self, ps):
        for _ in range(50):
            await ps.compute(press, ps.worker == 1 and ps.clock_index > 0)
            await ps.clock()

    def objective(self, tables):
        return {"loss": 1.0}


def press(key):
    if key:
        os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupted_call_of_virtual_time_leaves_everything_in_order():
    app = {"name": f"{__name__}:Interrupts", "clocks": 50}
    with pskit.session(config("sim", app=app)) as ps:
        t = ps.table("w")
        t.get(0)
        for _ in range(3):
            ps.clock()
        with pytest.raises(KeyboardInterrupt):
            t.get(0)  # waits for the others
        t.inc(0, 1)
        while True:
            try:
                assert t.get(0).tolist() == [1, 1]
            except KeyboardInterrupt:
                continue
            break
        assert pskit.audit(ps.close()).ok


def test_an_interrupted_call_of_real_time_leaves_everything_in_order():
    with pskit.session(config("live")) as ps:
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            ps.sleep("10h")
        timer.join()
        assert ps.table("x").get(0).shape == (1,)
        assert pskit.audit(ps.close()).ok


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_second_ctrl_c_closes_the_session(runtime):
    def press_twice():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    ps = pskit.session(config(runtime), SPECS)
    t = ps.table("w")
    with pytest.raises(KeyboardInterrupt):
        ps.compute(press_twice)
    assert repr(ps) == "<session: closed>"
    with pytest.raises(pskit.InputError, match="this session is closed"):
        t.get(0)
    assert ps.close() is None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_session_has_one_call_at_a_time(runtime):
    said = []

    def another():
        for call in (lambda: t.get(0), lambda: t.inc(0, 1), ps.clock, lambda: ps.sleep("1s"), ps.close):
            try:
                call()
            except pskit.InputError as error:
                said.append(str(error))
        said.append(ps.now)  # to look is no call

    def meanwhile():
        thread = threading.Thread(target=another, name="the other")
        thread.start()
        thread.join()
        with pytest.raises(pskit.InputError, match="this session is in a call already: a session has one"):
            t.get(0)

    with pskit.session(config(runtime, clients=1), SPECS) as ps:
        t = ps.table("w")
        ps.compute(meanwhile)
        *refused, now = said
        assert len(refused) == 5
        assert all(
            "is in a call of the thread 'MainThread': a session has one call" in one for one in refused
        )
        assert now >= 0
        thread = threading.Thread(target=t.inc, args=(0, 2))  # one after the other, any thread may call
        thread.start()
        thread.join()
        assert t.get(0).tolist() == [2, 2]
        ps.clock()
        assert pskit.audit(ps.close()).ok


def test_an_error_ends_the_session_once_the_call_of_another_thread_is_over():
    begun, results = threading.Event(), []

    def work(ps):
        t = ps.table("w")

        def kernel():
            begun.set()
            return 5

        results.append(ps.compute(kernel, cost=0))
        with contextlib.suppress(pskit.InputError):  # it is closed, or is being closed
            while True:
                t.inc(0, 1)

    ps = pskit.session(config("sim", clients=1), SPECS)
    thread = threading.Thread(target=work, args=(ps,))
    thread.start()
    begun.wait()
    with pytest.raises(ZeroDivisionError), ps:
        raise ZeroDivisionError
    thread.join()
    assert results == [5]
    with pytest.raises(pskit.InputError, match="this session is closed"):
        ps.clock()


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_an_abandoned_session_ends_by_itself(runtime):
    def use():
        table = pskit.session(config(runtime), SPECS).table("w")
        assert table.get(3).tolist() == [0, 0]  # the table alone keeps the session open
        assert (len(multiprocessing.active_children()) > 0) == (runtime == "live")
        return weakref.ref(table._call.__self__._held.cluster)

    cluster = use()
    assert not multiprocessing.active_children()
    gc.collect()
    assert cluster() is None


def test_a_session_that_is_open_at_the_end_of_python_ends_with_it():
    code = (
        "import multiprocessing, pskit\n"
        "cfg = pskit.Config(cluster={'clients': 2}, run={'runtime': 'live', 'time_scale': 0.005})\n"
        "ps = pskit.session(cfg, [pskit.TableSpec('w', 4, 2)])\n"
        "ps.table('w').get(0)\n"
        "print(*(p.pid for p in multiprocessing.active_children()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[1]
    )
    assert (done.returncode, done.stderr) == (0, "")
    pids = done.stdout.split()
    assert len(pids) == 2
    assert not any(Path(f"/proc/{pid}/cmdline").exists() for pid in pids)


def test_the_death_of_another_process_is_told():
    with pytest.raises(pskit.RunFailed, match=r"the server .* was killed by SIGKILL"):
        kill_the_server()


def kill_the_server():
    with pskit.session(config("live")) as ps:
        (server,) = [p for p in multiprocessing.active_children() if p.name == "the server"]
        os.kill(server.pid, signal.SIGKILL)
        while True:
            ps.table("x").get(0)
            ps.clock()


def test_a_session_on_a_terminal_says_nothing_on_stderr():
    code = (
        "import pskit\n"
        "cfg = pskit.Config(cluster={'clients': 2}, run={'runtime': 'live', 'time_scale': 0.005})\n"
        "with pskit.session(cfg, [pskit.TableSpec('w', 4, 2)]) as ps:\n"
        "    ps.table('w').inc(3, 1.5)\n"
        "    ps.clock()\n"
        "    print(ps.table('w').get(3))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[1]
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1.5 1.5]\n", "")

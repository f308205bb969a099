"""Processes that die, stop or fail: the run ends at once with one message, or goes on; nothing is left.

Every signal is really sent. Deadlines are generous: a test asserts what happened, never how fast.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import pskit
from pskit.runtime.base import Stuck
from tests.runtime.live.runs import POLICIES, config
from tests.runtime.live.waiting import PATIENCE, meanwhile, told, wait_for

ROOT = Path(__file__).parents[3]
LONG = 10_000
TOLD = "tests.runtime.live.apps:Told"
NAME = f"pskit-test-faults-{os.getpid()}"


def test_a_worker_that_is_killed_ends_the_run(tmp_path, nothing_left):
    cfg = config("ssp", TOLD, clocks=LONG, options={"folder": str(tmp_path)}, ps={"shards": 2})
    with (
        meanwhile(lambda: os.kill(told(tmp_path / "worker-1"), signal.SIGKILL)),
        pytest.raises(pskit.RunFailed) as caught,
    ):
        pskit.run(cfg, out=tmp_path / "run")
    message = str(caught.value)
    pid = (tmp_path / "worker-1").read_text()
    assert message.startswith(f"client 1 (process {pid}; worker 1 at clock ")
    assert "was killed by SIGKILL, so the run cannot go on" in message
    assert "clocks of the shards: " in message
    assert not (tmp_path / "run").exists()


def test_the_message_says_what_the_others_waited_for(tmp_path, nothing_left):
    """The victim is stopped first, so that the others come to wait for it."""

    def stop_then_kill():
        victim = told(tmp_path / "worker-2")
        os.kill(victim, signal.SIGSTOP)
        with pskit.attach(NAME) as seen:
            wait_for(lambda: (seen.waiting[:2] > 0).all() and (seen.clocks[:2] > seen.clocks[2] + 2).all(),
                     "that both others wait for it")  # fmt: skip
        os.kill(victim, signal.SIGKILL)

    cfg = config("ssp", TOLD, clocks=LONG, options={"folder": str(tmp_path)}, run={"publish": NAME})
    with meanwhile(stop_then_kill), pytest.raises(pskit.RunFailed) as caught:
        pskit.run(cfg)
    message = str(caught.value)
    assert "; worker 2 at clock " in message.partition("killed")[0]
    for worker in (0, 1):
        assert f"worker {worker} at clock " in message
    assert "waited for 8 rows of clock " in message


def test_a_killed_server_ends_the_run(tmp_path, nothing_left):
    app = "tests.runtime.live.apps:TellsServer"
    cfg = config("essp", app, clocks=LONG, options={"folder": str(tmp_path)})
    with (
        meanwhile(lambda: os.kill(told(tmp_path / "server"), signal.SIGKILL)),
        pytest.raises(pskit.RunFailed, match=r"^the server \(process \d+\) was killed by SIGKILL"),
    ):
        pskit.run(cfg)


def test_a_process_that_ends_by_itself_ends_the_run(tmp_path, nothing_left):
    options = {"fail": 0, "how": "exit", "folder": str(tmp_path)}
    with pytest.raises(pskit.RunFailed, match=r"client 0 .* ended with exit code 7"):
        pskit.run(config("bsp", TOLD, clocks=LONG, options=options))


def test_a_kernel_that_raises_is_told_with_its_place(nothing_left):
    options = {"fail": 1, "how": "raise"}
    message = r"Told': work\(\) failed, worker 1 at clock 2: ZeroDivisionError: a kernel went wrong"
    with pytest.raises(pskit.AppError, match=message) as caught:
        pskit.run(config("ssp", TOLD, clocks=LONG, options=options))
    assert "in fail" in "".join(caught.value.__notes__)


def test_wrong_input_is_the_users(nothing_left):
    options = {"fail": 1, "how": "refuse"}
    with pytest.raises(pskit.InputError, match=r"^app.options: this will not do$"):
        pskit.run(config("ssp", TOLD, clocks=LONG, options=options))


@pytest.mark.parametrize("who", ["worker-0", "server"])
def test_who_is_stopped_for_5_s_goes_on_as_if_nothing_had_been(tmp_path, nothing_left, who, capfd):
    """And meanwhile the watchdog says who waits for whom."""

    def stop_and_continue():
        pid = told(tmp_path / who)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(5.0)
        os.kill(pid, signal.SIGCONT)

    app = "tests.runtime.live.apps:TellsServer"
    cfg = config("essp", app, clocks=40, scale=0.04, options={"folder": str(tmp_path)})
    with meanwhile(stop_and_continue):
        trace = pskit.run(cfg)
    said = capfd.readouterr().err
    assert said.startswith("pskit: nothing has moved for 3 s: ")
    name = "the server" if who == "server" else "client 0"
    assert f"{name} (process {told(tmp_path / who)}) is stopped; " in said
    assert "worker 1 at clock " in said
    assert len(said.splitlines()) == 1, "once"
    assert trace.status == "finished"
    assert pskit.audit(trace).ok
    assert trace.table("n").tolist() == [[120, 120]] * 4
    late = trace.manifest["fidelity"]["overshoot_us" if who == "worker-0" else "lateness_us"]
    assert late["max"] > 1e6


def test_when_nothing_moves_the_run_says_who_waits(nothing_left, monkeypatch):
    monkeypatch.setitem(POLICIES, "never", {"policy": "tests.runtime.live.apps:Never", "slack": 0})
    with pytest.raises(
        Stuck, match=r"more: worker 0 at clock (\d+) waited for 8 rows of clock \1; worker 1 at clock "
    ):
        pskit.run(config("never", TOLD, clocks=LONG))


# -- runs in a process of their own -----------------------------------------------------------------

COMMAND = "from pskit.cli import main; main()"


@contextlib.contextmanager
def command(tmp_path, clocks=LONG, **given):
    """`pskit run` of a long run in its own session; ended whatever happens."""
    options = {"folder": str(tmp_path)}
    cfg = config("ssp", "tests.runtime.live.apps:TellsServer", clocks=clocks, options=options, **given)
    (tmp_path / "long.toml").write_text(cfg.to_toml())
    arguments = [sys.executable, "-W", "error", "-c", COMMAND, "run", str(tmp_path / "long.toml")]
    with subprocess.Popen(
        [*arguments, "--out", str(tmp_path / "run"), "--quiet"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def members(session):
    """Processes of a session that are still there."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(stat.parent.name))
    return found


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@needs_proc
def test_when_the_launcher_is_killed_everything_goes_with_it(tmp_path):
    with command(tmp_path) as process:
        for name in ("worker-0", "worker-1", "worker-2", "server"):
            told(tmp_path / name)
        assert len(members(process.pid)) >= 5
        process.kill()
        process.wait()
        wait_for(lambda: not members(process.pid), "the end of all children")


@needs_proc
def test_ctrl_c_keeps_the_trace_so_far(tmp_path):
    with command(tmp_path) as process:
        told(tmp_path / "server")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert err.strip() == f"interrupted; the trace so far is in {tmp_path / 'run'}"
        assert out == ""
        wait_for(lambda: not members(process.pid), "the end of all children")
    trace = pskit.open_trace(tmp_path / "run", verify=True)
    assert trace.status == "interrupted"
    assert len(trace.columns("clocks")["t_end"])
    assert pskit.audit(trace).ok


@needs_proc
def test_ctrl_c_at_the_start_leaves_nothing(tmp_path):
    with command(tmp_path, cluster={"clients": 8}) as process:
        wait_for(lambda: len(members(process.pid)) > 2, "the first child")
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, err
        assert err.startswith("interrupted; ")
        assert len(err.splitlines()) == 1
        wait_for(lambda: not members(process.pid), "the end of all children")


@needs_proc
def test_ctrl_c_while_saving_leaves_the_run_or_nothing(tmp_path):
    """A run with a table that takes a while to write; its folder is made under a hidden name first."""
    cfg = config("ssp", "tests.runtime.live.apps:Heavy", clocks=1)
    (tmp_path / "heavy.toml").write_text(cfg.to_toml())
    arguments = [sys.executable, "-W", "error", "-c", COMMAND, "run", str(tmp_path / "heavy.toml"), "--quiet"]
    with subprocess.Popen(
        [*arguments, "--out", str(tmp_path / "run")],
        cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        wait_for(lambda: any(tmp_path.glob(".run.partial-*/tables.npz")), "the first file of the folder")
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        wait_for(lambda: not members(process.pid), "the end of all children")
    assert process.returncode == 130, err
    assert len(err.splitlines()) == 1
    assert not list(tmp_path.glob(".run*"))
    if (tmp_path / "run").exists():
        assert err.strip() == f"interrupted; the trace is in {tmp_path / 'run'}"
        assert pskit.audit(tmp_path / "run").ok
    else:
        assert err.strip() == "interrupted; nothing was written"


needs_setpriv = pytest.mark.skipif(
    shutil.which("setpriv") is None or shutil.which("prlimit") is None or os.getuid() != 0,
    reason="needs the superuser, prlimit and setpriv, to be a user whose processes the kernel counts",
)


def as_somebody_else(tmp_path, limit, command=COMMAND):
    """`pskit run` of 16 clients by a user who may have no more than ``limit`` processes."""
    with tempfile.TemporaryDirectory() as folder:  # that of pytest is for one user only
        os.chmod(folder, 0o755)
        many = Path(folder, "many.toml")
        many.write_text(config("ssp", TOLD, cluster={"clients": 16}).to_toml())
        return subprocess.run(
            ["prlimit", f"--nproc={limit}", "setpriv", "--ruid=65534",
             "--bounding-set=-sys_resource,-sys_admin", sys.executable, "-c", command,
             "run", str(many), "--out", str(tmp_path / "run"), "--quiet"],
            cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip


@needs_setpriv
def test_more_processes_than_the_limit_are_refused_before_the_first(tmp_path):
    done = as_somebody_else(tmp_path, 20)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cluster.clients = 16: their processes have 36 threads, and ")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


@needs_setpriv
def test_a_process_that_cannot_be_started_after_all_ends_the_run(tmp_path):
    """Somebody else took the room meanwhile: here, the look at the limit finds none."""
    blind = f"from pskit.runtime.live import limits; limits.tasks_left = lambda: None; {COMMAND}"
    done = as_somebody_else(tmp_path, 20, blind)
    assert done.returncode == 4
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: client ")
    assert "raise the limit (ulimit -u, or that of the container)" in last or "can't start new thread" in last
    assert not (tmp_path / "run").exists()


@needs_proc
@pytest.mark.skipif(shutil.which("prlimit") is None, reason="needs prlimit")
def test_a_segment_that_the_system_refuses_is_one_clear_message(tmp_path):
    """No file, and shared memory is one, may grow beyond 100 kB: a real error of the real call."""
    (tmp_path / "few.toml").write_text(config("ssp", TOLD).to_toml())
    done = subprocess.run(
        ["prlimit", "--fsize=100000", sys.executable, "-c", COMMAND, "run", str(tmp_path / "few.toml"),
         "--out", str(tmp_path / "run"), "--quiet"],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: no shared memory of ")
    assert "File too large" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


@needs_proc
def test_the_command_ends_with_4_and_one_paragraph(tmp_path):
    with command(tmp_path) as process:
        os.kill(told(tmp_path / "worker-1"), signal.SIGKILL)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 4
        assert err.startswith("error: client 1 (process ")
        assert len(err.splitlines()) == 1
        wait_for(lambda: not members(process.pid), "the end of all children")
    assert not (tmp_path / "run").exists()


@needs_proc
def test_the_command_goes_on_with_a_remark(tmp_path):
    with command(tmp_path, run={"on_death": "continue"}, clocks=60, scale=0.02) as process:
        os.kill(told(tmp_path / "worker-1"), signal.SIGKILL)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert err.startswith("remark: client 1 (process ")
        assert len(err.splitlines()) == 1
        wait_for(lambda: not members(process.pid), "the end of all children")
    assert pskit.audit(tmp_path / "run").ok


@pytest.mark.slow
def test_a_script_that_forgets_to_guard_its_main_part_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import pskit\n"
        "pskit.run(pskit.Config(app={'name': 'quadratic', 'clocks': 1}, cluster={'clients': 1},\n"
        "                       run={'runtime': 'live', 'time_scale': 0.001}))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 1
    assert 'it must call pskit.run under `if __name__ == "__main__":`' in done.stderr

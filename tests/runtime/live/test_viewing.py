"""Runs that are published, and processes that look at them: real ones, that end in every way."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pskit
from pskit.runtime.live import arena, names
from tests.runtime.live.runs import config
from tests.runtime.live.waiting import PATIENCE, meanwhile, wait_for

ROOT = Path(__file__).parents[3]
TOLD = "tests.runtime.live.apps:Told"
NAME = f"pskit-test-{os.getpid()}"


def is_there(name=NAME):
    try:
        os.close(names.look_at(name))
    except pskit.InputError:
        return False
    return True


def published(clocks=10_000, name=NAME, **given):
    return config("essp", TOLD, clocks=clocks, run={"publish": name}, ps={"shards": 2}, **given)


@contextlib.contextmanager
def going_on(name=NAME):
    """A published run in a process of its own; interrupted at the end."""
    code = (
        "import sys, pskit\n"
        "from tests.runtime.live.test_viewing import published\n"
        "try:\n"
        f"    pskit.run(published(name={name!r}))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_for(lambda: is_there(name) or run.poll() is not None, "the name")
        wait_for(lambda: has_begun(name), "the first clocks")
        yield run
    finally:
        if run.poll() is None:
            run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=PATIENCE)
    assert (out, err) == ("interrupted\n" if run.returncode == 0 else "", "")


def has_begun(name=NAME):
    try:
        with pskit.attach(name) as viewer:
            return viewer.status == "running" and viewer.clocks.min() > 3
    except pskit.InputError:
        return False  # not complete yet


def look(code, name=NAME):
    """Attach in another process and run ``code`` there."""
    text = f"import os, signal, time, numpy as np, pskit\nv = pskit.attach({name!r})\n{code}"
    return subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_viewer_sees_whole_rows_and_rising_clocks_and_may_end_in_any_way():
    with going_on() as run:
        with pskit.attach(NAME) as viewer:
            assert viewer.status == "running"
            assert [t.name for t in viewer.tables] == ["n", "x"]
            assert viewer.config["app"]["name"] == TOLD
            assert viewer.workers.shape == (3, 8)
            assert viewer.shard_clocks.shape == (2,)
            assert viewer.now > 0
            before, sums = viewer.clocks, set()
            while len(sums) <= 10:
                assert run.poll() is None
                for name in ("n", "x"):
                    rows = viewer.read(name)
                    assert (rows == rows[:, :1]).all()  # every INC adds the same to all entries of a row
                sums.add(float(rows[0, 0]))
                assert (viewer.waiting >= -1).all()
                copies = viewer.cached(1, "x")
                assert copies.rows.tolist() == [0, 1, 2, 3]
                assert (copies.values == copies.values[:, :1]).all()
                assert (copies.clock >= 0).all()
            assert (viewer.clocks >= before).all()
            assert np.array_equal(viewer.read("x", [3, 0]).shape, (2, 2))
            with pytest.raises(ValueError, match="read-only"):
                viewer.workers[0, 0] = 1
            for wrong in (
                lambda: viewer.read("y"),
                lambda: viewer.read("x", [4]),
                lambda: viewer.cached(3, "x"),
            ):
                with pytest.raises(pskit.InputError):
                    wrong()
            kept = viewer.workers
        assert kept[:, 0].min() > 0  # a view may outlive its viewer
        assert repr(viewer) == f"<run {NAME!r}: viewer closed, 3 workers>"
        for look_again in (
            lambda: viewer.read("x"),
            lambda: viewer.cached(1, "x"),
            lambda: viewer.status,
            lambda: viewer.now,
            lambda: viewer.clocks,
        ):
            with pytest.raises(pskit.InputError, match=f"viewer of the run {NAME!r} is closed: read within"):
                look_again()
        for ending in ("pass", "os.kill(os.getpid(), signal.SIGKILL)"):
            done = look(f"assert v.read('x').shape == (4, 2)\n{ending}")
            assert (done.stdout, done.stderr) == ("", "")
            assert is_there()
        with pytest.raises(pskit.InputError, match=r"the run of process \d+ is published under"):
            pskit.run(published(clocks=2))
        with pskit.attach(NAME) as viewer:  # the run goes on all the same
            clock = viewer.clocks.max()
            wait_for(lambda: viewer.clocks.max() > clock + 5, "the next clocks")
    assert not is_there()


def test_the_name_goes_with_the_run_and_what_was_attached_stays():
    cfg, seen = published(clocks=40, scale=0.02), []

    def watch():
        wait_for(has_begun, "the run")
        viewer = pskit.attach(NAME)
        wait_for(lambda: viewer.status == "ended", "the end")
        seen.append(viewer)

    with meanwhile(watch):
        trace = pskit.run(cfg)
    assert not is_there()
    (viewer,) = seen
    assert np.array_equal(viewer.read("x"), trace.table("x"))
    assert viewer.clocks.tolist() == [40, 40, 40]
    viewer.close()
    with pytest.raises(pskit.InputError, match="no run is published under this name"):
        pskit.attach(NAME)


def test_the_name_goes_when_the_launcher_is_killed():
    with going_on() as run:
        viewer = pskit.attach(NAME)
        run.kill()
        wait_for(lambda: not is_there(), "the end of the name")
        wait_for(lambda: viewer.status == "died", "the end of its processes")
        assert viewer.read("x").shape == (4, 2)
        viewer.close()


def test_what_a_dead_run_has_left_is_replaced():
    leave_behind(NAME)
    with pskit.attach(NAME) as viewer:
        assert viewer.status == "died"
    pskit.run(published(clocks=2))
    assert not is_there()


def leave_behind(name):
    """A process publishes a run's memory and is killed with its resource tracker."""
    code = (
        "import os, signal\n"
        "from multiprocessing import resource_tracker\n"
        "from pskit.core.layout import Layout\n"
        "from pskit.apps import make_app\n"
        "from pskit.runtime.live.plan import Plan\n"
        "from pskit.runtime.live.publishing import open_arena\n"
        "from tests.runtime.live.test_viewing import published\n"
        f"cfg = published(name={name!r})\n"
        "layout = Layout(make_app(cfg.app.name).tables(cfg), cfg.ps.shards)\n"
        "arena = open_arena(cfg, layout, Plan(cfg, layout))\n"
        "os.kill(resource_tracker._resource_tracker._pid, signal.SIGKILL)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    assert is_there(name)


def test_the_memory_of_others_is_left_alone():
    fd = names.make(NAME)
    try:
        os.ftruncate(fd, 4096)
        with pytest.raises(pskit.InputError, match="not that of a run"):
            pskit.attach(NAME)
        with pytest.raises(pskit.InputError, match="something else in shared memory has this name"):
            pskit.run(published(clocks=2))
        assert is_there()
    finally:
        os.close(fd)
        names.take_back(NAME)


def test_too_little_room_is_refused_before_anything_is_made(monkeypatch):
    monkeypatch.setattr(
        arena.os, "statvfs", lambda path: type("Room", (), {"f_bavail": 1, "f_frsize": 4096})()
    )
    with pytest.raises(pskit.InputError, match=r"share [\d.]+ [KM]iB, and 4 KiB in /dev/shm are free"):
        pskit.run(published(clocks=2))
    assert not is_there()


def test_a_name_that_cannot_be_made_is_refused(monkeypatch):
    def refuse(name, flags, mode=0):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(names, "shm_open", refuse)
    with pytest.raises(
        pskit.InputError, match=r"no shared memory of this name can be made in /dev/shm \(Read-only"
    ):
        pskit.run(published(clocks=2))


def test_a_run_whose_processes_are_all_killed_at_once_has_died():
    with going_on() as run:
        with pskit.attach(NAME) as viewer:
            pids = [run.pid, *children(run.pid)]
            assert viewer.status == "running"
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)  # so that none of them can act when another one ends
            assert viewer.status == "running"
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            wait_for(lambda: viewer.status == "died", "the end of all")
            assert is_there()
            assert viewer.read("x").shape == (4, 2)
        run.wait()
    pskit.run(published(clocks=2))  # the name is free
    assert not is_there()


def children(pid):
    """Ids of all processes that descend from ``pid``."""
    of = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            of.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(
                int(stat.parent.name)
            )
    found = [pid]
    for one in found:
        found += of.get(one, [])
    return found[1:]

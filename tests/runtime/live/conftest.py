"""What must be gone after a run, however it ended."""

import multiprocessing
import os
from pathlib import Path

import pytest

import pskit
from tests.runtime.live.runs import config
from tests.runtime.live.waiting import wait_for


def is_gone(pid):
    """Whether there is no such process; a zombie whose parent has not looked yet counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def named_memory():
    """Names in /dev/shm, without those that other tests give their runs on purpose."""
    names = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    return {name for name in names if not name.startswith("pskit-test-")}


@pytest.fixture(scope="module")
def fork_server():
    """The fork server stays, and is not counted."""
    pskit.run(config("ssp", clocks=1))


@pytest.fixture
def nothing_left(tmp_path, fork_server):
    """After the test no child, no name in /dev/shm and no more open file than before."""
    shm = named_memory()
    before = descriptors()
    yield
    assert not multiprocessing.active_children()
    wait_for(lambda: all(is_gone(int(p.read_text())) for p in tmp_path.glob("worker-*")), "the end of all")
    assert descriptors() == before
    if shm:
        assert named_memory() <= shm

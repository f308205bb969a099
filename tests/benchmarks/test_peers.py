"""Peers answer rightly, leave nothing behind, and one that is absent says how to get it."""

import multiprocessing
import tempfile
from pathlib import Path

import numpy as np
import pytest

from benchmarks import ops
from benchmarks.peers import COLS, GET, INC, CallingPeer
from benchmarks.peers.mpi import MPI
from benchmarks.peers.redis_server import Redis
from benchmarks.peers.serving import Pipes, ZeroMQ


def installed(peer) -> None:
    if not peer.present():
        pytest.skip(f"{peer.name} is not installed")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    """Sockets and files of servers lie here; nothing of it is left."""
    place = Path(tempfile.mkdtemp(prefix="pskit-"))  # a short path: that of a Unix socket is limited
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield
    left = list(place.iterdir())
    place.rmdir() if not left else None
    assert left == []


@pytest.mark.parametrize("kind", [Pipes, ZeroMQ, Redis])
def test_what_was_added_is_read(kind: type[CallingPeer]) -> None:
    installed(kind)
    ids = np.array([3, 8, 90], np.int32)
    delta = np.arange(3 * COLS, dtype=np.float32).reshape(3, COLS)
    with kind() as peer:
        peer.inc(ids, delta)
        peer.inc(ids[:1], delta[:1] + 1)
        assert np.array_equal(peer.get(ids[1:]), delta[1:])
        row = peer.get(ids[:1])
        row += 1  # the caller's own
        assert np.array_equal(peer.get(ids[:1]), 2 * delta[:1] + 1)
        assert peer.seconds(GET, 1, 2) > 0
        server = getattr(peer, "_server", None)
    assert multiprocessing.active_children() == []
    assert server is None or server.returncode is not None


def test_mpi_measures_and_ends() -> None:
    installed(MPI)
    with MPI() as peer:
        assert all(0 < peer.seconds(operation, rows, 2) < 1 for operation in (GET, INC) for rows in (1, 20))
    assert peer._process.returncode == 0


def test_absent_peers_are_left_out_with_a_line(monkeypatch, capsys) -> None:
    monkeypatch.setattr(Redis, "present", classmethod(lambda cls: False))
    monkeypatch.setattr(ops, "PEERS", (Pipes, Redis))
    assert ops.present_peers() == [Pipes]
    (line,) = capsys.readouterr().out.splitlines()
    assert "Redis is left out: not installed" in line
    assert "pip install redis" in line

"""Peers with a server process of our own behind a pipe or a ZeroMQ socket: the plainest parameter servers."""

import multiprocessing
import tempfile
from abc import abstractmethod
from collections.abc import Callable
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from benchmarks.peers import COLS, ROWS, CallingPeer

SECONDS_TO_STOP = 5.0
_INT32 = np.dtype(np.int32).itemsize


def serve(receive: Callable[[], bytes], send: Callable[[Any], Any]) -> None:
    """Keep a table, and answer until an empty request comes.

    A request is the number of rows, their ids, and for an INC the values; an answer to a GET is the rows.
    """
    table = np.zeros((ROWS, COLS), np.float32)
    while request := receive():
        (n,) = np.frombuffer(request, np.int32, 1)
        ids = np.frombuffer(request, np.int32, n, _INT32)
        if len(request) == _INT32 * (1 + n):
            send(table.take(ids, axis=0, mode="clip"))
        else:
            table[ids] += np.frombuffer(request, np.float32, offset=_INT32 * (1 + n)).reshape(n, COLS)
            send(b"")


def _serve_pipe(line: Connection) -> None:
    serve(line.recv_bytes, line.send_bytes)


def _serve_zmq(address: str) -> None:
    import zmq

    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        socket.bind(address)
        serve(socket.recv, socket.send)


class _Serving(CallingPeer):
    """What both have in common: the process, and how requests are written."""

    _process: Any = None

    def _start(self, target: Callable[..., None], *arguments: Any) -> None:
        self._process = multiprocessing.get_context("spawn").Process(
            target=target, args=arguments, daemon=True
        )
        self._process.start()

    @abstractmethod
    def _ask(self, *parts: np.ndarray) -> Any:
        """Send a request and return the answer."""

    def get(self, ids: np.ndarray) -> np.ndarray:
        answer = self._ask(np.array([len(ids)], np.int32), ids)
        return np.frombuffer(answer, np.float32).reshape(len(ids), COLS).copy()

    def inc(self, ids: np.ndarray, delta: np.ndarray) -> None:
        self._ask(np.array([len(ids)], np.int32), ids, delta)

    def _join(self) -> None:
        self._process.join(SECONDS_TO_STOP)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


class Pipes(_Serving):
    """``multiprocessing.Pipe``."""

    name = "multiprocessing.Pipe"
    how = "part of Python"

    @classmethod
    def present(cls) -> bool:
        return True

    def __init__(self) -> None:
        self._line, far_end = multiprocessing.Pipe()
        self._start(_serve_pipe, far_end)
        far_end.close()

    def _ask(self, *parts: np.ndarray) -> bytes:
        self._line.send_bytes(b"".join(part.tobytes() for part in parts))
        return self._line.recv_bytes()

    def close(self) -> None:
        self._line.send_bytes(b"")
        self._join()
        self._line.close()


class ZeroMQ(_Serving):
    """A REQ and a REP socket of ZeroMQ, through a Unix socket."""

    name = "pyzmq"
    how = "pip install pyzmq"

    @classmethod
    def present(cls) -> bool:
        return find_spec("zmq") is not None

    def __init__(self) -> None:
        import zmq

        self._folder = tempfile.TemporaryDirectory(prefix="pskit-zmq-")
        address = f"ipc://{self._folder.name}/socket"
        self._start(_serve_zmq, address)
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.REQ)
        self._socket.connect(address)

    def _ask(self, *parts: np.ndarray) -> bytes:
        self._socket.send(b"".join(part.tobytes() for part in parts))
        answer: bytes = self._socket.recv()
        return answer

    def close(self) -> None:
        self._socket.send(b"")
        self._join()
        self._context.destroy(linger=0)
        self._folder.cleanup()

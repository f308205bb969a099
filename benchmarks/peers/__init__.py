"""Other ways to keep a table of float32 rows in another process, or in this one, for `pskit bench ops`.

Each is measured as its users use it, with one blocking call per operation. A peer is a context that begins
with what it needs (a server, a second process); on leaving it that is gone.
"""

import os
import shutil
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np

from benchmarks._rounds import some_rows

ROWS, COLS = 10_000, 100
MANY = 1000
GET, INC = "GET", "INC"


def operands(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Row ids (rows,) int32 and values (rows, `COLS`) float32 of an operation."""
    return some_rows(ROWS, rows), np.full((rows, COLS), 0.5, np.float32)


def program(name: str) -> str | None:
    """Path of a program beside this Python, where the package index puts some, or else on PATH."""
    places = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    return shutil.which(name, path=places)


class Peer(ABC):
    """One way; see the module.

    Attributes
    ----------
    name : str
    how : str
        How to get what it needs.
    """

    name = ""
    how = ""

    @classmethod
    @abstractmethod
    def present(cls) -> bool:
        """Whether what it needs is installed."""

    @abstractmethod
    def seconds(self, operation: str, rows: int, times: int) -> float:
        """Seconds per operation on ``rows`` rows, of ``times`` in a row."""

    @abstractmethod
    def close(self) -> None:
        """Stop everything that was started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


class CallingPeer(Peer):
    """A peer that is called in this process."""

    @abstractmethod
    def get(self, ids: np.ndarray) -> np.ndarray:
        """Rows ``ids`` (n,): (n, cols) float32 of the caller's own."""

    @abstractmethod
    def inc(self, ids: np.ndarray, delta: np.ndarray) -> None:
        """Add ``delta`` (n, cols) to them; it is in the table when this returns."""

    def seconds(self, operation: str, rows: int, times: int) -> float:
        ids, delta = operands(rows)
        begin = time.perf_counter()
        if operation == GET:
            for _ in range(times):
                self.get(ids)
        else:
            for _ in range(times):
                self.inc(ids, delta)
        return (time.perf_counter() - begin) / times

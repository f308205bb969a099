"""Fingerprints: of a schedule, of its values, of files, and of the package's own code."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

STREAMS = ("messages", "clocks", "updates", "reads")

AFTER_A_RUN = ("analysis", "auditing", "cli.py", "console", "explore", "repro")
"""Rooms of the package in which nothing happens before a run folder is written."""


class ScheduleHash:
    """SHA-256 over the integers of a schedule, as they come.

    Each kind of record has its own stream, so the result depends on the order within a kind but not on
    the sizes of the chunks in which the records arrive. Values never enter: for a policy whose timing
    does not depend on values the hash is the same on every platform.
    """

    def __init__(self) -> None:
        self._streams = {name: hashlib.sha256() for name in STREAMS}

    def update(self, stream: str, records: npt.NDArray[np.int64]) -> None:
        """Take in ``records`` (n, width) of one of `STREAMS`."""
        self._streams[stream].update(np.ascontiguousarray(records, dtype="<i8").data)

    def hexdigest(self) -> str:
        """Return the hash of everything so far; more may follow."""
        return hashlib.sha256(b"".join(s.digest() for s in self._streams.values())).hexdigest()


def value_hash(final: Iterable[npt.NDArray[Any]], losses: npt.NDArray[np.float64]) -> str:
    """SHA-256 over final tables and loss values, little-endian.

    Parameters
    ----------
    final : iterable of (rows, cols) array
        In table order.
    losses : (n,) float64
        In order of evaluation.
    """
    digest = hashlib.sha256()
    for values in (*final, np.asarray(losses, np.float64)):
        digest.update(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def run_value_hash(tables: Mapping[str, npt.NDArray[Any]], metrics: Mapping[str, npt.NDArray[Any]]) -> str:
    """`value_hash` of a run's ``final:`` tables and of its metric rows called ``loss``."""
    final = [values for key, values in tables.items() if key.startswith("final:")]
    return value_hash(final, metrics["value"][metrics["name"] == "loss"])


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


@lru_cache
def code_fingerprint() -> str:
    """Return the `source_fingerprint` of what makes a run: not of what looks at finished ones.

    Together with the config's fingerprint it says whether a finished run may be used again.
    """
    return source_fingerprint(Path(__file__).resolve().parents[1], AFTER_A_RUN)


def source_fingerprint(root: Path, leave_out: Collection[str] = ()) -> str:
    """SHA-256 over the names and contents of the ``.py`` files below ``root``.

    ``leave_out`` names files and folders directly in ``root`` that do not count.
    """
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py"), key=lambda p: p.relative_to(root).as_posix()):
        if path.relative_to(root).parts[0] in leave_out:
            continue
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()

"""The schedule hash, made again from the raw lines of a trace."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.trace.hashing import ScheduleHash
from pskit.trace.kernels import GOLDEN, mix64
from pskit.trace.schema import Columns

Array = npt.NDArray[Any]


def schedule_hash(
    messages: Columns, clocks: Columns, updates: Columns, reads: Columns, rows: Array, first: Array
) -> str:
    """Hash of the lines as the recorder took them in.

    Parameters
    ----------
    messages, clocks, updates, reads : mapping of str to array
        Columns of a whole trace.
    rows : (n,) int64
        Global row of each read.
    first : (n,) bool
        Whether each read is the first of its GET.
    """
    digest = ScheduleHash()
    digest.update("messages", _stacked(messages))
    digest.update("clocks", _stacked(clocks))
    digest.update("updates", _stacked({k: v for k, v in updates.items() if v.dtype.kind == "i"}))
    digest.update("reads", _heads(reads, rows, first))
    return digest.hexdigest()


def _stacked(columns: Columns) -> Array:
    return np.stack([values.astype(np.int64) for values in columns.values()], axis=1)


def _heads(r: Columns, rows: Array, first: Array) -> Array:
    """One line per GET: t, worker, clock, own_upto, waited, number of rows, and a word made of the rows."""
    start = np.flatnonzero(first)
    if not len(start):
        return np.empty((0, 7), np.int64)
    size = np.diff(np.append(start, len(r["t"])))
    place = (np.arange(len(r["t"])) - np.repeat(start, size) + 1).astype(np.uint64) * GOLDEN
    version, row = r["version"].astype(np.uint64), rows.astype(np.uint64)
    ids = (row << np.uint64(32)) | (r["own_from"].astype(np.uint64) & np.uint64(0xFFFFFFFF))
    rest = (r["age"].astype(np.uint64) << np.uint64(1)) | r["hit"].astype(np.uint64)
    fold = np.add.reduceat(mix64(mix64(mix64(version + place) ^ ids) ^ rest), start).view(np.int64)
    names = ("t", "worker", "clock", "own_upto", "waited")
    return np.stack([*(r[name][start].astype(np.int64) for name in names), size, fold], axis=1)

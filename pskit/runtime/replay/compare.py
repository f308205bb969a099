"""Whether two traces are the same run: line by line, each kind of line in the order of who made it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.trace.schema import Tables

Columns = Mapping[str, npt.NDArray[Any]]

# Lines are put in the order of these columns, and in their own where these are equal; then compared.
_WAYS: dict[str, tuple[str, ...]] = {
    "updates": ("shard", "apply_index"),
    "reads": ("worker",),
    "clocks": ("worker",),
    "members": ("shard",),
    "messages": ("process",),
    "metrics": (),
    "faults": (),
}
# When the first INC of a unit was made, a live worker may have known before time zero; the number of a
# message counts those of all processes, which have no common order.
_LEFT_OUT = {"updates": ("t_inc",), "messages": ("id",)}


def first_difference(recorded: Tables, replayed: Tables, clients: int) -> str | None:
    """The first line in which two runs differ, in words; None when there is none.

    Parameters
    ----------
    recorded, replayed : mapping
        Tables of the two traces.
    clients : int
        The shards come after them, and belong to one process.
    """
    for name, way in _WAYS.items():
        pair = [_in_order(name, way, tables[name], clients) for tables in (recorded, replayed)]
        found = _differing(name, *pair)
        if found is not None:
            return found
    return None


def first_different_table(recorded: Columns, replayed: Columns) -> str | None:
    """The first final table in which two runs differ in a bit, in words; None when there is none."""
    for key, values in recorded.items():
        if key.startswith("final:"):
            rows = np.flatnonzero((_bits(values) != _bits(replayed[key])).any(axis=1))
            if len(rows):
                return f"{len(rows)} rows of table {key.removeprefix('final:')!r}, the first is row {rows[0]}"
    return None


def _bits(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)


def _in_order(name: str, way: tuple[str, ...], table: Columns, clients: int) -> dict[str, npt.NDArray[Any]]:
    columns = {key: values for key, values in table.items() if key not in _LEFT_OUT.get(name, ())}
    if name == "messages":
        by_number = np.argsort(table["id"], kind="stable")
        columns = {key: values[by_number] for key, values in columns.items()}
        columns = {"process": np.minimum(columns["src"], clients), **columns}
    if not way:
        return columns
    order = np.lexsort([columns[key] for key in reversed(way)])
    return {key: values[order] for key, values in columns.items()}


def _differing(name: str, recorded: Columns, replayed: Columns) -> str | None:
    lengths = [len(next(iter(columns.values()))) for columns in (recorded, replayed)]
    n = min(lengths)
    unequal = np.zeros(n, np.bool_)
    for key, values in recorded.items():
        unequal |= ~_equal(values[:n], replayed[key][:n])
    if unequal.any():
        at = int(unequal.argmax())
    elif lengths[0] != lengths[1]:
        at = n
    else:
        return None
    said, did = (_line(columns, at) for columns in (recorded, replayed))
    return f"{name}: the record has {said}, the replay {did}"


def _equal(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where two columns are equal; a NaN is equal to a NaN."""
    same: npt.NDArray[np.bool_] = a == b
    return same | ((a != a) & (b != b)) if a.dtype.kind == "f" else same


def _line(columns: Columns, at: int) -> str:
    if at >= len(next(iter(columns.values()))):
        return "no more lines"
    return "(" + ", ".join(f"{key} {values[at]}" for key, values in columns.items()) + ")"

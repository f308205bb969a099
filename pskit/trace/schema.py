"""The tables of a run folder: their names, columns and dtypes, and the version of it all.

Times are integer nanoseconds of the emulated clock, sizes bytes, `clock` a count of finished clocks
from 0. Definitions of the recorded quantities: the project's protocol page, "What a trace records".
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

Columns = Mapping[str, npt.NDArray[Any]]
Tables = Mapping[str, Columns]

FORMAT = "pskit-run"
SCHEMA_VERSION = 1

# The code of a kind in `messages.kind` is its place here; new kinds go to the end.
MESSAGE_KINDS = ("request", "reply", "oplog", "push", "unsubscribe", "ack")

STATUSES = ("finished", "diverged", "interrupted")

_I4, _I8, _F8, _TEXT = "<i4", "<i8", "<f8", "U"

SCHEMA: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        # One line per row of a recorded GET; `row` counts within its table, `waited` is the GET's.
        "reads": {
            "t": _I8,
            "worker": _I4,
            "clock": _I4,
            "table": "|u1",
            "row": _I4,
            "shard": _I4,
            "version": _I8,
            "own_from": _I4,
            "own_upto": _I4,
            "age": _I4,
            "hit": "|b1",
            "waited": _I8,
        },
        "updates": {
            "worker": _I4,
            "clock": _I4,
            "shard": _I4,
            "seq": _I8,
            "apply_index": _I8,
            "t_inc": _I8,
            "t_sent": _I8,
            "t_applied": _I8,
            "l2": _F8,
            "linf": _F8,
        },
        "clocks": {
            "worker": _I4,
            "clock": _I4,
            "t_begin": _I8,
            "t_end": _I8,
            "t_compute": _I8,
            "t_wait": _I8,
        },
        # `t_deliver` is -1 where the message was lost.
        "messages": {
            "id": _I8,
            "kind": _I4,
            "src": _I4,
            "dst": _I4,
            "t_send": _I8,
            "t_deliver": _I8,
            "bytes": _I8,
            "rows": _I8,
        },
        "metrics": {"t": _I8, "clock": _I4, "name": _TEXT, "value": _F8},
        "members": {
            "t": _I8,
            "worker": _I4,
            "shard": _I4,
            "clock": _I4,
            "apply_index": _I8,
            "event": _TEXT,
        },
        "faults": {
            "t": _I8,
            "what": _TEXT,
            "worker": _I4,
            "clock": _I4,
            "table": _TEXT,
            "row": _I4,
            "detail": _TEXT,
        },
        # Exact counts over everything that happened, whatever share of the raw lines was kept.
        "histogram": {"clock": _I4, "age": _I4, "count": _I8},
        "read_totals": {"clock": _I4, "gets": _I8, "rows": _I8, "hits": _I8, "waited": _I8},
        "message_totals": {"clock": _I4, "kind": _I4, "count": _I8, "bytes": _I8, "rows": _I8},
    }
)


def as_columns(table: str, columns: Mapping[str, npt.ArrayLike]) -> dict[str, npt.NDArray[Any]]:
    """Bring the columns of ``table`` into the order and the dtypes of the schema.

    Parameters
    ----------
    table : str
        A key of `SCHEMA`.
    columns : mapping of str to array_like
        One (n,) array per column.

    Raises
    ------
    KeyError
        When the schema has no such table.
    ValueError
        When a column is missing, unknown, not one-dimensional, of another length than the others, or
        does not fit its dtype.
    """
    schema = SCHEMA[table]
    if set(columns) != set(schema):
        missing, unknown = sorted(set(schema) - set(columns)), sorted(set(columns) - set(schema))
        raise ValueError(f"table {table!r}: missing columns {missing}, unknown columns {unknown}")
    out = {name: _cast(table, name, np.asarray(columns[name]), dtype) for name, dtype in schema.items()}
    lengths = {name: len(values) for name, values in out.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"table {table!r}: the columns have unequal lengths {lengths}")
    return out


def _cast(table: str, name: str, values: npt.NDArray[Any], dtype: str) -> npt.NDArray[Any]:
    if values.ndim != 1:
        raise ValueError(f"table {table!r}, column {name!r}: shape {values.shape} is not one-dimensional")
    if dtype == _TEXT:
        return values if values.dtype.kind == "U" else values.astype(np.str_)
    target = np.dtype(dtype)
    if target.kind == "b" and values.size and (values.dtype != target or values.view(np.uint8).max() > 1):
        raise ValueError(f"table {table!r}, column {name!r}: not all values are true or false")
    if values.dtype == target:
        return values
    # A silently wrapped id or time would make a wrong trace that looks right.
    if values.size and target.kind in "iu":
        info = np.iinfo(target)
        if values.dtype.kind not in "iub" or values.min() < info.min or values.max() > info.max:
            raise ValueError(f"table {table!r}, column {name!r}: {values.dtype} values do not fit {target}")
    return values.astype(target)

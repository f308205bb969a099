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

DEATH = "death"
"""`faults.what` where a client died and the run went on: ``worker`` is its first. Its workers are *lost* to
the shards (`members.event`), and all that it took down itself is lost with it."""
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

MATRICES = frozenset({("views", "x"), ("gradients", "g"), ("row_updates", "u")})
"""Columns with a row of numbers in every line, (n, width)."""

# Tables that only some run folders have.
OPTIONAL: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        # Of a convex application: what a GET returned, one line per read, and what was made of it. The
        # tables' values stand in one line, table after table; `f` is the term's value at the view, `eta` the
        # step.
        "views": {"t": _I8, "worker": _I4, "clock": _I4, "x": _F8},
        "gradients": {"worker": _I4, "clock": _I4, "eta": _F8, "f": _F8, "g": _F8},
        # Of other applications: the updates of a keyed sample of rows; `u` is filled up with zeros where a
        # table has fewer columns than another.
        "row_updates": {"worker": _I4, "clock": _I4, "table": "|u1", "row": _I4, "u": _F8},
        # Under a policy with a gate: every start of a computation, numbered t = 1, 2, ...; `seq` is the
        # number of its worker's next update unit, `rows` how many it read. It waited for `waited` ns in all,
        # `stalled` of them at the gate, and was over at `t_over` (-1: never). `unseen` is the norm of what
        # it had not seen, `others` what the others had reserved, `distance` that of its view from the
        # reference state x^_t on the rows that it read, NaN where no values were kept, and `overshoot` what
        # of it is beyond `v`.
        "starts": {
            "t": _I8,
            "t_start": _I8,
            "t_over": _I8,
            "worker": _I4,
            "clock": _I4,
            "seq": _I8,
            "rows": _I8,
            "waited": _I8,
            "stalled": _I8,
            "v": _F8,
            "unseen": _F8,
            "others": _F8,
            "reservation": _F8,
            "distance": _F8,
            "overshoot": _F8,
        },
        # Of the first so many starts, every entry that they read (`view`; NaN where they did not) or added
        # `update` to, all INCs of the computation together.
        "start_values": {
            "t": _I8,
            "table": "|u1",
            "row": _I4,
            "col": _I4,
            "view": _F8,
            "update": _F8,
        },
        # What the processes of a live run did beside taking in messages, under `run.record`; see MOMENTS.
        "moments": {"what": _I4, "t": _I8, "who": _I4, "src": _I4, "t_from": _I8, "number": _I8},
    }
)

# The code of a kind in `moments.what` is its place here; new kinds go to the end. A client began; a worker's
# computation that began at `t_from` with the modelled duration `number` was found to be over (`t` is -1 where
# the run ended before); the retransmission timer with epoch `number` of the channel from `src` to `who` went
# off; a process did the last thing it did; the server put off what would have been its message `number`, a
# push from `src` to the client `who`; it sent that client what it was owed.
MOMENTS = ("began", "computed", "timer", "ended", "put off", "caught up")


def as_columns(table: str, columns: Mapping[str, npt.ArrayLike]) -> dict[str, npt.NDArray[Any]]:
    """Bring the columns of ``table`` into the order and the dtypes of the schema.

    Parameters
    ----------
    table : str
        A key of `SCHEMA` or `OPTIONAL`.
    columns : mapping of str to array_like
        One (n,) array per column, (n, width) for those of `MATRICES`.

    Raises
    ------
    KeyError
        When the schema has no such table.
    ValueError
        When a column is missing, unknown, of another shape, of another length than the others, or
        does not fit its dtype.
    """
    schema = SCHEMA[table] if table in SCHEMA else OPTIONAL[table]
    if set(columns) != set(schema):
        missing, unknown = sorted(set(schema) - set(columns)), sorted(set(columns) - set(schema))
        raise ValueError(f"table {table!r}: missing columns {missing}, unknown columns {unknown}")
    out = {name: _cast(table, name, np.asarray(columns[name]), dtype) for name, dtype in schema.items()}
    lengths = {name: len(values) for name, values in out.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"table {table!r}: the columns have unequal lengths {lengths}")
    return out


def _cast(table: str, name: str, values: npt.NDArray[Any], dtype: str) -> npt.NDArray[Any]:
    dimensions, what = (2, "two-dimensional") if (table, name) in MATRICES else (1, "one-dimensional")
    if values.ndim != dimensions:
        raise ValueError(f"table {table!r}, column {name!r}: shape {values.shape} is not {what}")
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

"""Every number names something that exists: what all other checks take for granted."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.auditing.case import KIND, Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.trace.schema import MESSAGE_KINDS, Columns

Array = npt.NDArray[Any]

UPWARD = [KIND[kind] for kind in ("request", "oplog", "unsubscribe")]
TOTALS = {"histogram": ("clock", "age"), "read_totals": ("clock",), "message_totals": ("clock", "kind")}
LOST = -1
DOWNWARD = [KIND[kind] for kind in ("reply", "push")]


def _outside(values: Array, size: int) -> Array:
    return (values < 0) | (values >= size)


def _line(table: str, columns: Columns, names: tuple[str, ...], i: int) -> str:
    said = ", ".join(f"{name} {columns[name][i]}" for name in names)
    return f"line {i} of the {table} does not fit this run: {said}"


def reads(case: Case) -> Finding | str:
    """Reads name a worker and a row of the run and its shard, no negative number, and a hit or no hit."""
    r = case.reads
    rows = np.array([t.rows for t in case.layout.tables])
    wrong = _outside(r["worker"], case.workers) | _outside(r["table"], len(rows))
    table = np.minimum(r["table"], len(rows) - 1)
    wrong |= _outside(r["row"], 1 << 31) | (r["row"] >= rows[table])
    wrong |= r["shard"] != (case.layout.offsets[table] + r["row"]) % case.shards
    for name in ("t", "clock", "version", "own_from", "own_upto", "age", "waited"):
        wrong |= r[name] < 0
    wrong |= r["clock"] > len(case.clocks["clock"])
    wrong |= r["hit"].view(np.uint8) > 1  # a byte that is neither true nor false
    return breaks(wrong, lambda i: _line("reads", r, tuple(r), i))


def updates(case: Case) -> Finding | str:
    """Updates name a worker and a shard of the run, and no negative number."""
    u = case.updates
    wrong = _outside(u["worker"], case.workers) | _outside(u["shard"], case.shards)
    for name in ("clock", "seq", "apply_index", "t_inc", "t_sent", "t_applied"):
        wrong |= u[name] < 0
    return breaks(wrong, lambda i: _line("updates", u, ("worker", "clock", "shard", "seq", "apply_index"), i))


def clocks(case: Case) -> Finding | str:
    """Clock records name a worker of the run."""
    c = case.clocks
    wrong = _outside(c["worker"], case.workers) | (c["clock"] < 0)
    return breaks(wrong, lambda i: _line("clocks", c, ("worker", "clock"), i))


def members(case: Case) -> Finding | str:
    """Members name a worker and a shard of the run, and leave, or are lost: all are there from the start."""
    m = case.members
    wrong = _outside(m["worker"], case.workers) | _outside(m["shard"], case.shards)
    lost = m["event"] == "lost"
    wrong |= ~(lost | (m["event"] == "left")) | (m["t"] < 0) | (m["clock"] < 0) | (m["apply_index"] < 0)
    wrong |= lost & ~case.dead[np.clip(m["worker"], 0, case.workers - 1)]
    return breaks(wrong, lambda i: _line("members", m, tuple(m), i))


def messages(case: Case) -> Finding | str:
    """Messages have a number of their own, go between client and shard as their kind does; none negative."""
    m = case.messages
    kind, ends = m["kind"], case.clients + case.shards
    wrong = _outside(kind, len(MESSAGE_KINDS)) | _outside(m["src"], ends) | _outside(m["dst"], ends)
    up, down = m["src"] < case.clients, m["dst"] < case.clients
    wrong |= (up == down) | (np.isin(kind, UPWARD) & ~up) | (np.isin(kind, DOWNWARD) & up)
    for name in ("t_send", "bytes", "rows"):
        wrong |= m[name] < 0
    wrong |= m["t_deliver"] < LOST
    _, first = np.unique(m["id"], return_index=True)
    again = np.ones(len(kind), np.bool_)
    again[first] = False
    if case.is_whole("messages"):
        wrong |= _outside(m["id"], len(kind))
    return breaks(wrong | again, lambda i: _line("messages", m, tuple(m), i))


def totals(case: Case) -> Finding | str:
    """Totals name each clock and age, or clock and kind, once; they count something, and nothing negative."""
    wrong: list[Array] = []
    for table, keys in TOTALS.items():
        columns = case.columns[table]
        bad = np.zeros(len(columns["clock"]), np.bool_)
        for name, values in columns.items():
            bad |= values < (1 if name in ("count", "gets") else 0)
        bad |= columns["clock"] > len(case.clocks["clock"])
        if "kind" in keys:
            bad |= columns["kind"] >= len(MESSAGE_KINDS)
        key = np.stack([columns[name] for name in keys], axis=1)
        again = np.ones(len(bad), np.bool_)
        again[np.unique(key, axis=0, return_index=True)[1]] = False
        wrong.append(bad | again)
    start = np.cumsum([0, *(len(w) for w in wrong)])

    def tell(i: int) -> str:
        at = int(np.searchsorted(start, i, side="right")) - 1
        table = list(TOTALS)[at]
        columns = case.columns[table]
        return _line(table, columns, tuple(columns), i - int(start[at]))

    return breaks(np.concatenate(wrong), tell)


CHECKS = (
    Check("ids of updates", updates),
    Check("ids of clocks", clocks),
    Check("ids of members", members),
    Check("ids of messages", messages),
    Check("ids of reads", reads),
    Check("ids of totals", totals),
)

"""Messages between explored machines, as values that can be compared.

Frozen messages carry row values in place of slots, and in place of a request's tag, which counts up, a
*label*: worker, need, rows, and a number that tells equal outstanding ones apart. A client takes the label
for its tag, since a shard only echoes it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pskit.core.messages import Entries, Increment, Message, Oplog, Part, Push, Reply, Request, Unsubscribe
from pskit.core.rows import RowPool
from pskit.explore.ledger import Counts

Rows = tuple[int, ...]


class Label(NamedTuple):
    """What a request is known by."""

    worker: int
    need: int
    rows: Rows
    number: int


class FrozenOplog(NamedTuple):
    """``parts``: rows and deltas."""

    worker: int
    clock: int
    seq: int
    parts: tuple[tuple[Rows, bytes], ...]
    leaving: bool


class FrozenIncrement(FrozenOplog):
    """It has parts where a tick has none, so the two are never equal."""

    __slots__ = ()


class FrozenRequest(NamedTuple):
    """Its label says everything."""

    label: Label


class FrozenUnsubscribe(NamedTuple):
    """Rows that are no longer cached."""

    rows: Rows


class FrozenReply(NamedTuple):
    """``counts``: all workers' units that the rows hold, which the message itself does not say."""

    rows: Rows
    values: bytes
    clock: int
    version: int
    applied: Counts
    label: Label
    counts: Counts


class FrozenPush(NamedTuple):
    """``entries``: rows, start, columns, values; ``counts`` as in a reply."""

    rows: Rows
    values: bytes
    entries: tuple[tuple[Rows, Rows, Rows, bytes], ...]
    clock: int
    version: int
    applied: Counts
    counts: Counts


Frozen = FrozenOplog | FrozenRequest | FrozenUnsubscribe | FrozenReply | FrozenPush


def rows_of(rows: Any) -> Rows:
    """Array (n,) of ints as a tuple."""
    return tuple(rows.tolist())


def ids(rows: Sequence[int]) -> Any:
    """Ints as an array (n,) int32 that may be written to, as compiled loops have been compiled for."""
    return np.array(rows, np.int32)


def freeze_to_shard(message: Message, label: Callable[[Request], Label]) -> Frozen:
    """A message of a client."""
    if isinstance(message, Oplog):
        parts = tuple((rows_of(part.rows), part.delta.tobytes()) for part in message.parts)
        kind = FrozenIncrement if isinstance(message, Increment) else FrozenOplog
        return kind(message.worker, message.clock, message.seq, parts, message.leaving)
    if isinstance(message, Request):
        return FrozenRequest(label(message))
    assert isinstance(message, Unsubscribe)
    return FrozenUnsubscribe(rows_of(message.rows))


def freeze_to_client(message: Message, pool: RowPool, counts: Counts) -> Frozen:
    """A message of a shard that has applied ``counts``."""
    if isinstance(message, Reply):
        label: Any = message.tag
        values = pool.values[message.slots].tobytes()
        return FrozenReply(
            rows_of(message.rows),
            values,
            message.clock,
            message.version,
            tuple(message.applied),
            label,
            counts,
        )
    assert isinstance(message, Push)
    entries = tuple(
        (rows_of(e.rows), rows_of(e.start), rows_of(e.cols), e.values.tobytes()) for e in message.entries
    )
    values = pool.values[message.slots].tobytes()
    return FrozenPush(
        rows_of(message.rows), values, entries, message.clock, message.version, tuple(message.applied), counts
    )


def thaw_to_shard(frozen: Frozen, cols: int) -> Message:
    """A message that a shard can take in; ``cols`` columns of int64."""
    if isinstance(frozen, FrozenOplog):
        parts = tuple(Part(0, ids(rows), matrix(delta, cols)) for rows, delta in frozen.parts)
        kind = Increment if isinstance(frozen, FrozenIncrement) else Oplog
        return kind(frozen.worker, frozen.clock, frozen.seq, parts, frozen.leaving, 0, 0)
    if isinstance(frozen, FrozenRequest):
        label: Any = frozen.label
        return Request(label.worker, ids(label.rows), label.need, label)
    assert isinstance(frozen, FrozenUnsubscribe)
    return Unsubscribe(ids(frozen.rows))


def thaw_to_client(frozen: Frozen, pool: RowPool) -> Message:
    """A message that a client can take in, its rows in fresh slots of the client's ``pool``."""
    assert isinstance(frozen, FrozenReply | FrozenPush)
    slots = pool.take(len(frozen.rows))
    pool.values[slots] = matrix(frozen.values, pool.values.shape[1])
    if isinstance(frozen, FrozenReply):
        label: Any = frozen.label
        return Reply(ids(frozen.rows), slots, frozen.clock, frozen.version, frozen.applied, label)
    entries = tuple(
        Entries(0, ids(rows), ids(start), ids(cols), np.frombuffer(values, np.int64).copy())
        for rows, start, cols, values in frozen.entries
    )
    return Push(ids(frozen.rows), slots, entries, frozen.clock, frozen.version, frozen.applied)


def matrix(values: bytes, cols: int) -> Any:
    """Bytes as rows (n, cols) int64."""
    return np.frombuffer(values, np.int64).reshape(-1, cols).copy()

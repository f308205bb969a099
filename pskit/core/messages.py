"""What travels between clients and server shards, and what the core asks of its runtime.

Messages are frozen values. Row values do not travel inside them: a message carries *slots* of a
`pskit.core.rows.RowPool`, immutable from the moment they are handed out. A runtime with one address
space passes them on as they are; one with several copies the rows into the receiver's pool.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.core.layout import Layout, RowIds

Slots = npt.NDArray[np.int32]
Values = npt.NDArray[Any]

HEADER_BYTES = 32
ROW_ID_BYTES = 4
CLOCK_BYTES = 8
ENTRY_BYTES = 2  # column number of one entry of a delta push


make = tuple.__new__
"""``make(Push, fields)`` is ``Push(*fields)`` without a Python call; for the places that run per message."""


class ProtocolViolation(RuntimeError):
    """A message or call that the rules forbid: names the event, who broke the rule, and the state."""


class Part(NamedTuple):
    """Updates of one table: ascending global rows (n,) and their sums (n, cols)."""

    table: int
    rows: RowIds
    delta: Values


class Oplog(NamedTuple):
    """Coalesced updates of one worker's clock for one shard; empty parts still carry the tick."""

    worker: int
    clock: int
    seq: int
    parts: tuple[Part, ...]
    leaving: bool
    t_inc: int  # when the unit was opened and sent; the runtime says, the core only carries it
    t_sent: int


class Increment(Oplog):
    """An oplog that leaves at INC, under a policy that does not wait for clock(): it carries no tick."""

    __slots__ = ()


class Request(NamedTuple):
    """GET miss: the shard answers once its clock reaches ``need``. ``tag`` is echoed by the reply."""

    worker: int
    rows: RowIds
    need: int
    tag: int


class Reply(NamedTuple):
    """Answer to a request: copies of the rows, the shard's clock and apply index.

    ``applied`` says, for each worker of the receiver, how many of its update units these copies contain.
    """

    rows: RowIds
    slots: Slots
    clock: int
    version: int
    applied: tuple[int, ...]
    tag: int


class Entries(NamedTuple):
    """Changed entries of some rows of one table, with their new values.

    ``cols[start[i]:start[i + 1]]`` are the changed columns of ``rows[i]``.
    """

    table: int
    rows: RowIds
    start: npt.NDArray[np.int32]
    cols: npt.NDArray[np.int32]
    values: Values


class Push(NamedTuple):
    """Eager update after a rise of the shard's clock: full rows, and under delta pushes entries.

    It confirms every row that the receiver subscribes to at this shard, changed or not.
    """

    rows: RowIds
    slots: Slots
    entries: tuple[Entries, ...]
    clock: int
    version: int
    applied: tuple[int, ...]


class Unsubscribe(NamedTuple):
    """The client no longer caches these rows and wants no pushes for them."""

    rows: RowIds


Message = Oplog | Request | Reply | Push | Unsubscribe


def wire_size(message: Message, layout: Layout) -> tuple[int, int]:
    """Bytes of ``message`` on an emulated card (header, row ids, values, clocks), and the rows it names."""
    size = HEADER_BYTES
    if isinstance(message, Oplog):
        n_rows = 0
        for table, rows, _ in message.parts:
            n_rows += len(rows)
            size += len(rows) * (ROW_ID_BYTES + layout.row_bytes[table])
        return size, n_rows
    n_rows = len(message.rows)
    size += ROW_ID_BYTES * n_rows
    if isinstance(message, Push | Reply):
        size += CLOCK_BYTES * len(message.applied)
        if n_rows:
            size += layout.payload_bytes(message.rows)
        if isinstance(message, Push):
            for e in message.entries:
                n_rows += len(e.rows)
                size += ROW_ID_BYTES * len(e.rows) + len(e.cols) * (ENTRY_BYTES + e.values.itemsize)
    return size, n_rows


class ToShard(NamedTuple):
    """Effect: send ``message`` to server ``shard``."""

    shard: int
    message: Message


class ToShards(NamedTuple):
    """Effect: send every server shard an oplog: ``tick``, with the ``parts`` for it if there are any."""

    tick: Oplog
    parts: dict[int, tuple[Part, ...]]

    def to(self, shard: int) -> Oplog:
        """The oplog for ``shard``."""
        return self.tick._replace(parts=self.parts[shard]) if shard in self.parts else self.tick

    def each(self, shards: int) -> list[ToShard]:
        """The same as one effect for each of ``shards``."""
        return [ToShard(j, self.to(j)) for j in range(shards)]


class ToClient(NamedTuple):
    """Effect: send ``message`` to ``client``."""

    client: int
    message: Message


class Read(NamedTuple):
    """Effect: a GET is complete and its worker may go on.

    All arrays are aligned with ``rows`` (n,): the row's shard apply index (``version``), the first own
    update unit added on top (``own_from``), its age in clocks and whether the cache served it at once.
    Units ``own_from <= seq < own_upto`` of the worker's own updates are in the view.
    ``views`` holds one (n_i, cols) array per requested table, in table order.
    """

    worker: int
    clock: int
    rows: RowIds
    views: tuple[Values, ...]
    version: npt.NDArray[np.int64]
    own_from: npt.NDArray[np.int32]
    own_upto: int
    age: npt.NDArray[np.int32]
    hit: npt.NDArray[np.bool_]


class Applied(NamedTuple):
    """Effect (record): shard took ``oplog`` into its tables as number ``apply_index``."""

    shard: int
    oplog: Oplog
    apply_index: int


class Left(NamedTuple):
    """Effect (record): ``worker`` is no longer a member of ``shard``.

    ``clock`` and ``apply_index`` are the shard's.
    """

    worker: int
    shard: int
    clock: int
    apply_index: int


class Lost(NamedTuple):
    """Effect (record): ``worker``'s client died, and it is no longer a member of ``shard``; see `Left`."""

    worker: int
    shard: int
    clock: int
    apply_index: int


class Knock(NamedTuple):
    """Effect: ``worker`` has copies of all rows it wants, and asks the arbiter to start a computation."""

    worker: int


class Ended(NamedTuple):
    """Effect: the computation of ``worker`` is over, no more INCs of it will come."""

    worker: int


Effect = ToShard | ToShards | ToClient | Read | Applied | Left | Lost | Knock | Ended

"""Messages as bytes.

Row values are copied from the sender's row pools when a message is sent, and put into slots of the
receiver's own pools when it is taken from the ring: between the two they belong to nobody else.

A packet is a sequence of fields, each of which begins at a multiple of 8 bytes: groups of int64 words,
arrays of row ids, columns or values. The first word is its kind (the place in `MESSAGE_KINDS`), the second
the number of its segment on a link that needs a channel, else -1.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.core.channel import Ack, Segment
from pskit.core.layout import RowIds
from pskit.core.messages import (
    Entries,
    Increment,
    Message,
    Oplog,
    Part,
    Push,
    Reply,
    Request,
    Slots,
    Unsubscribe,
    Values,
)
from pskit.core.rows import RowPools
from pskit.runtime.carrier import KIND

Bytes = npt.NDArray[np.uint8]
Packet = Message | Segment | Ack
_TYPE = {kind: message_type for message_type, kind in KIND.items() if message_type is not Increment}

LEAVING, INCREMENT = 1, 2
"""Words of an oplog: its worker leaves; it left at INC. Otherwise 0."""
NO_SEGMENT = -1
WORD = 8


class _Rows(NamedTuple):
    """A field that is gathered when it is written: the rows ``values[slots]``."""

    values: Values
    slots: Slots


def _padded(nbytes: int) -> int:
    return -(-nbytes // WORD) * WORD


class Encoded:
    """A packet ready to be written: its size, and `write_to`."""

    __slots__ = ("_fields", "nbytes")

    def __init__(self) -> None:
        self._fields: list[Any] = []
        self.nbytes = 0

    def words(self, *values: int) -> None:
        """Add int64 words."""
        self.array(np.array(values, np.int64))

    def array(self, values: npt.NDArray[Any]) -> None:
        """Add an array; it must not change before it is written."""
        self._fields.append(values)
        self.nbytes += _padded(values.nbytes)

    def rows(self, values: Values, slots: Slots) -> None:
        """Add the rows ``values[slots]``."""
        self._fields.append(_Rows(values, slots))
        self.nbytes += _padded(len(slots) * values.shape[1] * values.itemsize)

    def write_to(self, out: Bytes) -> None:
        """Write all fields into ``out`` (nbytes,)."""
        at = 0
        for field in self._fields:
            if type(field) is _Rows:
                shape = len(field.slots), field.values.shape[1]
                end = at + shape[0] * shape[1] * field.values.itemsize
                place = out[at:end].view(field.values.dtype).reshape(shape)
                np.take(field.values, field.slots, axis=0, out=place, mode="clip")
            else:
                end = at + field.nbytes
                out[at:end] = np.ascontiguousarray(field).reshape(-1).view(np.uint8)
            at = _padded(end)


class _Fields:
    """Reads the fields of a packet in order; every array is a view of its bytes."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: Bytes) -> None:
        self._data, self._at = data, 0

    def words(self, n: int) -> list[int]:
        return self.array(np.int64, n).tolist()

    def array(self, dtype: npt.DTypeLike, *shape: int) -> npt.NDArray[Any]:
        count = shape[0] if len(shape) == 1 else shape[0] * shape[1]
        end = self._at + count * np.dtype(dtype).itemsize
        values = self._data[self._at : end].view(dtype).reshape(shape)
        self._at = _padded(end)
        return values

    def ids(self, n: int) -> RowIds:
        return self.array(np.int32, n).copy()


class Codec:
    """Turns packets into bytes and back, for one process.

    Parameters
    ----------
    pools : RowPools
        The row pools of this process.
    """

    def __init__(self, pools: RowPools) -> None:
        self._pools, self._layout = pools, pools.layout
        self._encoders: dict[type, Callable[[Any, Encoded], None]] = {
            Oplog: self._put_oplog,
            Increment: self._put_oplog,
            Request: self._put_request,
            Reply: self._put_reply,
            Push: self._put_push,
            Unsubscribe: self._put_unsubscribe,
            Ack: self._put_ack,
        }
        self._decoders: dict[type, Callable[[_Fields], Any]] = {
            Oplog: self._get_oplog,
            Request: self._get_request,
            Reply: self._get_reply,
            Push: self._get_push,
            Unsubscribe: self._get_unsubscribe,
            Ack: self._get_ack,
        }

    def encode(self, packet: Packet, prefix: Sequence[int] = ()) -> Encoded:
        """``packet`` as bytes to be written, behind the words of ``prefix``."""
        content, number = (packet.message, packet.seq) if type(packet) is Segment else (packet, NO_SEGMENT)
        out = Encoded()
        out.words(*prefix, KIND[type(content)], number)
        self._encoders[type(content)](content, out)
        return out

    def decode(self, data: Bytes, prefix: int = 0) -> tuple[list[int], Packet]:
        """The ``prefix`` words and the packet in ``data``, of which nothing is kept."""
        fields = _Fields(data)
        *words, kind, number = fields.words(prefix + 2)
        content = self._decoders[_TYPE[kind]](fields)
        return words, content if number == NO_SEGMENT else Segment(number, content)

    # -- values of rows ----------------------------------------------------------------------------

    def _put_rows(self, rows: RowIds, slots: Slots, out: Encoded) -> None:
        out.array(rows)
        for table, cut in self._pools.split(rows):
            out.rows(self._pools.pools[table].values, slots[cut])

    def _get_rows(self, n: int, fields: _Fields) -> tuple[RowIds, Slots]:
        rows, slots = fields.ids(n), np.empty(n, np.int32)
        for table, cut in self._pools.split(rows):
            pool = self._pools.pools[table]
            fresh = pool.take(cut.stop - cut.start)
            pool.values[fresh] = fields.array(self._layout.dtypes[table], len(fresh), pool.values.shape[1])
            slots[cut] = fresh
        return rows, slots

    # -- from clients ------------------------------------------------------------------------------

    def _put_oplog(self, m: Oplog, out: Encoded) -> None:
        how = INCREMENT if type(m) is Increment else int(m.leaving)
        out.words(m.worker, m.clock, m.seq, how, m.t_inc, m.t_sent, len(m.parts))
        for part in m.parts:
            out.words(part.table, len(part.rows))
            out.array(part.rows)
            out.array(part.delta)

    def _get_oplog(self, fields: _Fields) -> Oplog:
        worker, clock, seq, how, t_inc, t_sent, n_parts = fields.words(7)
        parts = []
        for _ in range(n_parts):
            table, n = fields.words(2)
            rows, cols = fields.ids(n), self._layout.tables[table].cols
            parts.append(Part(table, rows, fields.array(self._layout.dtypes[table], n, cols).copy()))
        kind = Increment if how == INCREMENT else Oplog
        return kind(worker, clock, seq, tuple(parts), how == LEAVING, t_inc, t_sent)

    def _put_request(self, m: Request, out: Encoded) -> None:
        out.words(m.worker, m.need, m.tag, len(m.rows))
        out.array(m.rows)

    def _get_request(self, fields: _Fields) -> Request:
        worker, need, tag, n = fields.words(4)
        return Request(worker, fields.ids(n), need, tag)

    def _put_unsubscribe(self, m: Unsubscribe, out: Encoded) -> None:
        out.words(len(m.rows))
        out.array(m.rows)

    def _get_unsubscribe(self, fields: _Fields) -> Unsubscribe:
        return Unsubscribe(fields.ids(*fields.words(1)))

    # -- from shards -------------------------------------------------------------------------------

    def _put_reply(self, m: Reply, out: Encoded) -> None:
        out.words(m.clock, m.version, m.tag, len(m.applied), len(m.rows), *m.applied)
        self._put_rows(m.rows, m.slots, out)

    def _get_reply(self, fields: _Fields) -> Reply:
        clock, version, tag, workers, n = fields.words(5)
        applied = tuple(fields.words(workers))
        rows, slots = self._get_rows(n, fields)
        return Reply(rows, slots, clock, version, applied, tag)

    def _put_push(self, m: Push, out: Encoded) -> None:
        out.words(m.clock, m.version, len(m.applied), len(m.rows), len(m.entries), *m.applied)
        self._put_rows(m.rows, m.slots, out)
        for e in m.entries:
            out.words(e.table, len(e.rows), len(e.cols))
            for values in (e.rows, e.start, e.cols, e.values):
                out.array(values)

    def _get_push(self, fields: _Fields) -> Push:
        clock, version, workers, n, n_tables = fields.words(5)
        applied = tuple(fields.words(workers))
        rows, slots = self._get_rows(n, fields)
        entries = []
        for _ in range(n_tables):
            table, n_rows, n_cols = fields.words(3)
            ids, start, cols = fields.ids(n_rows), fields.ids(n_rows + 1), fields.ids(n_cols)
            values = fields.array(self._layout.dtypes[table], n_cols).copy()
            entries.append(Entries(table, ids, start, cols, values))
        return Push(rows, slots, tuple(entries), clock, version, applied)

    # -- from channels -----------------------------------------------------------------------------

    def _put_ack(self, m: Ack, out: Encoded) -> None:
        out.words(m.upto)

    def _get_ack(self, fields: _Fields) -> Ack:
        return Ack(*fields.words(1))

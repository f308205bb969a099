"""Messages survive their way through bytes, and share nothing with their sender."""

import numpy as np
import pytest

from pskit.core.channel import Ack, Segment
from pskit.core.layout import Layout, TableSpec
from pskit.core.messages import Entries, Oplog, Part, Push, Reply, Request, Unsubscribe, wire_size
from pskit.core.rows import RowPools
from pskit.runtime.live.codec import Codec

LAYOUT = Layout(
    [
        TableSpec("a", 5, 3, "f4"),
        TableSpec("b", 4, 1, "f8"),
        TableSpec("c", 3, 2, "i4"),
        TableSpec("d", 2, 5, "i8"),
    ],
    shards=2,
)
ALL = np.arange(LAYOUT.n_rows, dtype=np.int32)
SOME = np.array([0, 2, 4, 6, 10, 12], np.int32)
NONE = np.empty(0, np.int32)


def filled(rows):
    """Pools with a slot for each of ``rows``, and those slots; values tell rows and columns apart."""
    pools, slots = RowPools(LAYOUT), np.empty(len(rows), np.int32)
    for pool in pools.pools:
        pool.take(3)  # so that slots differ from those of the receiver
    for table, cut in pools.split(rows):
        pool = pools.pools[table]
        slots[cut] = pool.take(cut.stop - cut.start)
        cols = pool.values.shape[1]
        pool.values[slots[cut]] = rows[cut][:, None] * 10 + np.arange(cols)
    return pools, slots


def values_of(pools, rows, slots):
    return [pools.pools[table].values[slots[cut]].tolist() for table, cut in pools.split(rows)]


def through(sender, packet, receiver=None, prefix=()):
    """``packet`` on the other side, decoded from bytes that are then destroyed."""
    encoded = Codec(sender).encode(packet, prefix)
    data = np.full(encoded.nbytes, 0xAA, np.uint8)
    encoded.write_to(data)
    words, decoded = Codec(receiver or RowPools(LAYOUT)).decode(data, len(prefix))
    assert words == list(prefix)
    data[:] = 0xFF
    return decoded


def same(a, b):
    """Whether two messages are equal, arrays by value and dtype."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return a == b and type(a) is type(b)


def part(table, rows):
    spec = LAYOUT.tables[table]
    ids = np.array(rows, np.int32)
    return Part(table, ids, np.arange(len(ids) * spec.cols).reshape(-1, spec.cols).astype(spec.dtype) - 2)


@pytest.mark.parametrize(
    "message",
    [
        Oplog(3, 7, 7, (part(0, [1, 3]), part(1, [5]), part(3, [12, 13])), False, 1 << 40, (1 << 40) + 1),
        Oplog(0, 0, 0, (), True, 0, 0),
        Request(2, SOME, -(1 << 30), 9),
        Unsubscribe(ALL),
        Unsubscribe(NONE),
        Ack(12),
        Segment(4, Request(2, SOME, 1, 9)),
    ],
    ids=lambda m: type(m).__name__,
)
def test_messages_without_row_values(message):
    assert same(through(RowPools(LAYOUT), message), message)


@pytest.mark.parametrize("rows", [ALL, SOME, NONE], ids=["all", "some", "none"])
def test_a_reply_brings_its_values_into_the_pools_of_the_receiver(rows):
    sender, slots = filled(rows)
    receiver = RowPools(LAYOUT)
    sent = Reply(rows, slots, 3, 17, (1, 2), 5)
    got = through(sender, sent, receiver)
    assert same(got._replace(slots=slots), sent)
    assert values_of(receiver, rows, got.slots) == values_of(sender, rows, slots)


def test_a_push_with_rows_and_entries():
    sender, slots = filled(SOME)
    receiver = RowPools(LAYOUT)
    entries = (
        Entries(
            0, np.array([1, 3], np.int32), np.array([0, 1, 3], np.int32), np.array([2, 0, 1], np.int32),
            np.array([1, 2, 3], np.float32),
        ),
        Entries(
            3, np.array([13], np.int32), np.array([0, 1], np.int32), np.array([4], np.int32), np.array([9])
        ),
    )  # fmt: skip
    sent = Push(SOME, slots, entries, 4, 20, (7,))
    got = through(sender, sent, receiver)
    assert same(got._replace(slots=slots), sent)
    assert values_of(receiver, SOME, got.slots) == values_of(sender, SOME, slots)
    assert wire_size(got, LAYOUT) == wire_size(sent, LAYOUT)


def test_values_are_those_of_the_time_of_sending():
    sender, slots = filled(ALL)
    encoded = Codec(sender).encode(Reply(ALL, slots, 0, 0, (), 0))
    data = np.empty(encoded.nbytes, np.uint8)
    encoded.write_to(data)
    before = values_of(sender, ALL, slots)
    for pool in sender.pools:
        pool.values[:] = 0
    receiver = RowPools(LAYOUT)
    got = Codec(receiver).decode(data)[1]
    assert values_of(receiver, ALL, got.slots) == before


def test_every_bit_of_a_float_survives():
    pools, slots = filled(np.array([0], np.int32))
    odd = np.array([np.nan, -0.0, 1e-45], np.float32)
    pools.pools[0].values[slots[0]] = odd
    receiver = RowPools(LAYOUT)
    got = through(pools, Reply(np.array([0], np.int32), slots, 0, 0, (), 0), receiver)
    assert receiver.pools[0].values[got.slots[0]].tobytes() == odd.tobytes()


def test_words_in_front_come_back_first():
    through(RowPools(LAYOUT), Ack(1), prefix=(5, -6, 1 << 50))

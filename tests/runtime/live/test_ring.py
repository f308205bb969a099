"""Rings: order, wholeness, no waiting; within a process, and between two."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.runtime.live.arena import Arena
from pskit.runtime.live.ring import Ring, RingReader, RingWriter, ring_bytes
from pskit.runtime.live.starting import starting

CAPACITY = 1 << 10


def make_ring(capacity=CAPACITY):
    return Ring(np.zeros(ring_bytes(capacity), np.uint8))


def record(number, size):
    """Bytes that tell records apart."""
    return ((np.arange(size) * 7 + number * 13) % 251).astype(np.uint8)


def post(writer, number, size):
    return writer.post(number, size, lambda out: np.copyto(out, record(number, size)))


class Reader:
    """A reading end that keeps what it takes."""

    def __init__(self, ring):
        self._reader, self.taken = RingReader(ring), []

    def take(self):
        return self._reader.take(lambda visible_at, data: self.taken.append((visible_at, data.copy())))


def check(taken, sizes):
    assert [visible_at for visible_at, _ in taken] == list(range(len(taken)))
    for (number, data), size in zip(taken, sizes, strict=False):
        assert np.array_equal(data, record(number, size))


sizes = st.integers(0, 64) | st.integers(0, 3 * CAPACITY)


@given(st.lists(sizes | st.just("take") | st.just("flush"), max_size=60))
def test_records_come_out_whole_once_and_in_order(steps):
    ring = make_ring()
    writer, reader = RingWriter(ring), Reader(ring)
    posted = []
    for step in steps:
        if step == "take":
            reader.take()
        elif step == "flush":
            writer.flush()
        else:
            post(writer, len(posted), step)
            posted.append(step)
        assert len(reader.taken) <= len(posted)
        check(reader.taken, posted)
    while not writer.flush() or not ring.is_empty:
        reader.take()
    reader.take()
    assert len(reader.taken) == len(posted)
    check(reader.taken, posted)


def test_an_empty_ring_has_nothing():
    assert not Reader(make_ring()).take()


def test_a_full_ring_does_not_block_its_writer():
    ring = make_ring()
    writer, reader = RingWriter(ring), Reader(ring)
    for number in range(100):
        post(writer, number, 100)
    assert writer.delayed > 80
    assert not writer.flush()
    while len(reader.taken) < 100:
        assert reader.take()
        writer.flush()
    check(reader.taken, [100] * 100)
    assert not writer.backlog


def test_what_waits_is_not_overtaken():
    ring = make_ring()
    writer, reader = RingWriter(ring), Reader(ring)
    sizes = [200] * 6 + [8]  # the last one would fit where the ones before it did not
    for number, size in enumerate(sizes):
        post(writer, number, size)
    while len(reader.taken) < len(sizes):
        writer.flush()
        reader.take()
    check(reader.taken, sizes)


def test_the_writer_is_told_when_the_ring_fills_up():
    writer = RingWriter(make_ring())
    assert not post(writer, 0, 8)
    assert [post(writer, n, 200) for n in range(1, 6)][-1]


def test_a_record_that_is_filled_but_not_published_is_not_seen():
    ring = make_ring()
    reader = Reader(ring)

    def look(out):
        out[:] = 1
        assert not reader.take()

    RingWriter(ring).post(0, 64, look)
    assert reader.take()


def write_many(arena, count):
    with arena:
        writer = RingWriter(Ring(arena.view(0, (ring_bytes(CAPACITY),), np.uint8)))
        for number in range(count):
            post(writer, number, number % 300)
            while writer.backlog:
                writer.flush()


def test_another_process_reads_what_this_one_writes():
    count = 20_000
    with Arena.create(1 << 16) as arena:
        reader = Reader(Ring(arena.view(0, (ring_bytes(CAPACITY),), np.uint8)))
        with starting() as context:
            child = context.Process(target=write_many, args=(arena, count))
            child.start()
        while len(reader.taken) < count and (reader.take() or child.is_alive() or reader.take()):
            pass
        child.join()
        assert child.exitcode == 0
        child.close()
    assert len(reader.taken) == count
    check(reader.taken, [n % 300 for n in range(count)])


def test_a_ring_that_holds_no_piece_of_a_record_is_refused():
    with pytest.raises(ValueError, match="a ring of 64 bytes is too small"):
        Ring(np.zeros(ring_bytes(64), np.uint8))

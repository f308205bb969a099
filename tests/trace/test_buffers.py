import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.trace import buffers
from pskit.trace.buffers import RecordBuffer

RECORDS = st.lists(st.tuples(*[st.integers(-(2**63), 2**63 - 1)] * 3), max_size=40)


@given(st.lists(st.tuples(st.booleans(), RECORDS), max_size=8))
def test_records_come_out_as_they_went_in(parts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffers, "CHUNK_RECORDS", 16)
        buffer = RecordBuffer(3)
    out, total = [], 0
    for at_once, records in parts:
        if at_once:
            left = np.array(records, np.int64).reshape(-1, 3)
            while len(left):
                room = buffer.room()
                n = min(len(left), len(room))
                room[:n], left = left[:n], left[n:]
                if buffer.filled(n):
                    out += buffer.take()[0].tolist()
        else:
            for record in records:
                if buffer.add(*record):
                    out += buffer.take()[0].tolist()
        total += len(records)
        assert len(buffer) == total
    out += buffer.take()[0].tolist()
    assert out == [list(record) for _, records in parts for record in records]
    assert buffer.taken == total


def test_floats_keep_their_bits():
    buffer = RecordBuffer(1, floats=2)
    buffer.add(7, 0.1, -0.0)
    buffer.add(-8, float("inf"), 1)
    integers, floats = buffer.take()
    assert integers.tolist() == [[7], [-8]]
    assert floats.tobytes() == np.array([[0.1, -0.0], [np.inf, 1.0]]).tobytes()


def test_what_was_taken_is_not_written_again():
    buffer = RecordBuffer(1)
    buffer.add(1)
    first, _ = buffer.take()
    buffer.add(2)
    assert first.tolist() == [[1]]


@pytest.mark.parametrize("record", [(1.5, 2), (1,), (1, 2, 3), (2**63, 0), ("1", 2)])
def test_what_is_no_record_is_refused(record):
    with pytest.raises(struct.error):
        RecordBuffer(2).add(*record)

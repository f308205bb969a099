import numpy as np
import pytest

from pskit.core.layout import Layout
from pskit.core.messages import Entries, Oplog, Part, Push, Reply, Request, Unsubscribe, wire_size

LAYOUT = Layout([("a", 4, 3, "f4"), ("b", 2, 1, "i8")])
HEADER, ID, CLOCK, A, B = 32, 4, 8, 12, 8


def rows(*ids):
    return np.array(ids, np.int32)


NONE = rows()
PART_A = Part(0, rows(1, 2), np.zeros((2, 3), np.float32))
PART_B = Part(1, rows(5), np.zeros((1, 1), np.int64))
TWO_ENTRIES = Entries(0, rows(0, 3), rows(0, 1, 3), rows(2, 0, 1), np.zeros(3, np.float32))


@pytest.mark.parametrize(
    ("message", "size", "n_rows"),
    [
        (Request(0, rows(1, 5), 0, 0), HEADER + 2 * ID, 2),
        (Unsubscribe(rows(0)), HEADER + ID, 1),
        (Oplog(0, 0, 0, (), False, 0, 0), HEADER, 0),
        (Oplog(0, 0, 0, (PART_A, PART_B), False, 0, 0), HEADER + 3 * ID + 2 * A + B, 3),
        (Reply(rows(3, 4), rows(0, 0), 0, 0, (0, 0), 0), HEADER + 2 * CLOCK + 2 * ID + A + B, 2),
        (Push(NONE, NONE, (), 0, 0, (0,)), HEADER + CLOCK, 0),
        (Push(rows(0), rows(0), (), 0, 0, (0,)), HEADER + CLOCK + ID + A, 1),
        (Push(rows(5), rows(0), (TWO_ENTRIES,), 0, 0, (0,)), HEADER + CLOCK + 3 * ID + B + 3 * (2 + 4), 3),
    ],
)
def test_wire_size(message, size, n_rows):
    assert wire_size(message, LAYOUT) == (size, n_rows)

"""That messages between explored machines are what the real ones sent."""

import numpy as np
import pytest

from pskit.core.layout import Layout, TableSpec
from pskit.core.messages import Entries, Oplog, Part, Push, Reply, Request, Unsubscribe
from pskit.core.rows import RowPools
from pskit.explore import wire

LABEL = wire.Label(worker=1, need=2, rows=(0, 3), number=0)


def plain(value):
    """A message with lists in place of arrays."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(v) for v in value] if isinstance(value, tuple) else value


def ids(*rows):
    return np.array(rows, np.int32)


@pytest.mark.parametrize(
    "message",
    [
        Oplog(1, 4, 4, (Part(0, ids(0, 3), np.array([[1, 2], [3, 4]])),), False, 0, 0),
        Oplog(0, 0, 0, (), True, 0, 0),
        Request(1, ids(0, 3), 2, LABEL),
        Unsubscribe(ids(2)),
    ],
)
def test_to_shards(message):
    frozen = wire.freeze_to_shard(message, lambda request: request.tag)
    assert isinstance(hash(frozen), int)
    assert plain(wire.thaw_to_shard(frozen, cols=2)) == plain(message)


@pytest.mark.parametrize(
    "message",
    [
        Reply(ids(0, 3), ids(5, 6), 2, 9, (1, 2), LABEL),
        Push(ids(1), ids(6), (), 2, 9, (1, 2)),
        Push(
            ids(),
            ids(),
            (Entries(0, ids(0, 3), ids(0, 1, 3), ids(1, 0, 1), np.array([7, 8, 9])),),
            2,
            9,
            (1,),
        ),
    ],
)
def test_to_clients(message):
    """Values travel in place of slots, and are given fresh slots where they arrive."""
    layout = Layout([TableSpec("n", 4, 2, "i8")])
    here, there = RowPools(layout).pools[0], RowPools(layout).pools[0]
    here.values[5], here.values[6] = [1, 2], [3, 4]
    frozen = wire.freeze_to_client(message, here, (3, 6))
    assert frozen.counts == (3, 6)
    thawed = wire.thaw_to_client(frozen, there)
    assert there.values[thawed.slots].tolist() == here.values[message.slots].tolist()
    assert plain(thawed._replace(slots=message.slots)) == plain(message)

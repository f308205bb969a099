import numpy as np
import pytest

from pskit.core.cache import ProcessCache
from pskit.core.layout import Layout
from pskit.core.messages import Entries, Push, Reply
from pskit.core.rows import RowPools

NO_ROWS = np.empty(0, np.int32)


def rows(*ids):
    return np.array(ids, np.int32)


class Desk:
    """A cache with its pool: replies and pushes of given values, and what a GET would see."""

    def __init__(self, n_rows=6, shards=2, workers=2, capacity=0, per_clock=False):
        self.layout = Layout([("a", n_rows, 2, "f8")], shards)
        self.pools = RowPools(self.layout)
        self.cache = ProcessCache(self.layout, self.pools, workers, capacity, per_clock)

    def slots(self, values):
        slots = self.pools.pools[0].take(len(values))
        self.pools.pools[0].values[slots] = np.array(values, float).reshape(-1, 1)
        return slots

    def reply(self, ids, values, clock, version, applied):
        self.cache.install_reply(Reply(rows(*ids), self.slots(values), clock, version, applied, tag=0))

    def push(self, shard, ids, values, clock, version, applied, entries=()):
        push = Push(rows(*ids), self.slots(values), entries, clock, version, applied)
        self.cache.install_push(shard, push)

    def look(self, *ids, need=0, me=0, clock=0):
        """By row: (first entry, clock, version, own_from), or None where it is missing."""
        n = len(ids)
        where = np.arange(n, dtype=np.int32)
        out = tuple(np.zeros(n, t) for t in (np.int32, np.int32, np.int64, np.int32))
        missing = self.cache.lookup(where, rows(*ids), need, me, clock, out)
        got = list(
            zip(self.pools.pools[0].values[out[0], 0].tolist(), *(a.tolist() for a in out[1:]), strict=True)
        )
        for p in where[:missing]:
            got[p] = None
        return got


def test_nothing_is_cached_at_first():
    desk = Desk()
    assert desk.look(0, 5, need=-3) == [None, None]
    assert desk.cache.count == 0


def test_a_reply_is_a_copy_with_its_clock():
    desk = Desk()
    desk.reply([0, 2], [10, 12], clock=3, version=7, applied=(4, 5))
    assert desk.look(0, 1, 2, need=3) == [(10, 3, 7, 4), None, (12, 3, 7, 4)]
    assert desk.look(0, need=3, me=1) == [(10, 3, 7, 5)]
    assert desk.look(0, need=4) == [None]
    assert desk.cache.count == 2


def test_a_push_moves_the_effective_clock_of_all_cached_rows_of_its_shard_only():
    desk = Desk()
    desk.reply([0, 2], [10, 12], clock=1, version=3, applied=(1, 1))
    desk.reply([1], [11], clock=1, version=4, applied=(1, 1))
    desk.push(0, [2], [22], clock=2, version=6, applied=(2, 1))
    assert desk.look(0, 1, 2, need=1) == [(10, 2, 6, 2), (11, 1, 4, 1), (22, 2, 6, 2)]
    assert desk.look(4, need=-9) == [None], "a push confirms cached rows, it caches none"


def test_a_reply_newer_than_the_last_push_keeps_its_clock():
    desk = Desk()
    desk.push(0, [], [], clock=2, version=6, applied=(2, 1))
    desk.reply([0], [10], clock=3, version=9, applied=(3, 2))
    assert desk.look(0, need=3) == [(10, 3, 9, 3)]
    desk.reply([2], [12], clock=2, version=6, applied=(2, 1))
    assert desk.look(2, need=2) == [(12, 2, 6, 2)]


def test_rows_pushed_but_no_longer_cached_are_dropped_and_counted():
    desk = Desk()
    desk.reply([0], [10], clock=1, version=1, applied=(0, 0))
    entries = Entries(0, rows(0, 4), rows(0, 1, 2), rows(1, 0), np.array([5.0, 6.0]))
    desk.push(0, [2], [22], clock=2, version=2, applied=(0, 0), entries=(entries,))
    assert desk.cache.dropped == 2
    assert desk.look(0, 2, 4, need=0) == [(10, 2, 2, 0), None, None]
    assert desk.pools.pools[0].values[desk.cache.slot[0]].tolist() == [10, 5]


def test_entries_go_into_a_fresh_version():
    desk = Desk()
    desk.reply([0], [10], clock=1, version=1, applied=(0, 0))
    old = int(desk.cache.slot[0])
    entries = Entries(0, rows(0), rows(0, 2), rows(0, 1), np.array([1.0, 2.0]))
    desk.push(0, [], [], clock=2, version=2, applied=(0, 0), entries=(entries,))
    assert desk.cache.slot[0] != old
    assert desk.pools.pools[0].values[old].tolist() == [10, 10], "someone may still hold the old one"


def test_per_clock_a_copy_serves_the_clock_it_was_fetched_in():
    desk = Desk(per_clock=True)
    desk.reply([0], [10], clock=0, version=1, applied=(0, 0))
    assert desk.look(0, need=-9, clock=0) == [None]
    desk.cache.fetched[0, 0] = 4
    assert desk.look(0, need=-9, clock=4) == [(10, 0, 1, 0)]
    assert desk.look(0, need=-9, clock=5) == [None]
    assert desk.look(0, need=-9, clock=4, me=1) == [None]


def test_contains_own():
    desk = Desk()
    desk.reply([0, 1], [10, 11], clock=1, version=3, applied=(2, 0))
    desk.push(0, [], [], clock=2, version=5, applied=(3, 0))
    ids = rows(0, 0, 1, 1, 2)
    seq = np.array([2, 3, 1, 2, 0])
    assert desk.cache.contains_own(0, ids, seq).tolist() == [True, False, True, False, False]


@pytest.mark.parametrize("capacity", [1, 2, 4])
def test_eviction_keeps_the_capacity(capacity):
    desk = Desk(capacity=capacity)
    desk.reply([0, 1, 2, 3, 4], range(5), clock=0, version=0, applied=(0, 0))
    gone = desk.cache.evict()
    assert (np.diff(gone) > 0).all()
    assert len(gone) == 5 - capacity
    kept = [r for r, got in enumerate(desk.look(*range(5), need=-9)) if got]
    assert sorted([*kept, *gone.tolist()]) == [0, 1, 2, 3, 4]
    assert desk.cache.count == capacity
    assert desk.cache.evict().tolist() == []
    ((alive, _),) = desk.cache.alive()
    assert alive.tolist() == kept


def test_rows_used_since_the_last_sweep_get_a_second_chance():
    desk = Desk(capacity=2)
    desk.reply([0, 1], [0, 1], clock=0, version=0, applied=(0, 0))
    desk.cache.used[:] = False
    desk.look(0)
    desk.reply([2], [2], clock=0, version=0, applied=(0, 0))
    assert desk.cache.evict().tolist() == [1]


def test_without_a_capacity_nothing_is_evicted():
    desk = Desk(capacity=0)
    desk.reply(range(6), range(6), clock=0, version=0, applied=(0, 0))
    assert desk.cache.evict().tolist() == []
    assert desk.cache.count == 6

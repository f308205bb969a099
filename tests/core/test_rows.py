import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.core.layout import Layout
from pskit.core.rows import RowPool, RowPools


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 40), st.floats(0, 1)), max_size=30))
def test_a_slot_is_handed_out_once_until_it_is_freed(steps):
    pool = RowPool(2, np.dtype("f4"), 8)
    alive: dict[int, float] = {}
    for number, (take, keep) in enumerate(steps):
        slots = pool.take(take).tolist()
        assert len(set(slots)) == take
        assert not set(slots) & set(alive)
        pool.values[slots] = number
        alive |= dict.fromkeys(slots, number)
        if number % 3 == 2:
            alive = dict(list(alive.items())[: int(keep * len(alive))])
            flags = np.zeros(pool.capacity, np.bool_)
            flags[list(alive)] = True
            pool.keep_only(flags)
            assert not pool.crowded
            assert 2 * pool.n_free >= pool.capacity / 2  # room for the same again before the next look
        assert pool.n_free + len(alive) == pool.capacity
        for slot, value in alive.items():  # growing keeps the values
            assert pool.values[slot].tolist() == [value, value]


def test_crowded_asks_for_a_look():
    pool = RowPool(1, np.dtype("i8"), 16)
    pool.take(14)
    assert not pool.crowded
    pool.take(1)
    assert pool.crowded


def test_reserve_then_use_by_a_kernel():
    pool = RowPool(1, np.dtype("i8"), 4)
    pool.take(4)
    pool.reserve(3)
    assert pool.n_free >= 3
    assert len(set(pool.free[: pool.n_free].tolist())) == pool.n_free
    assert len(pool.values) == pool.capacity == len(pool.free)


def test_pools_of_several_tables():
    pools = RowPools(Layout([("a", 3, 2, "f4"), ("b", 2, 1, "i8"), ("c", 4, 1, "f8")]))
    assert [p.values.dtype.str[1:] for p in pools.pools] == ["f4", "i8", "f8"]
    rows = np.array([0, 2, 5, 8], np.int32)
    assert [(t, rows[cut].tolist()) for t, cut in pools.split(rows)] == [(0, [0, 2]), (2, [5, 8])]
    assert list(pools.split(rows[:0])) == []
    slots = np.concatenate([pools.pools[0].take(2), pools.pools[2].take(2)])
    gone = pools.pools[1].take(1)
    pools.collect([(rows, slots)])
    free = [set(p.free[: p.n_free].tolist()) for p in pools.pools]
    assert not free[0] & set(slots[:2].tolist())
    assert not free[2] & set(slots[2:].tolist())
    assert gone[0] in free[1]
    assert pools.nbytes == sum(p.values.nbytes + p.free.nbytes for p in pools.pools)
    assert not pools.crowded


def test_one_table_is_not_cut():
    pools = RowPools(Layout([("a", 3, 2)]))
    rows = np.array([1, 2], np.int32)
    assert [(t, rows[cut].tolist()) for t, cut in pools.split(rows)] == [(0, [1, 2])]
    assert list(pools.split(rows[:0])) == []

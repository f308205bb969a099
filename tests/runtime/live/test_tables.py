"""Tables and caches in the arena: where they lie, and that who reads them reads whole rows."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.core.cache import ProcessCache
from pskit.core.layout import Layout, TableSpec
from pskit.core.messages import Oplog, Part, Push, Reply
from pskit.core.policies import make_policy
from pskit.core.rows import RowPool, RowPools, first_slots
from pskit.core.server import ServerShard
from pskit.errors import RunFailed
from pskit.runtime.live import tables
from pskit.runtime.live.arena import ALIGNMENT, PAGE, Arena
from pskit.runtime.live.starting import starting
from pskit.runtime.live.tables import (
    LARGEST_RESERVE,
    Places,
    SharedShard,
    SharedTables,
    begin_change,
    end_change,
    move_on,
)

LAYOUT = Layout([TableSpec("x", 8, 3000, "f8"), TableSpec("n", 5, 2, "i4")], 2)
CLIENTS = 2


@pytest.fixture
def shared():
    places = Places(LAYOUT, CLIENTS, 0)
    with Arena.create(places.end, places.committed) as arena:
        yield SharedTables(arena, LAYOUT, places)


def machine(shared, kind=SharedShard, shard=0):
    """A shard that starts with ones, and its pools."""
    pools = RowPools(LAYOUT, shared.rooms(CLIENTS))
    initial = {t.name: np.ones((t.rows, t.cols), t.dtype) for t in LAYOUT.tables}
    numbers, current = shared._rows[shard]
    policy = make_policy(SimpleNamespace(policy="ssp", slack=1, push=None))
    arguments = (shard, LAYOUT, policy, pools, [(0,), (1,)], initial)
    return kind(*arguments, numbers=numbers, current=current), pools


def oplog(shard, seq):
    """Adds 1 to every entry of every row of a shard."""
    rows = np.arange(shard, LAYOUT.n_rows, LAYOUT.shards, dtype=np.int32)
    parts = []
    for i, table in enumerate(LAYOUT.tables):
        mine = rows[LAYOUT.table_of_row[rows] == i]
        parts.append(Part(i, mine, np.ones((len(mine), table.cols), table.dtype)))
    return Oplog(0, seq, seq, tuple(parts), False, 0, 0)


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 2000)), min_size=1, max_size=4),
    st.integers(1, 5),
    st.integers(1, 40),
    st.integers(0, 10**6),
)
def test_places_do_not_overlap(sizes, shards, clients, at):
    layout = Layout([TableSpec(f"t{i}", *size) for i, size in enumerate(sizes)], shards)
    at = at // ALIGNMENT * ALIGNMENT
    places = Places(layout, clients, at)
    spans = [(places.states_at, 8 * (clients + 1) * len(sizes))]
    for j, (numbers, current) in enumerate(places.rows_at):
        spans += [(numbers, 8 * layout.shard_rows(j)), (current, 4 * layout.shard_rows(j))]
    for number, *arrays in places.caches_at:
        lengths = (4 * layout.n_rows, 4 * layout.n_rows, 4 * shards)
        spans += [(number, 64), *zip(arrays, lengths, strict=True)]
    for pools in places.pools:
        for pool, table, row_bytes in zip(pools, layout.tables, layout.row_bytes, strict=True):
            assert pool.most >= first_slots(table.rows)
            assert pool.at % PAGE == 0
            spans.append((pool.at, pool.most * row_bytes))
    spans.sort()
    assert spans[0][0] >= at
    assert all(begin % ALIGNMENT == 0 for begin, _ in spans)
    assert all(a + n <= b for (a, n), (b, _) in pairwise(spans))
    assert sum(spans[-1]) <= places.end
    assert max(numbers for numbers, _ in places.rows_at) < places.committed <= places.pools[0][0].at
    # Address space is bounded, unless what the pools begin with is more.
    assert places.end <= LARGEST_RESERVE + 4 * places.first_bytes + 10 * PAGE * len(spans) + places.committed


def test_a_pool_grows_where_it_is_and_then_moves_out(monkeypatch):
    monkeypatch.setattr(tables, "RESERVE", 4)
    places = Places(LAYOUT, CLIENTS, 0)
    with Arena.create(places.end, places.committed) as arena:
        grow(SharedTables(arena, LAYOUT, places), places.pools[0][0].most)


def grow(shared, most):
    (x, *_) = shared.rooms(0)
    pool = RowPool(3000, np.dtype("f8"), first_slots(8), x)
    slots = pool.take(20)
    pool.values[slots] = np.arange(20)[:, None]
    base = pool.values.__array_interface__["data"][0]
    while pool.values.__array_interface__["data"][0] == base:
        assert pool.values[slots, 7].tolist() == list(range(20))
        assert shared.states[0, 0] == pool.capacity
        pool.take(pool.n_free)
        pool.reserve(1)
    assert pool.capacity > most
    assert pool.values[slots, 7].tolist() == list(range(20))
    assert shared.states[0, 0] == tables.MOVED
    pool.reserve(pool.n_free + 1)  # and grows there
    assert pool.values[slots, 7].tolist() == list(range(20))
    with pytest.raises(RunFailed, match="'x' have outgrown their place"):
        shared.cached(0, np.arange(3, dtype=np.int32))


def test_a_room_that_has_nothing_from_the_start():
    pool = RowPool(2, np.dtype("i4"), 4, lambda capacity: None)
    slots = pool.take(4)
    pool.values[slots] = 7
    pool.reserve(2)
    assert (pool.values[slots] == 7).all()


def test_others_read_what_the_shards_have(shared):
    server, _ = machine(shared)
    for seq in range(3):
        server.receive(0, oplog(0, seq))
    final = {t.name: np.zeros((t.rows, t.cols), t.dtype) for t in LAYOUT.tables}
    server.values_into(final)
    x = shared.read(0, np.array([0, 2, 6], np.int32))
    assert np.array_equal(x, final["x"][[0, 2, 6]])
    assert x[0, 0] == 4
    assert np.array_equal(shared.read(1, np.array([8, 10], np.int32)), final["n"][[0, 2]])


def test_a_row_in_the_middle_of_a_change_is_not_read(shared, monkeypatch):
    monkeypatch.setattr(tables, "SECONDS_OF_TRYING", 0.0)
    machine(shared)
    numbers, rows = shared._rows[0][0], np.array([2, 4], np.int32)
    begin_change(numbers, rows, LAYOUT.shards)
    with pytest.raises(RunFailed, match="row 2 is in the middle of a change"):
        shared.read(0, np.array([0, 2], np.int32))
    assert shared.read(0, np.array([0, 6], np.int32)).shape == (2, 3000)
    end_change(numbers, rows, LAYOUT.shards)
    assert shared.read(0, np.array([0, 2], np.int32)).shape == (2, 3000)


def test_a_cache_is_read_as_it_was_at_one_moment(shared, monkeypatch):
    pools = RowPools(LAYOUT, shared.rooms(1))
    cache = ProcessCache(LAYOUT, pools, 1, 0, False)
    number = shared.share(1, cache)
    everything = np.arange(LAYOUT.n_rows, dtype=np.int32)
    assert (shared.cached(1, everything).clock == -1).all()
    rows = np.array([1, 3, 9], np.int32)  # shard 1, two tables
    slots = np.concatenate([pools.pools[0].take(2), pools.pools[1].take(1)])
    pools.pools[0].values[slots[:2]], pools.pools[1].values[slots[2:]] = 5, 6
    move_on(number)
    cache.install_reply(Reply(rows, slots, 4, 0, (0,), 0))
    monkeypatch.setattr(tables, "SECONDS_OF_TRYING", 0.01)
    with pytest.raises(RunFailed, match="cache of client 1 is in the middle"):
        shared.cached(1, everything)
    move_on(number)
    found = shared.cached(1, everything)
    assert np.flatnonzero(found.clock == 4).tolist() == [1, 3, 9]
    assert [v.shape for v in found.values] == [(2, 3000), (1, 2)]
    assert (found.values[0] == 5).all()
    assert (found.values[1] == 6).all()
    empty = np.empty(0, np.int32)
    cache.install_push(1, Push(empty, empty, (), 7, 0, (0,)))
    assert shared.cached(1, rows).clock.tolist() == [7, 7, 7]


class Careless(SharedShard):
    """Changes rows without saying so."""

    def apply(self, oplog):
        ServerShard.apply(self, oplog)


@pytest.mark.parametrize("kind", [SharedShard, Careless])
def test_no_row_is_torn(kind):
    """A process reads rows while this one changes them; all entries of a row are equal at every moment."""
    places = Places(LAYOUT, CLIENTS, 0)
    with Arena.create(places.end + 64, places.committed) as arena:
        shared = SharedTables(arena, LAYOUT, places)
        server, pools = machine(shared, kind)
        with starting() as context:
            ours, theirs = context.Pipe()
            most = 1_000_000 if kind is Careless else 3000
            reader = context.Process(target=read_rows, args=(arena, theirs, most), daemon=True)
            reader.start()
        theirs.close()
        seq = 0
        while not ours.poll():
            for _ in range(64):
                if seq % 3 == 0:
                    server.shared[:] = True  # handed out: the next change goes to fresh slots
                server.receive(0, oplog(0, seq))
                seq += 1
            if pools.crowded:
                pools.collect(server.alive())
        torn, reads, seen = ours.recv()
        reader.join()
        ours.close()
    assert reads > 0
    if kind is Careless:
        assert torn > 0
    else:
        assert torn == 0
        assert seen > 10  # it has seen changes, not one state


def read_rows(arena, line, most):
    """How many rows were torn, how many were read, and how many values were seen; stops at the first torn."""
    shared = SharedTables(arena, LAYOUT, Places(LAYOUT, CLIENTS, 0))
    rows, torn, reads, seen = np.array([0, 2, 4, 6], np.int32), 0, 0, set()
    while torn == 0 and (reads < most or len(seen) <= 10):
        for row in shared.read(0, rows):
            reads += 1
            torn += bool((row != row[0]).any())
            seen.add(float(row[0]))
    line.send((torn, reads, len(seen)))

"""Updates in transit, against plain sums over everything that was ever made."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.core.layout import Layout, TableSpec
from pskit.core.transit import Room, Transit, TransitFull

LAYOUT = Layout([TableSpec("a", 4, 2, "f8"), TableSpec("b", 3, 1, "f4")], shards=2)
CLIENTS, WORKERS = 3, 4
ROWS = st.sets(st.integers(0, LAYOUT.n_rows - 1), min_size=1).map(sorted)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("inc"), st.integers(0, WORKERS - 1), ROWS),
        st.tuples(st.just("apply"), st.integers(0, 50), st.sets(st.integers(0, CLIENTS - 1))),
        st.tuples(st.just("push"), st.integers(0, CLIENTS - 1), st.integers(0, 1)),
        st.tuples(st.just("look"), st.integers(0, WORKERS - 1), ROWS),
    ),
    max_size=60,
)


class Naive:
    """All units ever made, as a list of dicts."""

    def __init__(self):
        self.units, self.applied, self.seq = [], [0, 0], [0] * WORKERS

    def unseen(self, me, client, rows, by_producer):
        sums = {}
        for unit in self.units:
            if unit["producer"] != me and client in unit["owed"]:
                group = unit["producer"] if by_producer else 0
                for row, delta in unit["rows"].items():
                    if row in rows:
                        sums[group, row] = sums.get((group, row), 0) + delta
        return max((float(np.abs(delta).max()) for delta in sums.values()), default=0.0)


@settings(max_examples=150)
@given(STEPS, st.booleans())
def test_the_norm_of_what_is_unseen(steps, by_producer):
    transit, naive = Transit(LAYOUT, CLIENTS), Naive()
    for number, (what, a, b) in enumerate(steps):
        if what == "inc":
            increment(transit, naive, a, b, number)
        elif what == "apply":
            waiting = [u for u in naive.units if u["index"] is None]
            if waiting:
                apply(transit, naive, waiting[a % len(waiting)], b)
        elif what == "push":
            for unit in naive.units:
                if unit["shard"] == b and unit["index"] is not None:
                    unit["owed"].discard(a)
            transit.seen(a, b, naive.applied[b])
        else:
            rows, client = np.array(b, np.int32), a % CLIENTS
            found = transit.largest(a, client, rows, by_producer)
            assert found == naive.unseen(a, client, b, by_producer)
        assert len(transit) == sum(bool(u["owed"]) for u in naive.units)


def increment(transit, naive, producer, rows, number):
    """Multiples of a power of two: sums of them are exact in any order."""
    for table in (0, 1):
        for shard in (0, 1):
            mine = [r for r in rows if r % 2 == shard and LAYOUT.table_of_row[r] == table]
            if mine:
                cols = LAYOUT.tables[table].cols
                delta = (np.arange(len(mine) * cols).reshape(-1, cols) - number) / 8
                seq = naive.seq[producer]
                naive.seq[producer] += 1
                transit.made(producer, seq, shard, np.array(mine, np.int32), delta)
                values = dict(zip(mine, delta, strict=True))
                unit = {"producer": producer, "seq": seq, "shard": shard, "rows": values, "index": None}
                naive.units.append(unit | {"owed": set(range(CLIENTS))})


def apply(transit, naive, unit, owed):
    unit["index"] = naive.applied[unit["shard"]]
    naive.applied[unit["shard"]] += 1
    unit["owed"] = set(owed)
    mask = np.zeros(CLIENTS, np.bool_)
    mask[list(owed)] = True
    transit.applied(unit["producer"], unit["seq"], unit["shard"], unit["index"], mask)


def test_a_push_tells_of_the_units_before_it_only():
    transit = Transit(LAYOUT, CLIENTS)
    everybody = np.ones(CLIENTS, np.bool_)
    for seq in (0, 1):
        transit.made(0, seq, 0, np.array([0], np.int32), np.full((1, 2), 1.0 + seq))
        transit.applied(0, seq, 0, seq, everybody)
    rows = np.array([0], np.int32)
    assert transit.largest(1, 1, rows, False) == 3.0
    transit.seen(1, 0, 1)
    assert transit.largest(1, 1, rows, False) == 2.0
    assert transit.largest(2, 2, rows, False) == 3.0
    assert transit.largest(0, 0, rows, False) == 0.0  # its own


def test_cancelling_updates_are_nothing_together_and_something_apart():
    transit = Transit(LAYOUT, CLIENTS)
    for producer, value in ((0, 1.0), (1, -1.0)):
        transit.made(producer, 0, 0, np.array([2], np.int32), np.full((1, 2), value))
    rows = np.array([0, 2], np.int32)
    assert transit.largest(2, 2, rows, by_producer=False) == 0.0
    assert transit.largest(2, 2, rows, by_producer=True) == 1.0
    assert transit.largest(2, 2, rows[:1], by_producer=True) == 0.0


def test_room_is_made_by_clearing_away_and_by_growing():
    """Thousands of units go through; as few as are alive are kept, in their order."""
    transit = Transit(LAYOUT, 1)
    everybody = np.ones(1, np.bool_)
    for seq in range(3000):
        transit.made(0, seq, 0, np.array([0, 2], np.int32), np.full((2, 2), float(seq)))
        transit.applied(0, seq, 0, seq, everybody)
        if seq >= 100:
            transit.seen(0, 0, seq - 99)
    assert len(transit) == 100
    assert len(transit.room.units) < 1000
    assert [unit[1] for unit in transit.units()] == list(range(2900, 3000))
    assert transit.largest(1, 0, np.array([2], np.int32), False) == sum(range(2900, 3000))


def test_shared_room_does_not_grow():
    transit = Transit(LAYOUT, 1, Room.make(1, units=4, rows=8, values=16))
    rows, delta = np.array([0], np.int32), np.ones((1, 2))
    for seq in range(4):
        transit.made(0, seq, 0, rows, delta)
    with pytest.raises(TransitFull, match="4 updates are in transit at once"):
        transit.made(0, 4, 0, rows, delta)
    transit.applied(0, 1, 0, 0, np.zeros(1, np.bool_))  # nobody has a copy that lacks it
    transit.made(0, 4, 0, rows, delta)
    assert [unit[1] for unit in transit.units()] == [0, 2, 3, 4]

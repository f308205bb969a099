import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.core.layout import Layout
from pskit.core.oplog import SHORT, TableLog, UpdateLog

LAYOUT = Layout([("a", 6, 2, "f4"), ("b", 5, 1, "i8")], shards=3)


def part(table, local, value):
    """Ascending global rows of a table, and a delta that depends on the row."""
    rows = (np.array(sorted(local)) + LAYOUT.offsets[table]).astype(np.int32)
    spec = LAYOUT.tables[table]
    delta = (np.arange(1, len(rows) + 1)[:, None] * value * np.ones(spec.cols)).astype(spec.dtype)
    return rows, delta


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("inc"), st.integers(0, 1), st.sets(st.integers(0, 4), min_size=1), st.integers(1, 9)
        ),
        st.tuples(st.just("close")),
        st.tuples(st.just("drop"), st.integers(0, 20)),
    ),
    max_size=40,
)


@settings(max_examples=150)
@given(STEPS)
def test_units_are_what_a_plain_dict_keeps(steps):
    log = UpdateLog(LAYOUT)
    units = [{}]  # by sequence number: global row -> sum
    forgotten = -1
    for step, *given_ in steps:
        if step == "inc":
            table, local, k = given_
            rows, delta = part(table, local, k / 10 if table == 0 else k)
            log.inc(table, rows, delta)
            for row, d in zip(rows.tolist(), delta, strict=True):
                units[-1][row] = units[-1][row] + d if row in units[-1] else d
        elif step == "close":
            shards = log.close()
            assert all(shards.values())
            sent = {}
            for shard, parts in shards.items():
                tables = [p.table for p in parts]
                assert tables == sorted(set(tables))
                for p in parts:
                    assert len(p.rows)
                    assert (np.diff(p.rows) > 0).all()
                    assert (p.rows % LAYOUT.shards == shard).all()
                    assert (LAYOUT.table_of_row[p.rows] == p.table).all()
                    sent |= dict(zip(p.rows.tolist(), p.delta, strict=True))
            assert sent.keys() == units[-1].keys()
            assert all(sent[row].tobytes() == units[-1][row].tobytes() for row in sent)
            units.append({})
        else:
            forgotten = max(forgotten, min(given_[0], len(units) - 1) - 1)
            log.drop(lambda rows, seq, upto=forgotten: (seq <= upto) & (rows % 2 == 0))
        assert log.seq == len(units) - 1
        kept = {(row, seq): d for row, seq, d in log.entries()}
        assert len(kept) == len(log.entries())
        gone = {(r, s) for s in range(forgotten + 1) for r in units[s] if r % 2 == 0}
        expected = {(row, seq): d for seq, unit in enumerate(units) for row, d in unit.items()}
        assert expected.keys() - kept.keys() <= gone
        assert kept.keys() <= expected.keys()
        assert all(kept[key].tobytes() == expected[key].tobytes() for key in kept)


def test_incs_of_a_clock_are_added_up():
    log = UpdateLog(LAYOUT)
    log.inc(1, *part(1, [1, 3], 1))
    log.inc(1, *part(1, [3], 10))
    log.inc(1, *part(1, [0, 3], 100))
    parts = [part for shard in log.close().values() for part in shard]
    got = {int(r): int(d[0]) for q in parts for r, d in zip(q.rows, q.delta, strict=True)}
    assert got == {6: 100, 7: 1, 9: 212}


def test_an_empty_unit_still_has_a_number():
    log = UpdateLog(LAYOUT)
    assert log.close() == {}
    assert log.seq == 1


def test_a_sent_unit_is_not_changed_by_later_incs():
    log = UpdateLog(Layout([("a", 3, 1, "f8")]))
    log.inc(0, np.array([1], np.int32), np.ones((1, 1)))
    ((sent,),) = log.close().values()
    log.inc(0, np.array([1], np.int32), np.ones((1, 1)))
    log.drop(lambda rows, seq: seq == 0)
    log.inc(0, np.array([0, 1], np.int32), np.ones((2, 1)))
    assert (sent.rows.tolist(), sent.delta.tolist()) == ([1], [[1.0]])


def test_the_callers_arrays_are_its_own():
    log = UpdateLog(Layout([("a", 3, 1, "f8")]))
    rows, delta = np.array([1], np.int32), np.ones((1, 1))
    log.inc(0, rows, delta)
    rows[0], delta[0] = 2, 7
    ((sent,),) = log.close().values()
    assert (sent.rows.tolist(), sent.delta.tolist()) == ([1], [[1.0]])


def test_units_are_re_added_one_by_one():
    """Summed first, the units would change the last bit."""
    log = UpdateLog(Layout([("a", 1, 1, "f4")]))
    row = np.zeros(1, np.int32)
    small = np.full((1, 1), 2.0**-24, np.float32)
    for _ in range(3):
        log.inc(0, row, small)
        log.close()
    view = np.ones((1, 1), np.float32)
    log.add_to(0, view, row, np.array([1], np.int32))
    one_by_one = (np.float32(1) + small[0, 0]) + small[0, 0]
    assert view[0, 0] == one_by_one == 1 != np.float32(1) + (small[0, 0] + small[0, 0])


def test_open_unit_is_re_added_and_contained_ones_are_not():
    log = UpdateLog(Layout([("a", 4, 1, "i8")]))
    rows = np.arange(4, dtype=np.int32)
    for k in range(4):
        log.inc(0, rows, np.full((4, 1), 10**k))
        if k < 3:
            log.close()
    view = np.zeros((4, 1), np.int64)
    log.add_to(0, view, rows, np.array([0, 1, 3, 4], np.int32))
    assert view[:, 0].tolist() == [1111, 1110, 1000, 0]


def test_long_asks_for_a_drop_and_grows_with_what_is_left():
    log = UpdateLog(Layout([("a", 100, 1, "i8")]))
    rows = np.arange(100, dtype=np.int32)
    for _ in range(11):
        assert not log.long
        log.inc(0, rows, np.ones((100, 1), np.int64))
        log.close()
    assert log.long
    log.drop(lambda rows, seq: seq < 0)
    assert not log.long
    log.drop(lambda rows, seq: seq < 11)
    assert log.entries() == []


def test_a_long_log_keeps_what_is_needed():
    log = TableLog(2, np.dtype("f8"))
    rows = np.arange(SHORT + 100, dtype=np.int32)
    for seq in range(3):
        log.add(seq, rows, np.stack([rows, rows + seq / 4], axis=1))
    log.drop(lambda rows, seq: (seq == 0) | (rows % 3 == seq))
    start = log.start.tolist()
    assert log.seq[: log.n_units].tolist() == [1, 2]
    for seq, a, b in ((1, 0, start[1]), (2, start[1], start[2])):
        left = rows[rows % 3 != seq]
        assert log.rows[a:b].tolist() == left.tolist()
        assert np.array_equal(log.delta[a:b], np.stack([left, left + seq / 4], axis=1))


def test_the_buffers_grow():
    log = TableLog(2, np.dtype("f8"))
    for seq in range(50):
        rows = np.arange(seq % 7 + 1, dtype=np.int32)
        log.add(seq, rows, np.full((len(rows), 2), float(seq)))
    assert log.used == sum(seq % 7 + 1 for seq in range(50))
    for seq in range(50):
        cut = slice(log.start[seq], log.start[seq + 1])
        assert log.seq[seq] == seq
        assert log.rows[cut].tolist() == list(range(seq % 7 + 1))
        assert (log.delta[cut] == seq).all()
    assert log.newest(48) is None
    rows, delta = log.newest(49)
    assert (rows.tolist(), delta[0].tolist()) == ([0], [49.0, 49.0])

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.core.layout import Layout, TableError, TableSpec

SPECS = st.lists(
    st.tuples(st.integers(1, 9), st.integers(1, 5), st.sampled_from(["f4", "f8", "i4", "i8"])),
    min_size=1,
    max_size=4,
).map(lambda specs: [TableSpec(f"t{i}", *s) for i, s in enumerate(specs)])


@settings(max_examples=80)
@given(SPECS, st.integers(1, 12))
def test_every_row_has_one_place(tables, shards):
    layout = Layout(tables, shards)
    rows = np.arange(layout.n_rows, dtype=np.int32)
    assert layout.n_rows == sum(t.rows for t in tables)
    assert [layout.shard_rows(j) for j in range(shards)] == [len(rows[j::shards]) for j in range(shards)]
    names = [(t.name, i) for t in tables for i in range(t.rows)]
    for row, (name, i) in enumerate(names):
        table = layout.table_of_row[row]
        assert (layout.tables[table].name, row - layout.offsets[table]) == (name, i)
        spec = tables[table]
        assert layout.bytes_of_row[row] == spec.cols * int(spec.dtype[1])
    assert layout.payload_bytes(rows) == layout.bytes_of_row.sum()


@settings(max_examples=80)
@given(st.integers(1, 7), st.sets(st.integers(0, 29)))
def test_split_by_shard(shards, rows):
    rows = np.array(sorted(rows), np.int32)
    parts = Layout([("t", 30, 1)], shards).split_by_shard(rows)
    assert [j for j, _ in parts] == sorted({int(r) % shards for r in rows})
    for j, part in parts:
        assert part.dtype == np.int32
        assert part.tolist() == [r for r in rows.tolist() if r % shards == j]


def test_tables_by_name():
    layout = Layout([("u", 2, 3), ("v", 4, 1, "i8")])
    assert [layout.table_index(n) for n in ("u", "v")] == [0, 1]
    assert layout.row_bytes == (12, 8)
    with pytest.raises(KeyError, match=r"no table 'w'.*'u', 'v'"):
        layout.table_index("w")


@pytest.mark.parametrize(
    ("tables", "shards", "message"),
    [
        ([], 1, "1 to 255 tables, got 0"),
        ([(f"t{i}", 1, 1) for i in range(256)], 1, "1 to 255 tables, got 256"),
        ([("a", 1, 1), ("a", 2, 1)], 1, "names must differ"),
        ([("a", 0, 1)], 1, "'a' needs at least one row and column, got 0 x 1"),
        ([("a", 1, 0)], 1, "'a' needs at least one row and column, got 1 x 0"),
        ([("a", 1, 1, "f2")], 1, "'a': dtype 'f2' is not one of"),
        ([("a", 10**12, 1)], 1, "at most 2147483647 rows, got 1000000000000, of which table 'a'"),
        ([("a", 2**30, 1), ("b", 2**30, 1)], 1, "at most 2147483647 rows, got 2147483648"),
        ([("a", 10**30, 1)], 1, "at most 2147483647 rows"),
        ([("a", 1, 2**30)], 1, "'a': a row of 1073741824 columns takes 4294967296 bytes"),
        ([("a", 1.0, 1)], 1, "'a': rows and cols are whole numbers, got 1.0 x 1"),
        ([("a", 1, 1, "f4", 2)], 1, "a table is a TableSpec"),
        ([("a", 1)], 1, "a table is a TableSpec"),
        ([None], 1, "a table is a TableSpec"),
        ([(1, 1, 1)], 1, "the name of a table is text, got 1"),
        ([("a", 1, 1)], 0, "shards must be at least 1, got 0"),
    ],
)
def test_refused(tables, shards, message):
    with pytest.raises(ValueError, match=message):
        Layout(tables, shards)


def test_sizes_become_plain_integers():
    layout = Layout([("a", np.int32(2**20), np.int32(2**20))])
    assert layout.tables == (TableSpec("a", 2**20, 2**20),)
    assert layout.n_rows * layout.row_bytes[0] == 2**42
    assert type(layout.tables[0].rows) is int


def test_a_table_that_cannot_be_is_refused_when_it_is_made():
    for fields in (("w", -1, 1), ("w", 1, 1, "u7"), ("w", "3", 1), ("", 1, 1), (3, 1, 1)):
        with pytest.raises(TableError):
            TableSpec(*fields)
    spec = TableSpec("w", np.int64(3), cols=2)
    assert (spec, type(spec.rows)) == (("w", 3, 2, "f4"), int)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert repr(spec) == "TableSpec(name='w', rows=3, cols=2, dtype='f4')"

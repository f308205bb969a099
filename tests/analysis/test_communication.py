import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.analysis.communication import by_clock, totals
from pskit.errors import InputError
from pskit.trace.schema import MESSAGE_KINDS

amounts = st.tuples(st.integers(1, 10**6), st.integers(0, 2**40), st.integers(0, 10**6))
tables = st.dictionaries(st.tuples(st.integers(0, 9), st.integers(0, len(MESSAGE_KINDS) - 1)), amounts)


def columns(table):
    rows = np.array([(*key, *more) for key, more in sorted(table.items())], np.int64).reshape(-1, 5)
    return dict(zip(("clock", "kind", "count", "bytes", "rows"), rows.T, strict=True))


def summed(values):
    messages, size, rows = np.array([(0, 0, 0), *values], np.int64).sum(axis=0).tolist()
    return {"messages": messages, "bytes": size, "rows": rows}


@given(tables)
def test_totals_by_kind_and_of_all(table):
    got = totals(columns(table))
    assert got.pop("all") == summed(table.values())
    kinds = sorted({k for _, k in table})
    assert list(got) == [MESSAGE_KINDS[k] for k in kinds]
    for k in kinds:
        assert got[MESSAGE_KINDS[k]] == summed(v for key, v in table.items() if key[1] == k)


@given(tables, st.sampled_from([None, *MESSAGE_KINDS]))
def test_by_clock_has_every_clock(table, kind):
    got = by_clock(columns(table), kind)
    n = max((c for c, _ in table), default=-1) + 1
    assert got["clock"].tolist() == list(range(n))
    for clock in range(n):
        chosen = [v for (c, k), v in table.items() if c == clock and kind in (None, MESSAGE_KINDS[k])]
        assert {name: int(got[name][clock]) for name in ("messages", "bytes", "rows")} == summed(chosen)


def test_an_unknown_kind_is_named():
    with pytest.raises(InputError, match="'gossip'"):
        by_clock(columns({}), "gossip")

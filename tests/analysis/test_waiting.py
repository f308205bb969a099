import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.analysis.waiting import clock_time, time_split, waiting_share

parts = st.integers(0, 10**12)
lines = st.lists(st.tuples(st.integers(0, 5), parts, parts, parts, parts), min_size=1, max_size=40)


def columns(rows):
    worker, begin, compute, wait, rest = np.array(rows, np.int64).reshape(-1, 5).T
    end = begin + compute + wait + rest
    return {"worker": worker, "t_begin": begin, "t_end": end, "t_compute": compute, "t_wait": wait}


@given(lines)
def test_time_split_adds_up_per_worker(rows):
    split = time_split(columns(rows))
    assert split["worker"].tolist() == sorted({r[0] for r in rows})
    for i, worker in enumerate(split["worker"]):
        own = [r for r in rows if r[0] == worker]
        got = [int(split[name][i]) for name in ("computing", "waiting", "sending")]
        assert got == [sum(r[k] for r in own) for k in (2, 3, 4)]


@given(lines)
def test_waiting_share_is_over_all_time(rows):
    total = sum(sum(r[2:]) for r in rows)
    share = waiting_share(columns(rows))
    assert share == pytest.approx(sum(r[3] for r in rows) / total) if total else math.isnan(share)


@given(lines, st.floats(0, 1))
def test_clock_time_is_in_seconds(rows, q):
    spans = [sum(r[2:]) * 1e-9 for r in rows]
    assert clock_time(columns(rows), q) == pytest.approx(np.quantile(spans, q), abs=1e-9)


def test_no_clock_at_all():
    nothing = columns([])
    assert math.isnan(waiting_share(nothing))
    assert math.isnan(clock_time(nothing, 0.5))
    assert all(len(v) == 0 for v in time_split(nothing).values())

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.apps.kernels.grouping import group_rows


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), max_size=8), max_size=6))
def test_each_batch_is_grouped_as_by_unique(batches: list[list[int]]) -> None:
    rows = np.array([row for batch in batches for row in batch], np.int32)
    bounds = np.cumsum([0, *map(len, batches)])
    distinct, distinct_bounds, local = group_rows(rows, bounds, 7)
    assert (distinct.dtype, local.dtype) == (np.int32, np.int32)
    assert distinct_bounds[-1] == len(distinct)
    for i, batch in enumerate(batches):
        expected, inverse = np.unique(np.array(batch, np.int32), return_inverse=True)
        assert distinct[distinct_bounds[i] : distinct_bounds[i + 1]].tolist() == expected.tolist()
        assert local[bounds[i] : bounds[i + 1]].tolist() == inverse.tolist()


def test_no_rows_at_all() -> None:
    distinct, bounds, local = group_rows(np.empty(0, np.int32), np.zeros(4, np.int64), 0)
    assert (len(distinct), bounds.tolist(), len(local)) == (0, [0, 0, 0, 0], 0)

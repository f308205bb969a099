"""Searching many sequences at once is searching each."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pskit.auditing.groups import SortedGroups

NUMBERS = st.integers(0, 6) | st.integers(2**62, 2**62 + 3)
PAIRS = st.lists(st.tuples(st.integers(0, 3), NUMBERS), max_size=30)


def columns(pairs) -> tuple[np.ndarray, np.ndarray]:
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


@given(PAIRS, PAIRS)
def test_counts_are_those_of_each_group(pairs, asked) -> None:
    group, value = columns(pairs)
    groups = SortedGroups(group, value, 4)
    for g in range(4):
        cut = slice(groups.start[g], groups.start[g + 1])
        assert groups.value[cut].tolist() == sorted(v for k, v in pairs if k == g)
        assert (groups.group[cut] == g).all()
    assert (group[groups.order] == groups.group).all()
    assert (value[groups.order] == groups.value).all()
    below, upto = (groups.count(*columns(asked), inclusive=i) for i in (False, True))
    assert below.tolist() == [sum(k == g and v < x for k, v in pairs) for g, x in asked]
    assert upto.tolist() == [sum(k == g and v <= x for k, v in pairs) for g, x in asked]


@given(PAIRS)
def test_equal_values_stay_as_given(pairs) -> None:
    groups = SortedGroups(*columns(pairs), 4)
    for a, b in zip(groups.order, groups.order[1:], strict=False):
        assert pairs[a] < pairs[b] or (pairs[a] == pairs[b] and a < b)

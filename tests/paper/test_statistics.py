import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.repro.statistics import LEVEL, estimate


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=40))
def test_the_median_lies_in_its_interval(values):
    found = estimate(values)
    assert found.low <= found.value <= found.high
    assert found.n == len(values)


def test_few_seeds_give_all_of_them():
    assert estimate([3.0, 1.0, 2.0, 5.0, 4.0])[:4] == (3.0, 1.0, 5.0, 5)
    assert estimate([3.0, 1.0, 2.0, 5.0, 4.0]).level == pytest.approx(0.9375)
    assert estimate([2.0, 1.0, 3.0]).level == pytest.approx(0.75)
    assert estimate([7.0]) == (7.0, 7.0, 7.0, 1, 0.0)


def test_many_seeds_give_the_narrowest_interval_that_keeps_the_level():
    found = estimate(list(range(20)))
    assert (found.value, found.low, found.high) == (9.5, 5.0, 14.0)
    assert found.level >= LEVEL


def test_infinite_values_are_values():
    assert estimate([1.0, math.inf, math.inf]).value == math.inf
    assert estimate([1.0, 2.0, math.inf])[:3] == (2.0, 1.0, math.inf)
    assert estimate([math.inf, math.inf]).value == math.inf


def test_the_interval_covers_as_often_as_it_says():
    draws = np.random.default_rng(1).standard_exponential((4000, 11))
    found = [estimate(row) for row in draws]
    covered = np.mean([e.low <= math.log(2) <= e.high for e in found])
    assert covered == pytest.approx(found[0].level, abs=0.02)

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.analysis.convergence import curve, diverged, excursion, final_loss, time_to
from pskit.errors import InputError

losses = st.lists(st.floats(0.01, 1e6), min_size=2, max_size=30).map(np.array)


@given(losses)
def test_excursion_is_the_largest_ratio_to_an_earlier_value(values):
    oracle = max(values[j] / values[i] for j in range(len(values)) for i in range(j))
    assert excursion(values) == pytest.approx(oracle)


def test_excursion_of_special_curves():
    assert excursion(np.array([4.0, 2.0, 1.0])) == 0.5
    assert excursion(np.array([4.0, 1.0, 3.0, 2.0])) == 3.0
    assert excursion(np.array([4.0, np.nan, 1.0])) == math.inf
    assert excursion(np.array([np.inf])) == math.inf
    assert math.isnan(excursion(np.array([1.0])))
    with pytest.raises(InputError, match="positive"):
        excursion(np.array([-7.0, -6.0]))


@given(losses, st.floats(0.01, 1e6), st.booleans())
def test_time_to_is_where_the_broken_line_first_meets_the_target(values, target, rising):
    at = np.cumsum(1 + np.arange(len(values)) % 3)
    got = time_to(at, values, target, rising)
    sign = -1 if rising else 1
    past = [i for i in range(len(values)) if sign * values[i] <= sign * target]
    if not past:
        assert got == math.inf
    elif past[0] == 0:
        assert got == at[0]
    else:
        i = past[0]
        assert at[i - 1] <= got <= at[i]
        assert np.interp(got, at[i - 1 : i + 1], values[i - 1 : i + 1]) == pytest.approx(target, rel=1e-6)


def test_time_to_next_to_values_that_are_not_finite():
    at = np.array([0, 10, 20])
    assert time_to(at, np.array([np.inf, 1.0, 0.5]), 2.0) == 10
    assert time_to(at, np.array([np.nan, np.nan, np.nan]), 2.0) == math.inf
    assert time_to(at, np.array([3.0, -np.inf, 1.0]), 2.0) == 20
    assert time_to(at, np.array([-3.0, np.inf, -1.0]), -2.0, rising=True) == 20


def test_final_loss_and_divergence():
    assert final_loss(np.array([3.0, 2.0])) == 2.0
    assert final_loss(np.array([3.0, np.nan])) == math.inf
    assert not diverged(np.array([1.0, 10.0, 0.1]))
    assert diverged(np.array([1.0, 10.1, 0.1]))
    assert diverged(np.array([1.0, 3.0, 0.1]), factor=2.0)
    assert diverged(np.array([1.0, np.nan]))


def test_curve_takes_the_rows_of_one_name():
    metrics = {
        "t": np.array([5, 5, 9]),
        "clock": np.array([0, 0, 1]),
        "name": np.array(["loss", "test_loss", "loss"]),
        "value": np.array([3.0, 4.0, 2.0]),
    }
    got = curve(metrics)
    assert {k: v.tolist() for k, v in got.items()} == {"clock": [0, 1], "time": [5, 9], "value": [3.0, 2.0]}
    with pytest.raises(InputError, match=r"'accuracy'.*\['loss', 'test_loss'\]"):
        curve(metrics, "accuracy")
    with pytest.raises(InputError, match="none at all"):
        curve({n: v[:0] for n, v in metrics.items()})

"""Tails, quantiles and slopes."""

import math

import numpy as np
import pytest

from figures.tails import band, quantile, run_tail, slopes, surprise
from tests.figures.made_up import CATALOGUE
from tests.paper.batches import batches


def test_quantiles_are_covered_as_often_as_they_say():
    draws = np.random.default_rng(1).standard_exponential((2000, 200))
    for q in (0.5, 0.9, 0.98):
        found = [quantile(row, q) for row in draws]
        covered = np.mean([low <= -math.log(1 - q) <= high for _, low, high, _ in found])
        level = found[0][3]
        assert 0.88 <= level <= 0.97
        assert covered == pytest.approx(level, abs=0.025)


def test_a_quantile_that_so_few_values_do_not_reach_has_no_upper_end():
    value, low, high, level = quantile(np.arange(10.0), 0.98)
    assert high == 9.0
    assert low <= value <= high
    assert level < 0.5


def test_surprise_is_a_binomial_tail():
    by_hand = sum(math.comb(20, k) * 0.3**k * 0.7 ** (20 - k) for k in range(9, 21))
    assert surprise(0.3, 9, 20) == pytest.approx(by_hand, rel=1e-12)
    assert (surprise(0.3, 0, 20), surprise(1.0, 20, 20)) == (1.0, 1.0)


def test_the_band_holds_the_share_and_the_bound_is_its_upper_side():
    values = np.random.default_rng(2).standard_normal(200)
    x = np.linspace(-3, 4, 50)
    low, high = band(values, x, 0.002)
    share = (values > x[:, None]).mean(axis=1)
    assert (low <= share).all()
    assert (share <= high).all()
    np.testing.assert_allclose(run_tail(values, x, 0.001), high)
    assert low[-1] == 0.0
    assert high[0] == 1.0


def test_slopes_of_a_power():
    runs = batches(CATALOGUE, "theorem5-rate").select(app="huber", noise=0.0)
    assert slopes(runs) == pytest.approx([-1.0] * 8)

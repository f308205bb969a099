"""Variance floors and their intervals."""

import numpy as np
import pytest

from figures.floors import extremes, floor, floors, jackknife, ratio
from figures.tails import LEVEL
from tests.figures.made_up import CATALOGUE
from tests.paper.batches import batches


def near():
    return floors(batches(CATALOGUE, "vap-floor").select(step=0.06, latency="200ms", reversion=0.0))


def test_a_floor_is_a_ratio_of_means_with_an_interval():
    runs = near().vap[-1]
    found = floor(runs)
    assert found.value == pytest.approx(runs.column("floor").mean() / runs.column("serial").mean())
    assert found.low < 1.3 < found.high
    assert found.high - found.low < 0.01  # chance is common to both: 10% of it leaves .2%
    assert found.n == 6


def test_floors_are_compared_seed_by_seed():
    low, high = extremes(near().essp)
    assert (low.values("slack"), high.values("slack")) == ([1], [16])
    found = ratio(high, low)
    assert found.value == pytest.approx(1.43 / 1.35)
    assert found.high - found.low < 1e-9  # in every seed the same


def test_a_run_that_diverged_has_an_infinite_floor():
    (one, _) = floors(batches(CATALOGUE, "vap-floor").select(step=0.18)).essp
    assert floor(one).value == np.inf


def test_the_jackknife_of_a_mean_is_the_t_interval():
    values = np.array([1.0, 2.0, 4.0, 9.0])
    found = jackknife(np.mean, values)
    margin = 2.353363 * values.std(ddof=1) / 2  # t of 3 degrees of freedom at 95%
    assert found[:4] == pytest.approx((4.0, 4.0 - margin, 4.0 + margin, 4), rel=1e-5)
    assert found.level == LEVEL


def test_the_jackknife_of_paired_columns():
    values = np.array([1.0, 2.0, 4.0])
    found = jackknife(lambda a, b: a.mean() / b.mean(), 3 * values, values)
    assert found[:3] == pytest.approx((3.0, 3.0, 3.0))
    assert jackknife(np.mean, [5.0]) == (5.0, 5.0, 5.0, 1, 0.0)


def test_the_interval_of_the_jackknife_covers_as_often_as_it_says():
    draws = np.random.default_rng(2).normal(10.0, 1.0, (2000, 2, 6))
    found = [jackknife(lambda a, b: a.mean() / b.mean(), *pair) for pair in draws]
    assert np.mean([e.low <= 1.0 <= e.high for e in found]) == pytest.approx(LEVEL, abs=0.02)

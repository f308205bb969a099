import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.analysis.staleness import Staleness, total_variation

raw_reads = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30)), min_size=1, max_size=80)


def from_reads(reads):
    """The reads as a recorder would count them, and their ages one by one."""
    pairs, count = np.unique(np.array(reads), axis=0, return_counts=True)
    return Staleness(pairs[:, 0], pairs[:, 1], count), np.array(reads)[:, 1]


@given(raw_reads)
def test_moments_are_those_of_the_single_reads(reads):
    staleness, ages = from_reads(reads)
    assert staleness.reads == len(ages)
    assert staleness.mean() == pytest.approx(ages.mean(), rel=1e-12)
    assert staleness.var() == pytest.approx(ages.var(), rel=1e-9, abs=1e-12)


@given(raw_reads, st.floats(0, 1))
def test_quantiles_are_those_of_the_single_reads(reads, q):
    staleness, ages = from_reads(reads)
    assert staleness.quantile(q) == np.quantile(ages, q, method="inverted_cdf")


@given(raw_reads, st.integers(0, 30), st.integers(0, 30))
def test_shares(reads, low, high):
    staleness, ages = from_reads(reads)
    assert staleness.share(low, high) == pytest.approx(((ages >= low) & (ages <= high)).mean())
    assert staleness.share(0, 30) == 1.0


@given(raw_reads)
def test_both_conventions_of_the_histogram(reads):
    staleness, ages = from_reads(reads)
    by_age, by_differential = staleness.histogram("age"), staleness.histogram()
    assert by_age == {a: (ages == a).sum() / len(ages) for a in sorted(set(ages.tolist()))}
    assert by_differential == {-a - 1: p for a, p in by_age.items()}
    assert list(by_differential) == sorted(by_differential)
    assert math.fsum(by_age.values()) == pytest.approx(1.0)


@given(raw_reads)
def test_mean_by_clock(reads):
    staleness, ages = from_reads(reads)
    clocks = np.array(reads)[:, 0]
    got = staleness.mean_by_clock()
    assert got["clock"].tolist() == sorted(set(clocks.tolist()))
    for clock, mean, n in zip(*got.values(), strict=True):
        assert n == (clocks == clock).sum()
        assert mean == pytest.approx(ages[clocks == clock].mean())


@given(raw_reads, st.integers(0, 9), st.integers(0, 9))
def test_a_stretch_of_clocks(reads, first, last):
    inside = [r for r in reads if first <= r[0] <= last]
    part = from_reads(reads)[0].between(first, last)
    assert part.reads == len(inside)
    if inside:
        assert part.histogram() == from_reads(inside)[0].histogram()


def test_bsp_is_one_bar_at_minus_one():
    assert Staleness([0, 1], [0, 0], [5, 7]).histogram(convention="paper") == {-1: 1.0}


def test_uniform_ages_are_at_distance_zero_and_one_bar_far_away():
    assert Staleness(np.zeros(5), np.arange(5), np.full(5, 3)).tv_to_uniform(4) == 0.0
    assert Staleness([0], [2], [9]).tv_to_uniform(4) == pytest.approx(0.8)
    assert Staleness([0], [9], [9]).tv_to_uniform(4) == pytest.approx(1.0)


laws = st.dictionaries(st.integers(-9, 9), st.integers(1, 100), min_size=1).map(
    lambda d: {k: n / sum(d.values()) for k, n in d.items()}
)


@given(laws, laws, laws)
def test_total_variation_is_a_distance(a, b, c):
    keys = range(-9, 10)
    oracle = 0.5 * np.abs([a.get(k, 0) - b.get(k, 0) for k in keys]).sum()
    assert total_variation(a, b) == pytest.approx(oracle, abs=1e-12)
    assert total_variation(a, b) == total_variation(b, a)
    assert total_variation(a, a) == 0.0
    assert total_variation(a, c) <= total_variation(a, b) + total_variation(b, c) + 1e-12
    assert 0.0 <= total_variation(a, b) <= 1.0 + 1e-12


def test_no_read_at_all():
    nothing = Staleness([], [], [])
    assert nothing.histogram() == {}
    assert nothing.reads == 0
    numbers = (
        nothing.mean(),
        nothing.var(),
        nothing.quantile(0.5),
        nothing.share(0, 9),
        nothing.tv_to_uniform(3),
    )
    assert all(math.isnan(x) for x in numbers)
    assert len(nothing.mean_by_clock()["mean"]) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.quantile(1.5),
        lambda s: s.quantile(float("nan")),
        lambda s: s.histogram("bosen"),
        lambda s: s.tv_to_uniform(-1),
    ],
)
def test_wrong_arguments_are_refused(call):
    with pytest.raises(ValueError, match=r"must be|needs"):
        call(Staleness([0], [0], [1]))


def test_two_samples_are_as_far_apart_as_counted_by_hand():
    # Shares of the ages 0, 1, 2: 1/4, 3/4, 0 and 1/5, 2/5, 2/5. Half of 1/20 + 7/20 + 2/5 is 2/5.
    one = Staleness(np.array([3, 4, 4]), np.array([0, 1, 1]), np.array([2, 5, 1]))
    other = Staleness(np.array([9, 9, 9]), np.array([0, 1, 2]), np.array([1, 2, 2]))
    assert one.tv_to(other) == pytest.approx(0.4, abs=1e-15)
    assert other.tv_to(one) == one.tv_to(other)
    assert one.tv_to(one) == 0.0
    apart = Staleness(np.array([1]), np.array([7]), np.array([3]))
    assert one.tv_to(apart) == 1.0
    assert math.isnan(one.tv_to(one.between(5, 6)))

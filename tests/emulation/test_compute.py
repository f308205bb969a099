from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.config import ComputeConfig, Pause
from pskit.emulation.compute import ComputeModel
from pskit.emulation.samplers import Sampler
from pskit.emulation.streams import Stream

MS = 1_000_000
CONSTANT = {"model": "constant", "mean": "100ms"}
NEAR_EQUAL = {"model": "exponential", "floor": "1s", "mean": "100ms"}


def model(worker: int = 0, seed: int = 1, **given: Any) -> ComputeModel:
    return ComputeModel(ComputeConfig(**given), seed, worker)


def clocks(compute: ComputeModel, n: int) -> np.ndarray:
    """Times of the first n clocks, one computation each: (n,) int64, ns."""
    return np.array([compute.duration(0, clock, 0.0, True) for clock in range(n)])


def test_golden_times() -> None:
    stragglers = [{"worker": 3, "factor": 2.5, "probability": 0.5}]
    compute = model(3, 2014, **NEAR_EQUAL, reversion=0.2, per_item="1us", stragglers=stragglers)
    assert [compute.duration(0, clock, 7.0, True) for clock in range(6)] == [
        2780807422,
        2687128028,
        2550967808,
        2668079350,
        2851874632,
        1200248984,
    ]


def test_without_reversion_a_clock_takes_its_draw() -> None:
    draws = Sampler(ComputeConfig(**NEAR_EQUAL), Stream(1, "compute", "clock", 5)).draw(100)
    assert np.array_equal(clocks(model(5, **NEAR_EQUAL), 100), draws)


def test_the_first_computation_pays_the_draw_and_every_one_its_items() -> None:
    compute = model(**CONSTANT, per_item="2us")
    assert compute.duration(0, 0, 10, True) == 100 * MS + 20_000
    assert compute.duration(0, 0, 10.5, False) == 21_000
    assert compute.duration(0, 0, 0, False) == 1, "even nothing takes a nanosecond"
    assert compute.duration(0, 1, np.int64(5), True) == 100 * MS + 10_000  # type: ignore[arg-type]


def test_results_are_python_integers() -> None:
    compute = model(**NEAR_EQUAL, reversion=0.3, per_item="2us", stragglers=[{"worker": 0, "factor": 1.5}])
    assert type(compute.duration(0, 0, np.float64(3.0), True)) is int
    assert type(compute.duration(0, 0, np.int64(3), False)) is int  # type: ignore[arg-type]


def test_a_clock_keeps_its_draw_when_others_are_skipped() -> None:
    times = clocks(model(**NEAR_EQUAL), 20)
    skipping = model(**NEAR_EQUAL)
    assert [skipping.duration(0, clock, 0.0, True) for clock in (3, 4, 19)] == times[[3, 4, 19]].tolist()


def test_a_clock_that_goes_back_is_refused() -> None:
    compute = model(**CONSTANT)
    compute.duration(0, 5, 0.0, True)
    with pytest.raises(ValueError, match="from 5 to 4"):
        compute.duration(0, 4, 0.0, True)


def test_workers_and_seeds_differ_and_other_settings_shift_nothing() -> None:
    times = clocks(model(0, **NEAR_EQUAL), 30)
    assert not np.array_equal(clocks(model(1, **NEAR_EQUAL), 30), times)
    assert not np.array_equal(clocks(model(0, 2, **NEAR_EQUAL), 30), times)
    others = {
        "stragglers": [{"worker": 1, "factor": 3.0, "probability": 0.5}],
        "pauses": [{"worker": 1, "at": 0, "duration": "1h"}],
    }
    assert np.array_equal(clocks(model(0, **NEAR_EQUAL, **others), 30), times)


# Drift. The deviation of a worker is the sum of its times minus the mean schedule.


def deviations(workers: int, n: int, reversion: float) -> np.ndarray:
    """(workers, n) float64, in units of the standard deviation of one draw."""
    times = np.array([clocks(model(w, **NEAR_EQUAL, reversion=reversion), n) for w in range(workers)])
    return (times - 1100 * MS).cumsum(axis=1) / (100 * MS)


def test_independent_times_drift_like_a_random_walk() -> None:
    spread = deviations(100, 900, 0.0).std(axis=0)
    for clock in (100, 400, 900):
        assert spread[clock - 1] == pytest.approx(np.sqrt(clock), rel=0.25)


@pytest.mark.parametrize("reversion", [0.05, 0.2, 0.5, 1.0])
def test_mean_reverting_times_stay_within_a_bounded_distance(reversion: float) -> None:
    deviation = deviations(50, 500, reversion)[:, 100:]
    stationary = 1.0 / np.sqrt(1.0 - (1.0 - reversion) ** 2)
    assert deviation.std() == pytest.approx(stationary, rel=0.15)
    assert np.abs(deviation).max() < 14 * stationary
    late, early = deviation[:, -100:].std(), deviation[:, :100].std()
    assert late == pytest.approx(early, rel=0.35)
    lagged = np.mean(deviation[:, 1:] * deviation[:, :-1]) / np.mean(deviation**2)
    assert lagged == pytest.approx(1.0 - reversion, abs=0.05)


def test_a_late_worker_catches_up_no_faster_than_half_the_floor() -> None:
    compute = model(model="bimodal", floor="100ms", mean=0, far="10s", p_far=0.02, reversion=0.9)
    times = clocks(compute, 3000)
    assert times.min() == 50 * MS
    assert times.sum() / 3000 == pytest.approx(300 * MS, rel=0.05)


@given(st.floats(0, 1), st.integers(0, 1000), st.sampled_from(["0s", "1s"]))
def test_times_are_positive_and_deviation_is_their_exact_sum(reversion: float, seed: int, floor: str) -> None:
    compute = model(0, seed, model="exponential", mean="1s", floor=floor, reversion=reversion)
    draws = Sampler(
        ComputeConfig(model="exponential", mean="1s", floor=floor), Stream(seed, "compute", "clock", 0)
    )
    deviation, mean, shortest = 0, draws.quantile.mean, draws.quantile.floor // 2
    for clock in range(30):
        time = compute.duration(0, clock, 0.0, True)
        wanted = max(draws.next() - round(reversion * deviation), shortest)
        assert time == max(wanted, 1)
        deviation += wanted - mean


# Stragglers and pauses.


def test_a_straggler_is_slow_in_its_clocks_only() -> None:
    stragglers = [
        {"worker": 0, "factor": 2.0, "from_clock": 2, "until_clock": 4},
        {"worker": 0, "factor": 3.0, "from_clock": 3},
        {"worker": 1, "factor": 7.0},
    ]
    times = clocks(model(0, **CONSTANT, stragglers=stragglers), 6) // (100 * MS)
    assert times.tolist() == [1, 1, 2, 6, 3, 3]


def test_a_straggler_is_slow_for_all_computations_of_a_clock_or_for_none() -> None:
    transient = [{"worker": 0, "factor": 4.0, "probability": 0.25}]
    compute = model(0, **CONSTANT, per_item="1ms", stragglers=transient)
    pairs = [(compute.duration(0, c, 0.0, True), compute.duration(0, c, 100.0, False)) for c in range(4000)]
    assert set(pairs) == {(100 * MS, 100 * MS), (400 * MS, 400 * MS)}
    assert np.mean([first == 400 * MS for first, _ in pairs]) == pytest.approx(0.25, abs=0.03)


def test_a_straggler_is_not_pulled_back_by_reversion() -> None:
    slow = clocks(model(0, **NEAR_EQUAL, reversion=0.5, stragglers=[{"worker": 0, "factor": 2.0}]), 200)
    assert np.array_equal(slow, 2 * clocks(model(0, **NEAR_EQUAL, reversion=0.5), 200))


def test_adding_a_straggler_entry_leaves_the_coins_of_the_others() -> None:
    one = [{"worker": 0, "factor": 2.0, "probability": 0.5}]
    two = [*one, {"worker": 0, "factor": 1.5, "probability": 0.5}]
    before = clocks(model(0, **CONSTANT, stragglers=one), 200) > 150 * MS
    after = clocks(model(0, **CONSTANT, stragglers=two), 200)
    assert np.array_equal(np.isin(after, [200 * MS, 300 * MS]), before)
    assert set(after.tolist()) == {100 * MS, 150 * MS, 200 * MS, 300 * MS}


@pytest.mark.parametrize(
    ("now", "time"),
    [
        (0, 100),  # ends as the pause begins
        (1, 150),  # runs into the pause
        (99, 150),
        (100, 150),  # starts with it
        (140, 110),  # starts inside it
        (150, 100),  # starts as it ends
        (880, 180),  # runs into two overlapping pauses: 900 to 980
        (950, 130),
        (2000, 100),
    ],
)
def test_pauses_prolong_what_they_touch(now: int, time: int) -> None:
    spans = [(100, 50), (900, 50), (920, 60), (930, 10), (99_000, 5)]
    pauses = [{"worker": 0, "at": f"{at}ms", "duration": f"{d}ms"} for at, d in reversed(spans)]
    assert model(0, **CONSTANT, pauses=pauses).duration(now * MS, 0, 0.0, True) == time * MS


def test_a_prolonged_computation_runs_into_the_next_pause() -> None:
    pauses = [{"worker": 0, "at": f"{at}ms", "duration": "10ms"} for at in (50, 105, 200)]
    assert model(0, **CONSTANT, pauses=pauses).duration(0, 0, 0.0, True) == 120 * MS


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=5),
    st.integers(0, 80),
    st.integers(1, 30),
)
def test_pauses_leave_the_working_time(spans: list[tuple[int, int]], now: int, work: int) -> None:
    pauses = [Pause(worker=0, at=f"{at}ns", duration=f"{duration}ns") for at, duration in spans]
    compute = model(model="constant", mean=f"{work}ns", pauses=pauses)
    paused = {at + i for at, duration in spans for i in range(duration)}
    end = now
    while work:
        work -= end not in paused
        end += 1
    assert compute.duration(now, 0, 0.0, True) == end - now

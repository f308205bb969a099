from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pskit.config import Distribution
from pskit.emulation.samplers import MODELS, Quantile, Sampler
from pskit.emulation.streams import Stream
from pskit.units import LONGEST_TIME

MS = 1_000_000

GIVEN: dict[str, dict[str, Any]] = {
    "constant": {"mean": "20ms"},
    "uniform": {"low": "10ms", "high": "50ms"},
    "exponential": {"mean": "100ms"},
    "lognormal": {"mean": "100ms", "cv": 0.5},
    "pareto": {"mean": "100ms", "alpha": 2.5},
    "bimodal": {"mean": "1ms", "far": "1s", "p_far": 0.1},
}
SIGMA = np.sqrt(np.log(1.25))
REFERENCE: dict[str, Any] = {
    "uniform": stats.uniform(10 * MS, 40 * MS),
    "exponential": stats.expon(scale=100 * MS),
    "lognormal": stats.lognorm(SIGMA, scale=100 * MS * np.exp(-(SIGMA**2) / 2)),
    "pareto": stats.pareto(2.5, scale=60 * MS),
}


@pytest.fixture(scope="module")
def empirical(tmp_path_factory: pytest.TempPathFactory) -> Distribution:
    file: Path = tmp_path_factory.mktemp("empirical") / "times.txt"
    file.write_text("0.004\n0.001\n0.002\n0.009\n")
    return Distribution(model="empirical", file=str(file))


@pytest.fixture(scope="module")
def distribution(empirical: Distribution) -> Callable[[str], Distribution]:
    def make(model: str) -> Distribution:
        return empirical if model == "empirical" else Distribution(model=model, **GIVEN[model])

    return make


GOLDEN = {
    "constant": [20000000, 20000000, 20000000, 20000000],
    "uniform": [42124299, 25848885, 45516241, 44134162],
    "exponential": [162509725, 50454890, 218841765, 191973415],
    "lognormal": [133811496, 78988092, 158818442, 146941759],
    "pareto": [114936921, 73417632, 143985359, 129313310],
    "bimodal": [1000000, 1000000, 1000000, 1000000],
    "empirical": [9000000, 2000000, 9000000, 9000000],
}


@pytest.mark.parametrize("model", MODELS)
def test_golden_times(distribution: Callable[[str], Distribution], model: str) -> None:
    assert Sampler(distribution(model), Stream(2014, "golden")).draw(4).tolist() == GOLDEN[model]


@pytest.mark.parametrize("model", MODELS)
def test_next_and_draw_give_one_sequence(distribution: Callable[[str], Distribution], model: str) -> None:
    whole = Sampler(distribution(model), Stream(1, "x")).draw(3000).tolist()
    one_by_one = Sampler(distribution(model), Stream(1, "x"))
    assert [one_by_one.next() for _ in range(3000)] == whole
    mixed = Sampler(distribution(model), Stream(1, "x"))
    got: list[int] = []
    for n in (0, 1, 5, 40, 0, 700, 2):
        got += mixed.draw(n).tolist()
        got += [mixed.next() for _ in range(n)]
    assert got == whole[: len(got)]
    assert len(got) == 1496


@given(st.sampled_from(sorted(REFERENCE)), st.integers(0, 2**52 - 1))
def test_quantiles_are_those_of_the_distribution(model: str, cell: int) -> None:
    u = np.array([(cell + 0.5) * 2.0**-52])
    time = Quantile(Distribution(model=model, **GIVEN[model]))(u)
    np.testing.assert_allclose(time, REFERENCE[model].ppf(u), rtol=1e-9, atol=1.0)


@given(st.sampled_from(sorted(GIVEN)), st.lists(st.integers(0, 2**52 - 1), min_size=2))
def test_quantiles_rise(model: str, cells: list[int]) -> None:
    u = (np.sort(np.array(cells, dtype=np.float64)) + 0.5) * 2.0**-52
    time = Quantile(Distribution(model=model, **GIVEN[model]))(u)
    assert time.dtype == np.int64
    assert np.all(np.diff(time) >= 0)
    assert np.all(time >= 0)


@pytest.mark.parametrize("model", REFERENCE)
def test_samples_follow_the_distribution(distribution: Callable[[str], Distribution], model: str) -> None:
    times = Sampler(distribution(model), Stream(1, "ks")).draw(50_000)
    assert stats.kstest(times, REFERENCE[model].cdf).pvalue > 1e-3


@pytest.mark.parametrize("model", MODELS)
def test_mean_of_the_samples(distribution: Callable[[str], Distribution], model: str) -> None:
    sampler = Sampler(distribution(model), Stream(1, "mean"))
    times = sampler.draw(100_000)
    error = 5 * times.std() / np.sqrt(len(times)) + 1.0
    assert abs(times.mean() - sampler.quantile.mean) < error


def test_discrete_models_have_their_shares(distribution: Callable[[str], Distribution]) -> None:
    times = Sampler(distribution("bimodal"), Stream(1, "shares")).draw(100_000)
    assert set(times.tolist()) == {MS, 1000 * MS}
    assert np.mean(times == 1000 * MS) == pytest.approx(0.1, abs=0.005)
    values, counts = np.unique(
        Sampler(distribution("empirical"), Stream(1, "shares")).draw(100_000), return_counts=True
    )
    assert values.tolist() == [MS, 2 * MS, 4 * MS, 9 * MS]
    assert np.all(np.abs(counts / 100_000 - 0.25) < 0.01)


@pytest.mark.parametrize("model", GIVEN)
def test_floor_is_added_to_every_time(model: str) -> None:
    bare = Sampler(Distribution(model=model, **GIVEN[model]), Stream(1, "f"))
    raised = Sampler(Distribution(model=model, floor="1s", **GIVEN[model]), Stream(1, "f"))
    assert np.array_equal(raised.draw(20), bare.draw(20) + 1000 * MS)
    assert raised.quantile.mean == bare.quantile.mean + 1000 * MS
    assert raised.quantile.floor == 1000 * MS


def test_a_heavy_tail_stays_in_range() -> None:
    quantile = Quantile(Distribution(model="pareto", mean="9000h", alpha=1.0001, floor="9000h"))
    time = quantile(np.array([1.0 - 2.0**-53]))
    assert time.tolist() == [LONGEST_TIME + quantile.floor]


def test_zero_times_are_allowed() -> None:
    for model in ("constant", "exponential"):
        assert Sampler(Distribution(model=model, mean=0), Stream(1)).draw(3).tolist() == [0, 0, 0]


def test_a_missing_file_is_reported() -> None:
    with pytest.raises(ValueError, match=r"missing\.txt"):
        Quantile(Distribution(model="empirical", file="missing.txt"))

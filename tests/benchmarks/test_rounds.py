"""What benchmarks share: rounds, ratios, and that each file is found by its name."""

import numpy as np
import pytest

from benchmarks import _rounds
from pskit.console.bench import available


def test_rounds_are_interleaved_and_the_first_is_not_counted(monkeypatch) -> None:
    monkeypatch.setattr(_rounds, "REPEATS", 3)
    order: list[str] = []
    results = _rounds.interleaved(
        lambda: order.append("a") or float(len(order)), lambda: order.append("b") or float(len(order))
    )
    assert order == ["a", "b"] * 4
    assert results == [[3.0, 5.0, 7.0], [4.0, 6.0, 8.0]]


@pytest.mark.parametrize(("limit", "met"), [(2.0, True), (1.9, False), (-2.0, True), (-2.1, False)], ids=str)
def test_ratio(limit, met) -> None:
    ratio = _rounds.ratio("a / b", [2.0, 9.0, 1.0], [1.0, 3.0, 1.0], "some", limit)
    assert (ratio.value, ratio.low, ratio.high, ratio.met) == (2.0, 1.0, 3.0, met)
    assert _rounds.ratio("a / b", [1.0], [1.0]).met is None


def test_calls_together_are_all_made() -> None:
    done: list[int] = []
    assert _rounds.seconds_together(lambda: done.append(1), lambda: done.append(2)) > 0
    assert sorted(done) == [1, 2]


def test_some_rows() -> None:
    rows = _rounds.some_rows(100, 30)
    assert rows.dtype == np.int32
    assert len(np.unique(rows)) == 30
    assert (np.diff(rows) > 0).all()
    assert 0 <= rows[0] <= rows[-1] < 100


def test_every_benchmark_is_found() -> None:
    assert {"sim", "ops", "delays", "live-mf"} <= set(available())
    assert not [name for name in available() if name.startswith(("_", "peers"))]

"""The estimate is arithmetic on sizes, and refuses what cannot fit before anything is allocated."""

import pytest

import pskit
from pskit.apps.quadratic import Quadratic
from pskit.core.layout import Layout, TableSpec
from pskit.core.rows import RowPools
from pskit.errors import InputError
from pskit.runtime.memory import check_memory, estimate_bytes
from tests.runtime.simulate import config


def test_a_huge_table_is_refused_by_its_size_alone() -> None:
    layout = Layout([TableSpec("x", 10**9, 1, "f8")], 4)
    assert "table_of_row" not in vars(layout)
    needed = estimate_bytes(config(), layout)
    assert needed > 8e9 * 4
    assert "table_of_row" not in vars(layout)


def test_a_run_of_huge_dimension_ends_with_the_message(monkeypatch) -> None:
    monkeypatch.setattr("pskit.runtime.memory.available_bytes", lambda: 64 << 30)
    with pytest.raises(InputError, match=r"this run needs about .* GiB, and 64\.0 GiB are free"):
        pskit.run(pskit.Config(app={"name": "quadratic", "dim": 10**9}))


def test_the_floor_of_a_row_pool_is_counted() -> None:
    wide = Layout([TableSpec("x", 1, 10**6, "f8")])
    pool = sum(p.values.nbytes for p in RowPools(wide).pools)
    assert estimate_bytes(config(), wide) > pool > 60 * 8e6


def test_what_an_application_needs_per_worker_counts(monkeypatch) -> None:
    monkeypatch.setattr("pskit.runtime.memory.available_bytes", lambda: 1 << 40)
    monkeypatch.setattr(Quadratic, "working_bytes", lambda self, cfg: 1 << 40)
    with pytest.raises(InputError, match=r"this run needs about 16384.* GiB"):
        pskit.run(pskit.Config(app={"name": "quadratic", "dim": 3}, cluster={"clients": 16}))


@pytest.mark.parametrize(("runtime", "times"), [("sim", 1), ("live", 4)])
@pytest.mark.parametrize("begin", [pskit.run, pskit.session])
def test_synthetic_data_count_before_they_are_made(monkeypatch, runtime, times, begin) -> None:
    """Three arrays of 1000 x 200 million numbers, in one process or in four."""
    monkeypatch.setattr("pskit.apps.regression.synthetic", lambda *_: pytest.fail("made"))
    run = {"runtime": runtime} | ({"time_scale": 0.1} if runtime == "live" else {})
    cfg = pskit.Config(
        app={"name": "huber", "dim": 200_000_000, "samples": 1000}, cluster={"clients": 3}, run=run
    )
    with pytest.raises(InputError, match=rf"this run needs about {times * 4.8e12 / 2**30:.1f}.* GiB"):
        begin(cfg)


def test_where_the_system_does_not_say(monkeypatch) -> None:
    monkeypatch.setattr("pskit.runtime.memory.available_bytes", lambda: None)
    check_memory(1 << 60)

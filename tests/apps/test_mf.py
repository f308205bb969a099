import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pskit.apps import make_app
from pskit.apps.kernels.mf import KERNELS
from pskit.apps.mf import MatrixFactorization
from pskit.apps.minibatches import minibatches
from pskit.data import load_ratings
from pskit.data.split import held_out
from pskit.emulation.streams import Stream
from pskit.errors import InputError

Run = Callable[..., Any]


@pytest.fixture
def small(tmp_path: Path) -> str:
    """A file of 7 users, 11 items and 60 ratings."""
    lines = [f"{n * 5 % 7 + 100} {n * 3 % 11 + 5} {1 + n % 9 / 2}\n" for n in range(60)]
    path = tmp_path / "small.txt"
    path.write_text("".join(lines))
    return str(path)


def test_it_is_known_by_name() -> None:
    assert isinstance(make_app("mf"), MatrixFactorization)


@pytest.mark.parametrize("biases", [False, True])
def test_tables(config: Run, small: str, biases: bool) -> None:
    specs = MatrixFactorization().tables(config(name="mf", data=small, rank=3, biases=biases))
    shapes = [(s.name, s.rows, s.cols, s.dtype) for s in specs]
    factors = [("U", 7, 3, "f4"), ("V", 11, 3, "f4")]
    assert shapes == factors + [("user_bias", 7, 1, "f4"), ("item_bias", 11, 1, "f4")] * biases


@pytest.mark.parametrize("kernel", ["numba", "numpy"])
@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("schedule", ["constant", "inverse-sqrt"])
def test_one_worker_equals_a_serial_twin_exactly(
    config: Run, lockstep: Run, small: str, kernel: str, biases: bool, schedule: str
) -> None:
    cfg = config(
        name="mf", data=small, rank=4, biases=biases, schedule=schedule, kernel=kernel, step=0.03,
        clock_fraction=0.3, clocks=9, seed=5,
    )  # fmt: skip
    done = lockstep(MatrixFactorization(), cfg)

    ratings = load_ratings(small)
    tables = [table.copy() for table in done.initial.values()]
    mean = float(np.mean(ratings.value, dtype=np.float64)) if biases else 0.0
    step, losses = 0.03, []
    for clock in range(9):
        epochs = [Stream(5, "worker", 0, "epoch", e).permutation(60) for e in range(3)]
        own = np.concatenate(epochs)[18 * clock : 18 * (clock + 1)]
        if schedule == "inverse-sqrt":
            step = 0.03 / math.sqrt(clock + 1)
        new = [table.copy() for table in tables]
        KERNELS[kernel].run_sgd(*ratings.triples.select(own), mean, step, cfg.app.reg, *new)
        for table, changed in zip(tables, new, strict=True):
            table += changed - table
        losses.append(KERNELS[kernel].squared_error(*ratings.triples, mean, *tables) / 60)
    for table, served in zip(tables, done.tables.values(), strict=True):
        np.testing.assert_array_equal(table, served)
    assert [m["loss"] for m in done.metrics[1:]] == losses


def test_a_users_row_is_touched_by_one_worker_only(config: Run, lockstep: Run, small: str) -> None:
    done = lockstep(MatrixFactorization(), config(3, name="mf", data=small, rank=2, clocks=10))
    readers: dict[int, set[int]] = {}
    for (worker, _), gets in done.reads.items():
        for rows in gets:
            for row in rows:
                readers.setdefault(row, set()).add(worker)
    assert all(len(readers[user]) == 1 for user in range(7))
    assert any(len(readers[7 + item]) > 1 for item in range(11))


def test_one_get_and_one_computation_per_clock_at_the_cost_of_its_ratings(
    config: Run, lockstep: Run, small: str
) -> None:
    done = lockstep(
        MatrixFactorization(), config(2, name="mf", data=small, rank=2, clock_fraction=0.5, clocks=4)
    )
    assert set(done.reads) == set(done.costs) == {(w, c) for w in range(2) for c in range(4)}
    assert all(len(gets) == 1 for (_, clock), gets in done.reads.items() if clock)
    assert sum(cost for (cost,) in done.costs.values()) == 2 * 60


def test_all_rows_are_read_before_the_first_clock(config: Run, lockstep: Run, small: str) -> None:
    done = lockstep(MatrixFactorization(), config(3, name="mf", data=small, rank=2, biases=True, clocks=11))
    for worker in range(3):
        registered, *_ = done.reads[worker, 0]
        read = [rows for (w, _), gets in done.reads.items() if w == worker for rows in gets[-1:]]
        assert set(registered) == {row for rows in read for row in rows}


def test_workers_without_users_still_tick(config: Run, lockstep: Run, small: str) -> None:
    done = lockstep(MatrixFactorization(), config(9, name="mf", data=small, rank=2, clocks=5))
    assert {worker for worker, _ in done.reads} == set(range(7))
    assert done.costs[8, 4] == [0.0]
    assert done.metrics[-1]["loss"] < done.metrics[0]["loss"]


def test_rows_do_not_depend_on_values(config: Run, lockstep: Run, small: str) -> None:
    given = {"name": "mf", "data": small, "clocks": 12, "clock_fraction": 0.2}
    plain = lockstep(MatrixFactorization(), config(3, rank=2, kernel="numpy", **given))
    other = lockstep(MatrixFactorization(), config(3, rank=5, step=1e-4, biases=True, **given))
    # With biases every factor row has its bias row beside it, 7 + 11 rows further on.
    paired = {k: [(*rows, *(r + 18 for r in rows)) for rows in gets] for k, gets in plain.reads.items()}
    assert paired == other.reads


def test_a_diverging_run_does_not_warn(config: Run, lockstep: Run, small: str) -> None:
    for kernel in ("numba", "numpy"):
        cfg = config(2, name="mf", data=small, rank=2, step=1e3, kernel=kernel, clocks=5)
        assert not math.isfinite(lockstep(MatrixFactorization(), cfg).metrics[-1]["loss"])


@pytest.mark.parametrize("rank", [4, 32, 100])
def test_predictions_start_around_the_mean_rating(config: Run, lockstep: Run, rank: int) -> None:
    done = lockstep(MatrixFactorization(), config(name="mf", rank=rank, clocks=1, clock_fraction=0.001))
    predictions = done.initial["U"] @ done.initial["V"].T
    assert predictions.mean() == pytest.approx(3.54, abs=0.1)
    assert 0 < predictions.std() < 1.5


def test_negative_mean_and_biases_are_met_at_the_start(config: Run, lockstep: Run, tmp_path: Path) -> None:
    path = tmp_path / "negative.txt"
    path.write_text("".join(f"{u} {i} -4.0\n" for u in range(30) for i in range(30)))
    given = {"name": "mf", "data": str(path), "rank": 8, "clocks": 1}
    plain = lockstep(MatrixFactorization(), config(**given))
    assert (plain.initial["U"] @ plain.initial["V"].T).mean() == pytest.approx(-4, abs=0.5)
    biased = lockstep(MatrixFactorization(), config(**given, biases=True))
    assert abs((biased.initial["U"] @ biased.initial["V"].T).mean()) < 0.5
    assert not biased.initial["user_bias"].any()
    assert biased.metrics[0]["loss"] < 1


def test_training_and_test_loss(config: Run, lockstep: Run) -> None:
    cfg = config(2, name="mf", rank=3, holdout=0.2, clocks=1)
    done = lockstep(MatrixFactorization(), cfg)
    ratings = load_ratings("ml-small")
    out = held_out(ratings, 0.2)
    u, v = (done.tables[name].astype(np.float64) for name in ("U", "V"))
    squares = (ratings.value - (u[ratings.user] * v[ratings.item]).sum(axis=1)) ** 2
    assert done.metrics[-1] == pytest.approx(
        {"loss": squares[~out].mean(), "test_loss": squares[out].mean()}, rel=1e-5
    )
    assert sum(cost for costs in done.costs.values() for cost in costs) == pytest.approx(
        0.1 * (~out).sum(), abs=2
    )


def test_without_holdout_there_is_no_test_loss(config: Run, lockstep: Run, small: str) -> None:
    assert list(lockstep(MatrixFactorization(), config(name="mf", data=small, clocks=1)).metrics[0]) == [
        "loss"
    ]


@pytest.mark.parametrize("holdout", [1e-9, 0.999999999])
def test_a_holdout_that_leaves_nothing_is_refused(config: Run, small: str, holdout: float) -> None:
    with pytest.raises(InputError, match=r"app.holdout = .* of the 60 ratings in small.txt"):
        MatrixFactorization().tables(config(name="mf", data=small, holdout=holdout))


def test_objective_needs_the_data(small: str) -> None:
    with pytest.raises(RuntimeError, match="objective"):
        MatrixFactorization().objective({})


def test_it_learns_ml_small_as_the_reference_prototype_did(config: Run, lockstep: Run) -> None:
    """Mean squared error .725 after 60 clocks of 10 percent, at the default step, rank and penalty."""
    cfg = config(16, name="mf", clocks=60)
    done = lockstep(MatrixFactorization(), cfg)
    losses = [m["loss"] for m in done.metrics]
    assert losses[-1] == pytest.approx(0.725, abs=0.02)
    assert losses[0] == pytest.approx(1.26, abs=0.02)


def test_describe(config: Run, small: str) -> None:
    cfg = config(name="mf", data=small, rank=4, biases=True, holdout=0.5, clock_fraction=0.01)
    line = MatrixFactorization().describe(cfg)
    assert "MF, rank 4 with biases, small.txt: 7 users x 11 items, 60 ratings (" in line
    assert "a clock is 1% of each worker's ratings; step 0.005 constant" in line


def test_two_workers_go_through_their_own_ratings_in_their_own_order(small: str) -> None:
    own = load_ratings(small).triples
    orders = [
        next(minibatches(own, 1.0, 1, lambda *key, w=w: Stream(0, "worker", w, *key))).value.tolist()
        for w in range(2)
    ]
    assert orders[0] != orders[1]

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.apps.kernels.mf import KERNELS, run_sgd_numpy, squared_error, squared_error_numpy
from pskit.emulation.streams import Stream

Case = tuple[list[np.ndarray[Any, Any]], list[np.ndarray[Any, Any]]]
MEAN, STEP, REG = 3.5, 2.0**-5, 0.25


def case(n: int, rank: int, biases: bool, seed: int = 0) -> Case:
    """Ratings of 4 users and 5 items, and tables for them."""
    stream = Stream(seed, "case")
    ratings = [stream.integers(n, 4).astype(np.int32), stream.integers(n, 5).astype(np.int32)]
    ratings.append((1 + stream.integers(n, 9) / 2).astype(np.float32))
    shapes = [(4, rank), (5, rank), (4, 1), (5, 1)][: 4 if biases else 2]
    return ratings, [stream.normal(r * c).reshape(r, c).astype(np.float32) / 2 for r, c in shapes]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 80), st.sampled_from([1, 2, 7, 16, 33, 100]), st.booleans(), st.integers(0, 99))
def test_compiled_sgd_agrees_with_its_twin(n: int, rank: int, biases: bool, seed: int) -> None:
    ratings, tables = case(n, rank, biases, seed)
    compiled = KERNELS["numba"].sgd(*ratings, MEAN, 0.01, REG, *tables)
    plain = KERNELS["numpy"].sgd(*ratings, MEAN, 0.01, REG, *tables)
    assert len(compiled) == len(plain) == len(tables)
    for a, b, table in zip(compiled, plain, tables, strict=True):
        assert a.dtype == b.dtype == np.float32
        assert a.shape == b.shape == table.shape
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 80), st.sampled_from([1, 7, 32, 100]), st.booleans(), st.integers(0, 99))
def test_squared_error_is_what_it_says(n: int, rank: int, biases: bool, seed: int) -> None:
    (user, item, value), tables = case(n, rank, biases, seed)
    exact = [table.astype(np.float64) for table in tables]
    expected = 0.0
    for a, b, r in zip(user, item, value, strict=True):
        error = r - MEAN - exact[0][a] @ exact[1][b] - (exact[2][a, 0] + exact[3][b, 0] if biases else 0.0)
        expected += error**2
    assert squared_error(user, item, value, MEAN, *tables) == pytest.approx(expected, rel=1e-5)
    assert squared_error_numpy(user, item, value, MEAN, *tables) == pytest.approx(expected, rel=1e-5)


def penalised(rating: Any, tables: list[np.ndarray[Any, Any]]) -> float:
    """Objective of a single rating, of which SGD takes the gradient."""
    a, b, r = (column[0] for column in rating)
    parts = [tables[0][a], tables[1][b], *(t[row] for t, row in zip(tables[2:], (a, b), strict=False))]
    error = r - MEAN - parts[0] @ parts[1] - sum(float(part[0]) for part in parts[2:])
    return error**2 / 2 + REG * sum(part @ part for part in parts) / 2


@pytest.mark.parametrize("biases", [False, True])
def test_one_step_is_the_gradient_by_finite_differences(biases: bool) -> None:
    rating, single = case(1, 6, biases)
    tables = [table.astype(np.float64) for table in single]
    steps = [-(new - old) / STEP for new, old in zip(after(rating, tables), tables, strict=True)]
    h = 1e-6
    for table, step in zip(tables, steps, strict=True):
        for place in np.ndindex(*table.shape):
            slope = 0.0
            for sign in (1, -1):
                table[place] += sign * h
                slope += sign * penalised(rating, tables) / (2 * h)
                table[place] -= sign * h
            assert step[place] == pytest.approx(slope, abs=1e-7)


def after(rating: Any, tables: list[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """Tables after SGD by the twin, in float64."""
    new = [table.copy() for table in tables]
    run_sgd_numpy(*rating, MEAN, STEP, REG, *new)
    return new


@pytest.mark.parametrize("kernel", ["numba", "numpy"])
def test_item_step_uses_the_old_user(kernel: str) -> None:
    one = np.zeros(1, np.int32), np.zeros(1, np.int32), np.array([2.0], np.float32)
    p, q = np.array([[1.0, 2.0]], np.float32), np.array([[0.5, 0.25]], np.float32)
    dp, dq = KERNELS[kernel].sgd(*one, 0.0, 0.5, 0.0, p, q)
    # error 2 - 1 = 1, times the step .5
    assert dp.tolist() == [[0.25, 0.125]]
    assert dq.tolist() == [[0.5, 1.0]]


@pytest.mark.parametrize("kernel", ["numba", "numpy"])
def test_ratings_are_taken_in_order_each_at_the_values_the_last_one_left(kernel: str) -> None:
    ratings, tables = case(40, 7, biases=True)
    run = KERNELS[kernel].run_sgd
    whole = [table.copy() for table in tables]
    run(*ratings, MEAN, STEP, REG, *whole)
    for n in range(40):
        run(*(column[n : n + 1] for column in ratings), MEAN, STEP, REG, *tables)
    for a, b in zip(whole, tables, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kernel", ["numba", "numpy"])
def test_sgd_returns_new_minus_old_and_leaves_its_arguments(kernel: str) -> None:
    ratings, tables = case(30, 5, biases=True)
    before = [table.copy() for table in tables]
    new = [table.copy() for table in tables]
    deltas = KERNELS[kernel].sgd(*ratings, MEAN, STEP, REG, *tables)
    KERNELS[kernel].run_sgd(*ratings, MEAN, STEP, REG, *new)
    for old, same, n, delta in zip(before, tables, new, deltas, strict=True):
        np.testing.assert_array_equal(old, same)
        np.testing.assert_array_equal(delta, n - old)


@pytest.mark.parametrize("kernel", ["numba", "numpy"])
@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_values_that_are_not_finite_stay_visible(kernel: str, bad: float) -> None:
    ratings, tables = case(30, 33, biases=False)
    tables[0][ratings[0][0], 3] = bad
    assert not np.isfinite(KERNELS[kernel].squared_error(*ratings, MEAN, *tables))
    assert not all(np.isfinite(d).all() for d in KERNELS[kernel].sgd(*ratings, MEAN, STEP, REG, *tables))


@pytest.mark.parametrize("loss", [squared_error, squared_error_numpy])
def test_squares_are_summed_in_float64(loss: Callable[..., float]) -> None:
    n = 100_000
    zeros = np.zeros(n, np.int32)
    tables = np.zeros((1, 2), np.float32), np.zeros((1, 2), np.float32)
    value = np.full(n, 0.1, np.float32)
    assert loss(zeros, zeros, value, 0.0, *tables) == pytest.approx(n * float(np.float32(0.1)) ** 2, rel=1e-9)


def test_the_twin_gives_the_same_bits_everywhere() -> None:
    ratings, tables = case(200, 20, biases=True)
    deltas = KERNELS["numpy"].sgd(*ratings, MEAN, 0.01, 0.05, *tables)
    digest = sha256(b"".join(delta.astype("<f4").tobytes() for delta in deltas)).hexdigest()
    assert digest == "a65e05476cd5ada7ff2caedb6032ab85c5a4e2ef2659e1cd2cd39e39eb3c815b"

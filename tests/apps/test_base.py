"""What the worker API refuses."""

from typing import Any

import numpy as np
import pytest

from pskit.apps.base import Table
from pskit.core.layout import Layout, TableSpec
from pskit.errors import InputError


class Port:
    """Takes INCs down."""

    def __init__(self) -> None:
        self.made: list[tuple[Any, ...]] = []

    def inc(self, *call: Any) -> None:
        self.made.append(call)

    def stream(self, *key: int | str) -> None:
        raise AssertionError(key)


def table(dtype: str) -> tuple[Table, Port]:
    port = Port()
    return Table(port, 0, Layout([TableSpec("t", 5, 2, dtype)]), 0), port


@pytest.mark.parametrize(
    ("dtype", "delta", "word"),
    [
        ("i8", [[0.5, 1.0]], "cut"),
        ("i4", [[np.nan, 1.0]], "cut"),
        ("i4", [[2**40, 1]], "wrapped"),
        ("f8", [[1j, 1.0]], "cut"),
    ],
)
def test_an_inc_that_the_table_cannot_hold_is_refused(dtype: str, delta: Any, word: str) -> None:
    t, port = table(dtype)
    with pytest.raises(InputError, match=f"table 't' holds .*{word}"):
        t.inc([1], delta)
    assert port.made == []


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
def test_small_integers_fit_every_table(dtype: str) -> None:
    t, port = table(dtype)
    t.inc([3, 1, 3], [[1, 2], [3, 4], [5, 6]])
    ((worker, index, rows, values),) = port.made
    assert (worker, index, rows.tolist(), values.tolist()) == (0, 0, [1, 3], [[3, 4], [6, 8]])
    assert values.dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    ("ids", "word"), [([5], "0..4"), ([-1], "0..4"), ([[1]], "1-d"), ([0.5], "integers")]
)
def test_ids_that_are_no_rows_are_refused(ids: Any, word: str) -> None:
    t, _ = table("f8")
    with pytest.raises(InputError, match=word):
        t.inc(ids, np.zeros((1, 2)))


def test_a_delta_of_another_shape_is_refused() -> None:
    t, _ = table("f8")
    with pytest.raises(InputError, match=r"shape \(n, 2\)"):
        t.inc([1], np.zeros((1, 3)))

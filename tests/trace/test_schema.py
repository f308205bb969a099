import numpy as np
import pytest

from pskit.trace.schema import SCHEMA, as_columns

CLOCK = {"worker": [0], "clock": [1], "t_begin": [2], "t_end": [2**62], "t_compute": [4], "t_wait": [5]}


def test_columns_get_the_order_and_the_dtypes_of_the_schema():
    columns = as_columns("clocks", dict(reversed(CLOCK.items())))
    assert {n: v.dtype.str for n, v in columns.items()} == SCHEMA["clocks"]
    assert list(columns) == list(SCHEMA["clocks"])
    assert columns["t_end"][0] == 2**62


def test_columns_that_fit_are_not_copied():
    columns = as_columns("clocks", CLOCK)
    assert as_columns("clocks", columns)["t_end"] is columns["t_end"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"worker": [0, 1]}, "unequal lengths"),
        ({"worker": [[0]]}, "not one-dimensional"),
        ({"worker": [2**31]}, "do not fit"),
        ({"worker": [-(2**31) - 1]}, "do not fit"),
        ({"worker": [0.5]}, "do not fit"),
        ({"t_end": np.array([2**63], np.uint64)}, "do not fit"),
        ({"other": [0]}, "unknown columns"),
    ],
)
def test_what_does_not_fit_is_named(change, message):
    with pytest.raises(ValueError, match=f"'clocks'.*{message}"):
        as_columns("clocks", {**CLOCK, **change})


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match="missing columns \\['worker'\\]"):
        as_columns("clocks", {n: v for n, v in CLOCK.items() if n != "worker"})


def test_every_dtype_is_little_endian():
    dtypes = {d for columns in SCHEMA.values() for d in columns.values()}
    assert all(d == "U" or d[0] in "<|" for d in dtypes)

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from pskit.emulation.elementary import exp, log, log_scalar, normal_quantile

UNITS_IN_THE_LAST_PLACE = 2.0


def close(got: np.ndarray, wanted: np.ndarray) -> bool:
    return bool(np.all(np.abs(got - wanted) <= UNITS_IN_THE_LAST_PLACE * np.spacing(np.abs(wanted))))


@given(st.lists(st.floats(1e-300, 1e300), min_size=1))
def test_log_is_accurate(xs: list[float]) -> None:
    assert close(log(np.array(xs)), np.array([math.log(x) for x in xs]))


def test_log_is_accurate_near_one_and_exact_at_one() -> None:
    steps = np.arange(-2000, 2001)
    x = 1.0 + steps * 2.0**-52
    assert close(log(x), np.array([math.log(v) for v in x.tolist()]))
    assert log_scalar(1.0) == 0.0


@given(st.lists(st.floats(-700, 700), min_size=1))
def test_exp_is_accurate(xs: list[float]) -> None:
    assert close(exp(np.array(xs)), np.array([math.exp(x) for x in xs]))


@given(st.integers(1, 2**53 - 1))
def test_normal_quantile_is_accurate(k: int) -> None:
    u = np.array([k * 2.0**-53])
    np.testing.assert_allclose(normal_quantile(u), ndtri(u), rtol=1e-13, atol=1e-16)


def test_normal_quantile_is_accurate_in_both_tails_and_odd() -> None:
    u = 2.0 ** -np.arange(1.0, 54.0)
    np.testing.assert_allclose(normal_quantile(u), ndtri(u), rtol=1e-13)
    assert np.array_equal(normal_quantile(1.0 - u[:52]), -normal_quantile(u[:52]))


def test_shapes_are_kept() -> None:
    u = np.full((3, 4), 0.01)
    for function in (log, exp, normal_quantile):
        assert function(u).shape == (3, 4)
        assert function(u[:0]).shape == (0, 4)


@pytest.mark.parametrize(
    ("function", "x", "wanted"),
    [
        (
            log,
            [1e-300, 0.1, 0.7, 3.0, 1e300],
            [
                "-0x1.5963447f87fb5p+9",
                "-0x1.26bb1bbb55515p+1",
                "-0x1.6d3c324e13f50p-2",
                "0x1.193ea7aad030ap+0",
                "0x1.5963447f87fb5p+9",
            ],
        ),
        (
            exp,
            [-700.0, -1.0, 0.1, 1.0, 700.0],
            [
                "0x1.14f2b0fb9307fp-1010",
                "0x1.78b56362cef38p-2",
                "0x1.1aec7b35a00d4p+0",
                "0x1.5bf0a8b14576ap+1",
                "0x1.d945df4f8ec8ep+1009",
            ],
        ),
        (
            normal_quantile,
            [2.0**-53, 1e-9, 0.01, 0.3, 0.99],
            [
                "-0x1.06b48528cea51p+3",
                "-0x1.7fdc11f44b5a7p+2",
                "-0x1.29c5c4630ff0ep+1",
                "-0x1.0c7e39582c5fap-1",
                "0x1.29c5c4630ff0cp+1",
            ],
        ),
    ],
)
def test_golden_bits(function, x, wanted) -> None:  # type: ignore[no-untyped-def]
    assert [v.hex() for v in function(np.array(x)).tolist()] == wanted

"""Times and rates: reading, exact writing, and messages that tell what would be right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.units import (
    FASTEST_RATE,
    LONGEST_TIME,
    RATE_UNITS,
    TIME_UNITS,
    format_bytes,
    format_rate,
    format_span,
    format_time,
    parse_rate,
    parse_time,
)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("5ms", 5_000_000),
        ("1s", 10**9),
        ("1000ms", 10**9),
        (" 1.5 s ", 1_500_000_000),
        ("1e-3s", 1_000_000),
        (".5us", 500),
        ("3µs", 3_000),
        ("2min", 120 * 10**9),
        ("1h", 3600 * 10**9),
        ("0.3333333333s", 333_333_333),
        ("0s", 0),
        (0, 0),
        (0.0, 0),
    ],
)
def test_times_are_read_as_nanoseconds(text: object, nanoseconds: int) -> None:
    assert parse_time(text) == nanoseconds


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("5", "needs a unit"),
        (5, "needs a unit"),
        (0.5, "needs a unit"),
        (float("nan"), "needs a unit"),
        ("", "a number with a unit"),
        ("ms", "a number with a unit"),
        ("nan s", "a number with a unit"),
        ("inf", "a number with a unit"),
        ("5 ms please", "a number with a unit"),
        ("5MS", 'did you mean "5ms"'),
        ("5m", 'did you mean "5min"'),
        ("5 parsecs", '"parsecs" is no unit of a time'),
        ("5Gbit/s", '"Gbit/s" is no unit of a time'),
        ("-5ms", "may not be negative"),
        ("1e400s", "at most"),
        ("0.2ns", "at least"),
        (True, "text with a unit"),
        (None, "text with a unit"),
        (["5ms"], "text with a unit"),
    ],
)
def test_a_wrong_time_is_refused_with_a_reason(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_time(value)


@given(st.integers(0, LONGEST_TIME))
def test_writing_a_time_is_exact(nanoseconds: int) -> None:
    assert parse_time(format_time(nanoseconds)) == nanoseconds


@given(st.integers(0, 10**5), st.sampled_from(sorted(TIME_UNITS)))
def test_every_time_unit_is_read(number: int, unit: str) -> None:
    assert parse_time(f"{number}{unit}") == number * TIME_UNITS[unit]


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1_500, "1.5us"),
        (10**9, "1s"),
        (1_100_000_000, "1.1s"),
        (5_000_000, "5ms"),
        (1_234_567, "1234.567us"),
        (100 * 10**9, "100s"),
    ],
)
def test_times_are_written_short(nanoseconds: int, text: str) -> None:
    assert format_time(nanoseconds) == text


@pytest.mark.parametrize(
    ("text", "bytes_per_second"),
    [("1Gbit/s", 125_000_000), ("125 MB/s", 125_000_000), ("8bit/s", 1), ("1B/s", 1), ("unlimited", None)],
)
def test_rates_are_read_as_bytes_per_second(text: str, bytes_per_second: int | None) -> None:
    assert parse_rate(text) == bytes_per_second


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1Gbps", 'did you mean "1Gbit/s"'),
        ("1Gb/s", 'did you mean "1Gbit/s"'),
        ("1gbit/s", 'did you mean "1Gbit/s"'),
        ("10ms", '"ms" is no unit of a bandwidth'),
        ("0bit/s", "above 0"),
        (0, "needs a unit"),
        (1000, "needs a unit"),
        ("1000", "needs a unit"),
        ("1bit/s", "whole number of bytes"),
        ("1e99B/s", "at most"),
        ("-1B/s", "may not be negative"),
        (None, "text with a unit"),
    ],
)
def test_a_wrong_rate_is_refused_with_a_reason(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_rate(value)


@given(st.none() | st.integers(1, FASTEST_RATE))
def test_writing_a_rate_is_exact(rate: int | None) -> None:
    assert parse_rate(format_rate(rate)) == rate


@given(st.integers(1, 10**3), st.sampled_from(sorted(RATE_UNITS)))
def test_every_rate_unit_is_read(number: int, unit: str) -> None:
    rate = parse_rate(f"{8 * number}{unit}")
    assert rate == number * RATE_UNITS[unit]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.00 kB"),
        (1_234_567, "1.23 MB"),
        (99_951, "100 kB"),
        (999_600, "1.00 MB"),
    ],
)
def test_bytes_for_people(count: int, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(0, "0 ns"), (1_500, "1.50 us"), (110_000_000_000, "110 s"), (36 * 10**11, "3,600 s")],
)
def test_spans_for_people(nanoseconds: int, text: str) -> None:
    assert format_span(nanoseconds) == text

"""Times and rates with their units: text such as "5ms" or "1Gbit/s" to integers and back.

A time is an integer number of nanoseconds, a rate an integer number of bytes per second (``None`` =
unlimited). Writing is exact: ``parse_time(format_time(t)) == t``. Only ``format_bytes`` and ``format_span``
round; they are for people.
"""

import difflib
import re
from collections.abc import Mapping
from decimal import Decimal

TIME_UNITS: dict[str, int] = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
}
# In bits per second: network people count bits, and 1 byte is 8 of them in both families.
RATE_UNITS: dict[str, int] = {
    "bit/s": 1,
    "kbit/s": 10**3,
    "Mbit/s": 10**6,
    "Gbit/s": 10**9,
    "Tbit/s": 10**12,
    "B/s": 8,
    "kB/s": 8 * 10**3,
    "MB/s": 8 * 10**6,
    "GB/s": 8 * 10**9,
}
_TIME_ALIASES = {"µs": "us", "μs": "us", "sec": "s", "m": "min"}
_RATE_ALIASES = {
    f"{prefix}{spelling}": f"{prefix}bit/s"
    for prefix in ("", "k", "M", "G", "T")
    for spelling in ("bps", "b/s", "bit", "bits/s", "bit/sec")
}
# int64 nanoseconds end at 292 years; a tenth of it leaves room for sums of times.
LONGEST_TIME = 10**18
FASTEST_RATE = 10**15

_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(\S*)\s*")


def parse_time(value: object) -> int:
    """Read a time such as "5ms", "1.5 s" or "2min".

    Parameters
    ----------
    value : str with a unit, or the number 0, which is the same in every unit.

    Returns
    -------
    int, ns, 0 <= ns <= 10**18 (31 years); rounded half to even.

    Raises
    ------
    ValueError
        Not a number with a known unit, negative, too long, or not 0 but less than half a nanosecond.
    """
    number, unit = _split(value, TIME_UNITS, _TIME_ALIASES, what="a time", example='"5ms" or "1s"')
    exact = number * TIME_UNITS[unit]
    nanoseconds = round(exact)
    if nanoseconds > LONGEST_TIME:
        raise ValueError('a time must be at most "277777h"')
    if nanoseconds == 0 and exact != 0:
        raise ValueError('a time that is not 0 must be at least "1ns", the step of emulated time')
    return nanoseconds


def format_time(nanoseconds: int) -> str:
    """Write a time with the largest unit up to seconds that keeps it short, e.g. ``1500000000 -> "1.5s"``.

    Parameters
    ----------
    nanoseconds : int >= 0, ns
    """
    for unit in ("s", "ms", "us"):
        size = TIME_UNITS[unit]
        # Up to three decimals are still easier to read than the next smaller unit.
        if nanoseconds and nanoseconds >= size and nanoseconds * 1000 % size == 0:
            return f"{_plain(Decimal(nanoseconds) / size)}{unit}"
    return "0s" if nanoseconds == 0 else f"{nanoseconds}ns"


def parse_rate(value: object) -> int | None:
    """Read a bandwidth such as "1Gbit/s" or "125 MB/s"; "unlimited" gives None.

    Returns
    -------
    int, bytes per second, 1 <= rate <= 10**15, or None for unlimited.

    Raises
    ------
    ValueError
        Not a number with a known unit, negative, zero, too fast, or not a whole number of bytes per second.
    """
    if value == "unlimited":
        return None
    number, unit = _split(
        value, RATE_UNITS, _RATE_ALIASES, what="a bandwidth", example='"1Gbit/s" or "unlimited"'
    )
    exact = number * RATE_UNITS[unit] / 8
    if exact <= 0:
        raise ValueError('a bandwidth must be above 0; for no limit write "unlimited"')
    if exact > FASTEST_RATE:
        raise ValueError('a bandwidth must be at most "8000Tbit/s"; for no limit write "unlimited"')
    if exact != int(exact):
        raise ValueError("a bandwidth must be a whole number of bytes per second, that is of 8 bit/s")
    return int(exact)


def format_rate(bytes_per_second: int | None) -> str:
    """Write a bandwidth in bits, e.g. ``125000000 -> "1Gbit/s"``, ``None -> "unlimited"``."""
    if bytes_per_second is None:
        return "unlimited"
    bits = 8 * bytes_per_second
    for unit in ("Tbit/s", "Gbit/s", "Mbit/s", "kbit/s"):
        size = RATE_UNITS[unit]
        if bits >= size and bits * 1000 % size == 0:
            return f"{_plain(Decimal(bits) / size)}{unit}"
    return f"{bits}bit/s"


def format_bytes(count: int) -> str:
    """Write a number of bytes for people, decimal units, three digits: ``1234567 -> "1.23 MB"``."""
    return _rounded(count, ("B", "kB", "MB", "GB", "TB", "PB"))


def format_span(nanoseconds: int) -> str:
    """Write a measured time for people, rounded to three digits: ``1234567890 -> "1.23 s"``."""
    if nanoseconds >= 1_000_000_000_000:
        return f"{nanoseconds / 1e9:,.0f} s"
    return _rounded(nanoseconds, ("ns", "us", "ms", "s"))


def _rounded(count: int, units: tuple[str, ...]) -> str:
    if abs(count) < 1000:
        return f"{count} {units[0]}"
    size = float(count)
    for unit in units[1:]:
        size /= 1000
        if abs(size) < 999.5 or unit == units[-1]:
            break
    return f"{size:.{max(0, 2 - (abs(size) >= 9.995) - (abs(size) >= 99.95))}f} {unit}"


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _split(
    value: object, units: Mapping[str, int], aliases: Mapping[str, str], *, what: str, example: str
) -> tuple[Decimal, str]:
    """Return number >= 0 and unit of `value`, or raise a ValueError that tells what would be right."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value == 0 and "ns" in units:
            return Decimal(0), "ns"
        raise ValueError(f"{what} needs a unit, such as {example}")
    if not isinstance(value, str):
        raise ValueError(f"{what} is text with a unit, such as {example}")
    match = _QUANTITY.fullmatch(value)
    if match is None:
        raise ValueError(f"{what} is a number with a unit, such as {example}")
    digits, unit = match.groups()
    number = Decimal(digits)
    if number < 0:
        raise ValueError(f"{what} may not be negative")
    unit = "us" if unit in ("µs", "μs") else unit
    if unit in units:
        return number, unit
    if not unit:
        raise ValueError(f"{what} needs a unit, such as {example}")
    meant = aliases.get(unit) or _closest(unit, units)
    hint = f'; did you mean "{digits}{meant}"?' if meant else ";"
    raise ValueError(f'"{unit}" is no unit of {what}{hint} Units: {", ".join(units)}')


def _closest(unit: str, units: Mapping[str, int]) -> str | None:
    for known in units:
        if known.lower() == unit.lower():
            return known
    close = difflib.get_close_matches(unit, units, n=1)
    return close[0] if close else None

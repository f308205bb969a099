"""Compiled scanner for blocks of whole lines of a ratings file; `lines` defines what it accepts.

One pass over the bytes, without a Python object per line: NumPy's and the standard library's readers are ten
and more times slower, which matters at 20 million lines.
"""

from typing import Any

import numba
import numpy as np

from pskit.data.lines import MAX_ID, MAX_VALUE

_NEWLINE, _RETURN, _TAB, _SPACE = ord("\n"), ord("\r"), ord("\t"), ord(" ")
_DOT, _PLUS, _MINUS, _ZERO, _NINE = ord("."), ord("+"), ord("-"), ord("0"), ord("9")
_UPPER_E, _LOWER_E = ord("E"), ord("e")
_EXACT_POWER = 22
_POWERS = 10.0 ** np.arange(_EXACT_POWER + 1)
"""Powers of ten that are exact in float64."""
_MANTISSA = 10**17
"""Digits beyond a mantissa of this size change a float32 in no way that counts."""
_LARGEST_EXPONENT = 9999


@numba.njit(cache=True, nogil=True)
def _is_digit(c: Any) -> Any:
    return _ZERO <= c <= _NINE


@numba.njit(cache=True, nogil=True)
def _skip_blanks(text: Any, at: int, separator: int) -> int:
    while text[at] == _SPACE or (text[at] == _TAB and separator != _TAB):
        at += 1
    return at


@numba.njit(cache=True, nogil=True)
def _line_ends(text: Any, at: int) -> Any:
    return text[at] == _NEWLINE or (text[at] == _RETURN and text[at + 1] == _NEWLINE)


@numba.njit(cache=True, nogil=True)
def _skip_field(text: Any, at: int, separator: int, double: bool) -> int:
    while not _line_ends(text, at):
        c = text[at]
        if c == separator and (not double or text[at + 1] == separator):
            break
        if separator == _SPACE and c == _TAB:
            break
        at += 1
    return at


@numba.njit(cache=True, nogil=True)
def _read_id(text: Any, at: int) -> tuple[int, int]:
    """End of the digits, and their value; -1 when there is none or it is out of range."""
    if not _is_digit(text[at]):
        return at, -1
    number = 0
    while _is_digit(text[at]):
        number = min(number * 10 + (text[at] - _ZERO), MAX_ID + 1)
        at += 1
    return at, number if number <= MAX_ID else -1


@numba.njit(cache=True, nogil=True)
def _scale(mantissa: float, exponent: int) -> float:
    """mantissa * 10^exponent, with one rounding for exponents of ratings that occur."""
    while exponent < 0 and mantissa != 0.0:
        part = min(-exponent, _EXACT_POWER)
        mantissa /= _POWERS[part]
        exponent += part
    while exponent > 0 and 0.0 < mantissa < np.inf:
        part = min(exponent, _EXACT_POWER)
        mantissa *= _POWERS[part]
        exponent -= part
    return mantissa


@numba.njit(cache=True, nogil=True)
def _read_decimal(text: Any, at: int) -> tuple[int, float]:
    """End of a decimal number, and its value; NaN when there is none."""
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    mantissa = 0
    exponent = 0
    digits = 0
    fraction = False
    while _is_digit(text[at]) or (text[at] == _DOT and not fraction):
        if text[at] == _DOT:
            fraction = True
        else:
            digits += 1
            if mantissa < _MANTISSA:
                mantissa = mantissa * 10 + (text[at] - _ZERO)
                exponent -= fraction
            else:
                exponent += not fraction
        at += 1
    if digits == 0:
        return at, np.nan
    if text[at] == _LOWER_E or text[at] == _UPPER_E:
        at += 1
        down = text[at] == _MINUS
        if down or text[at] == _PLUS:
            at += 1
        if not _is_digit(text[at]):
            return at, np.nan
        power = 0
        while _is_digit(text[at]):
            power = min(power * 10 + (text[at] - _ZERO), _LARGEST_EXPONENT)
            at += 1
        exponent += -power if down else power
    value = _scale(float(mantissa), exponent)
    return at, -value if negative else value


@numba.njit(cache=True, nogil=True)
def scan_ratings(
    text: Any, separator: int, double: bool, columns: int, places: Any, user: Any, item: Any, value: Any
) -> tuple[int, int, int]:
    """Read whole lines into the columns ``user``, ``item`` and ``value``; blank lines are passed over.

    Parameters
    ----------
    text : (n,) uint8
        Whole lines, each with its newline.
    separator : int
        Code of the separating character; a blank stands for any run of blanks and TABs.
    double : bool
        The separator is two of these characters.
    columns : int
        Number of fields of each line.
    places : (3,) int64
        Which fields are user, item and value.
    user, item : (m,) int32, value : (m,) float32
        Room for as many rows as there are lines.

    Returns
    -------
    rows, lines : int
        How many were read; it ends after the first bad line.
    bad : int
        Where the first bad line begins in ``text``; -1 when all are good.
    """
    at = rows = lines = 0
    while at < len(text):
        start = at
        lines += 1
        at = _skip_blanks(text, at, _SPACE)
        good = True
        if not _line_ends(text, at):
            at = _skip_blanks(text, start, separator)
            for column in range(columns):
                if column > 0:
                    end = at
                    if separator == _SPACE:
                        at = _skip_blanks(text, at, separator)
                    elif text[at] == separator and (not double or text[at + 1] == separator):
                        at = _skip_blanks(text, at + 1 + double, separator)
                    good = at > end
                if column == places[0] and good:
                    at, number = _read_id(text, at)
                    user[rows] = number
                    good = number >= 0
                elif column == places[1] and good:
                    at, number = _read_id(text, at)
                    item[rows] = number
                    good = number >= 0
                elif column == places[2] and good:
                    at, decimal = _read_decimal(text, at)
                    good = abs(decimal) <= MAX_VALUE
                    value[rows] = decimal if good else 0.0
                elif good:
                    at = _skip_field(text, at, separator, double)
                if not good:
                    return rows, lines, start
                if separator != _SPACE:
                    at = _skip_blanks(text, at, separator)
            at = _skip_blanks(text, at, separator)
            if not _line_ends(text, at):
                return rows, lines, start
            rows += 1
        at += 2 if text[at] == _RETURN else 1
    return rows, lines, -1

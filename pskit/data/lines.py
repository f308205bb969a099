"""One line of a ratings file: which formats there are, and what is wrong with a line.

This is the readable definition of the formats. `scan` reads the same language at speed; where it meets a line
that it refuses, `parse_line` says why.
"""

import re
from typing import NamedTuple

MAX_ID = 2**31 - 1
MAX_VALUE = 3.4028234663852886e38
"""The largest finite float32."""

_ID = re.compile(r"[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_BLANKS = re.compile(r"[ \t]+")
_HEADER = {
    "user": {"user", "userid", "row"},
    "item": {"item", "itemid", "movie", "movieid", "col"},
    "rating": {"rating", "value"},
}


class BadLine(ValueError):
    """Why a line cannot be read."""


class LineFormat(NamedTuple):
    """How the fields of a line are laid out.

    Parameters
    ----------
    separator : str
        ``,``, ``::``, TAB, or a blank, which stands for any run of blanks and TABs.
    columns : int
        Number of fields of each line.
    user, item, value : int
        Which fields these are; others are not looked at.
    has_header : bool
    """

    separator: str
    columns: int
    user: int = 0
    item: int = 1
    value: int = 2
    has_header: bool = False


def split_line(line: str, separator: str) -> list[str]:
    """Fields of a line, without the blanks around them."""
    if separator == " ":
        return _BLANKS.split(line.strip(" \t"))
    blanks = " " if separator == "\t" else " \t"
    return [field.strip(blanks) for field in line.split(separator)]


def detect_format(line: str) -> LineFormat:
    """Format of a file from its first line that is not blank.

    Raises
    ------
    BadLine
        Neither a known header nor a line with 3 or 4 fields.
    """
    separator = next((s for s in ("::", ",", "\t") if s in line), " ")
    fields = split_line(line, separator)
    if not fields[0][:1].isalpha():
        if len(fields) not in (3, 4):
            raise BadLine(
                f"{_count(fields)} where user, item and rating (and perhaps a timestamp) are expected, "
                "separated by commas, '::', TABs or blanks"
            )
        return LineFormat(separator, len(fields))
    # MovieLens writes userId,movieId; RecBole writes user_id:token, item_id:token.
    names = [field.split(":")[0].lower().replace("_", "") for field in fields]
    places = [[i for i, name in enumerate(names) if name in known] for known in _HEADER.values()]
    if any(len(place) != 1 for place in places):
        raise BadLine("not a header that names one column each for user, item (or movie) and rating")
    user, item, value = (place[0] for place in places)
    return LineFormat(separator, len(fields), user, item, value, has_header=True)


def parse_line(line: str, form: LineFormat) -> tuple[int, int, float]:
    """User, item and value of a line.

    Raises
    ------
    BadLine
        With the reason.
    """
    fields = split_line(line, form.separator)
    if len(fields) != form.columns:
        raise BadLine(f"{_count(fields)}, expected {form.columns}")
    return _id(fields[form.user], "user"), _id(fields[form.item], "item"), _value(fields[form.value])


def _id(text: str, what: str) -> int:
    if not _ID.fullmatch(text):
        raise BadLine(f"the {what} id {_quote(text)} is not a whole number from 0 to {MAX_ID}")
    if len(text.lstrip("0")) > len(str(MAX_ID)) or int(text) > MAX_ID:
        raise BadLine(f"the {what} id {_quote(text)} is out of range, allowed are 0 to {MAX_ID}")
    return int(text)


def _value(text: str) -> float:
    if not _DECIMAL.fullmatch(text):
        what = "finite" if text.lower().lstrip("+-") in {"nan", "inf", "infinity"} else "decimal"
        raise BadLine(f"the rating {_quote(text)} is not a {what} number")
    value = float(text)
    if abs(value) > MAX_VALUE:
        raise BadLine(f"the rating {_quote(text)} is too large for a 32-bit float")
    return value


def _count(fields: list[str]) -> str:
    return "1 field" if len(fields) == 1 else f"{len(fields)} fields"


def _quote(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")

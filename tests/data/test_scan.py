"""The compiled scanner reads exactly the language of `lines.parse_line`."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pskit.data.lines import BadLine, LineFormat, parse_line
from pskit.data.scan import scan_ratings

FORMATS = [
    LineFormat(",", 3),
    LineFormat(",", 4, 0, 1, 3),
    LineFormat("\t", 4),
    LineFormat("::", 4),
    LineFormat("::", 3, 2, 1, 0),
    LineFormat(" ", 3),
    LineFormat(" ", 5, 1, 3, 4),
]


def scan(text: bytes, form: LineFormat) -> tuple[list[tuple[int, int, np.float32]], int, int]:
    room = text.count(b"\n")
    columns = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float32)
    rows, lines, bad = scan_ratings(
        np.frombuffer(text, np.uint8),
        ord(form.separator[0]),
        len(form.separator) == 2,
        form.columns,
        np.array([form.user, form.item, form.value]),
        *columns,
    )
    return list(zip(*(column[:rows] for column in columns), strict=True)), lines, bad


def read(lines: list[str], form: LineFormat) -> tuple[list[tuple[int, int, float]], int, bool]:
    rows = []
    for number, line in enumerate(lines, 1):
        if line.strip(" \t"):
            try:
                rows.append(parse_line(line, form))
            except BadLine:
                return rows, number, True
    return rows, len(lines), False


def fields() -> st.SearchStrategy[str]:
    numbers = st.integers(0, 10**11).map(str) | st.floats(allow_nan=True).map(repr)
    near = st.sampled_from(["2147483647", "2147483648", "3.5e38", "1e-400", "7.", ".5", "+.5e+1", "1e", "."])
    return numbers | near | st.text("0123456789.eE+-: \t\r", max_size=4)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[str], LineFormat]:
    form = draw(st.sampled_from(FORMATS))
    joint = st.sampled_from([form.separator, form.separator, form.separator + " ", " " + form.separator])
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        parts = draw(st.lists(fields(), min_size=0, max_size=5))
        lines.append("".join(part + draw(joint) for part in parts[:-1]) + "".join(parts[-1:]))
    # A RETURN before the newline belongs to the line's end.
    return [line.removesuffix("\r") for line in lines], form


@settings(max_examples=200, deadline=None)
@given(cases(), st.sampled_from(["\n", "\r\n"]))
@example((["1,2,3", "", " \t", "4,5,6"], FORMATS[0]), "\n")
@example((["1 , 2\t,3.5 "], FORMATS[0]), "\n")
@example((["1::2::3::4:5", "1::2::3::"], FORMATS[3]), "\n")
@example((["1\t2\t\t4", "1 \t2\t3\t"], FORMATS[2]), "\n")
@example((["\t1 \t 2 3\t"], FORMATS[5]), "\n")
@example((["1,2,3\r\r"], FORMATS[0]), "\n")
def test_scanner_and_parser_agree(case: tuple[list[str], LineFormat], newline: str) -> None:
    lines, form = case
    if newline == "\n":
        lines = [line.rstrip("\r") for line in lines]
    text = "".join(line + newline for line in lines).encode("latin-1")
    rows, count, bad = scan(text, form)
    expected, expected_count, expected_bad = read(lines, form)
    assert [row[:2] for row in rows] == [row[:2] for row in expected]
    assert (count, bad >= 0) == (expected_count, expected_bad)
    if bad >= 0:
        assert text[:bad].count(b"\n") == count - 1
    np.testing.assert_array_max_ulp(
        np.array([row[2] for row in rows], np.float32), np.array([row[2] for row in expected], np.float32)
    )


@given(st.integers(-(10**7), 10**7), st.integers(0, 6))
@settings(deadline=None)
def test_decimals_of_usual_length_are_rounded_correctly(digits: int, places: int) -> None:
    text = f"{digits / 10**places:.{places}f}"
    rows, _, _ = scan(f"1 2 {text}\n".encode(), LineFormat(" ", 3))
    assert rows[0][2] == np.float32(float(text))

import pytest

from pskit.data.lines import BadLine, LineFormat, detect_format, parse_line

COMMA = LineFormat(",", 3)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("userId,movieId,rating,timestamp", LineFormat(",", 4, has_header=True)),
        (
            "user_id:token\titem_id:token\trating:float\ttimestamp:float",
            LineFormat("\t", 4, has_header=True),
        ),
        ("rating item user", LineFormat(" ", 3, 2, 1, 0, has_header=True)),
        ("1::1193::5::978300760", LineFormat("::", 4)),
        ("196\t242\t3\t881250949", LineFormat("\t", 4)),
        ("0 1 3.5", LineFormat(" ", 3)),
        ("  0 \t 1   3.5 ", LineFormat("\t", 2)),
        ("0,1,-3.5", COMMA),
    ],
)
def test_formats_are_told_by_the_first_line(line: str, expected: LineFormat) -> None:
    if expected.columns < 3:  # a TAB makes the file TAB separated
        with pytest.raises(BadLine, match="2 fields where user, item and rating"):
            detect_format(line)
    else:
        assert detect_format(line) == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("user,stars", "not a header that names one column each for user, item"),
        ("user,item,movie,rating", "not a header"),
        ("1,2", "2 fields where user, item and rating"),
        ("1 2 3 4 5", "5 fields"),
        ("{}", "1 field where"),
    ],
)
def test_a_first_line_of_no_format_is_refused(line: str, reason: str) -> None:
    with pytest.raises(BadLine, match=reason):
        detect_format(line)


def test_fields_are_found_by_their_place() -> None:
    assert parse_line("1.5;7;8".replace(";", ","), LineFormat(",", 3, 1, 2, 0)) == (7, 8, 1.5)
    assert parse_line(" 7 \t 8   1e1 x ", LineFormat(" ", 4)) == (7, 8, 10.0)
    assert parse_line("7::8::.5::a:b", LineFormat("::", 4)) == (7, 8, 0.5)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1,2", "2 fields, expected 3"),
        ("1,2,3,4", "4 fields, expected 3"),
        ("x,2,3", "the user id 'x' is not a whole number from 0 to 2147483647"),
        ("1,-2,3", "the item id '-2' is not a whole number"),
        ("1.0,2,3", "the user id '1.0' is not a whole number"),
        (",2,3", "the user id '' is not a whole number"),
        ("1,2147483648,3", "the item id '2147483648' is out of range"),
        ("1," + "9" * 5000 + ",3", "out of range"),
        ("1,2,nan", "the rating 'nan' is not a finite number"),
        ("1,2,-Infinity", "the rating '-Infinity' is not a finite number"),
        ("1,2,", "the rating '' is not a decimal number"),
        ("1,2,3_0", "the rating '3_0' is not a decimal number"),
        ("1,2,1e39", "the rating '1e39' is too large"),
    ],
)
def test_a_bad_line_says_why(line: str, reason: str) -> None:
    with pytest.raises(BadLine, match=reason):
        parse_line(line, COMMA)


def test_leading_zeros_are_no_matter() -> None:
    assert parse_line("000000000000007,00,003.50", COMMA) == (7, 0, 3.5)

import numpy as np
import pytest

from pskit.errors import InputError
from pskit.explore.script import Call, default_script, moves_of, parse_script, units_of


def test_the_default_script_reads_once_more_before_it_leaves():
    assert default_script(rows=2, clocks=2) == "G0,1 I0,1 C G0,1 I0,1 C G0,1 L"
    assert default_script(rows=1, clocks=0) == "G0 L"


def test_incs_belong_to_the_call_that_follows():
    calls = parse_script("I0 I1 G0 C L", rows=2)
    assert [(len(move.incs), move.call.name) for move in moves_of(calls, fuse=True)] == [
        (2, "get"),
        (0, "clock"),
        (0, "leave"),
    ]
    assert [move.call.name for move in moves_of(calls, fuse=False)] == ["inc", "inc", "get", "clock", "leave"]


def test_units_are_sums_by_row_with_an_open_one_at_the_end():
    calls = parse_script("I0 I0,1 C U0 I1 L", rows=2)
    first, second, still_open = units_of(calls, worker=1, workers=3)
    assert {row: delta.tolist() for row, delta in first.items()} == {0: [0, 2, 0], 1: [0, 1, 0]}
    assert {row: delta.tolist() for row, delta in second.items()} == {0: [0, -1, 0], 1: [0, 8, 0]}
    assert still_open == {}


def test_digits_tell_clocks_apart():
    (*units, _) = units_of(parse_script("I0 C " * 20 + "L", rows=1), worker=0, workers=1)
    total = sum(unit[0] for unit in units if unit)
    assert np.base_repr(int(total[0]), 8) == "1" * 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("G0 X L", r"'X' is no call"),
        ("G L", r"'G' is no call"),
        ("G0,2 L", r"ascending rows from 0 to 1"),
        ("G1,0 L", r"ascending rows"),
        ("G0 C", r"must be L"),
        ("L C L", r"must be L"),
        ("", r"must be L"),
        ("U0 C L", r"nothing to take back"),
        ("C " * 21 + "L", r"at most 20 clocks"),
    ],
)
def test_wrong_scripts(text, message):
    with pytest.raises(InputError, match=message):
        parse_script(text, rows=2)


def test_calls():
    assert parse_script("G0,1 I1 C L", rows=2) == (
        Call("get", (0, 1)),
        Call("inc", (1,)),
        Call("clock"),
        Call("leave"),
    )

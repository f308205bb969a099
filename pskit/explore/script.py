"""What the workers of an explored system do: a short fixed list of calls each.

A script is text: calls apart by blanks. ``G0,1`` gets the rows 0 and 1, ``I0`` adds to row 0, ``U0`` takes
back what the clock before added to it, ``C`` is clock(), and ``L`` (always the last) leaves. An INC of
worker w at clock c adds 8**c to column w, so that digit c of that column says how often a view has it.
"""

import re
from typing import NamedTuple

import numpy as np

from pskit.core.messages import Values
from pskit.errors import InputError

MOST_CLOCKS = 20
"""Digits of an int64."""


class Call(NamedTuple):
    """One call of a worker: ``get``, ``inc``, ``undo``, ``clock`` or ``leave``, with its global rows."""

    name: str
    rows: tuple[int, ...] = ()


class Move(NamedTuple):
    """What a worker does in one step: INCs, which nobody else sees, up to the call that ends it.

    An INC touches only the worker's own updates, which nothing but its own next call looks at, so no
    event in between could tell when it was made.
    """

    incs: tuple[Call, ...]
    call: Call


_CALL = re.compile(r"([GIU])(\d+(?:,\d+)*)|([CL])")
_NAMES = {"G": "get", "I": "inc", "U": "undo", "C": "clock", "L": "leave"}


def default_script(rows: int, clocks: int) -> str:
    """Get all rows, add to all, clock(), ``clocks`` times; get all rows once more, and leave."""
    every = ",".join(map(str, range(rows)))
    return " ".join([f"G{every} I{every} C"] * clocks + [f"G{every} L"])


def parse_script(text: str, rows: int) -> tuple[Call, ...]:
    """Calls of a script over the global rows ``0 .. rows - 1``.

    Raises
    ------
    InputError
        On anything that is not a call, an unknown or repeated row, too many clocks, or a missing ``L``.
    """
    calls = []
    for word in text.split():
        match = _CALL.fullmatch(word)
        if match is None:
            raise InputError(
                f"script {text!r}: {word!r} is no call; allowed are G, I and U with rows (G0,1), C and L"
            )
        ids = tuple(int(r) for r in match[2].split(",")) if match[2] else ()
        if list(ids) != sorted(set(ids)) or any(r >= rows for r in ids):
            raise InputError(f"script {text!r}: {word!r} must name ascending rows from 0 to {rows - 1}")
        calls.append(Call(_NAMES[match[1] or match[3]], ids))
    names = [call.name for call in calls]
    if "undo" in names[: [*names, "clock"].index("clock")]:
        raise InputError(f"script {text!r}: before the first C there is nothing to take back with U")
    if "leave" not in names or names.index("leave") != len(names) - 1:
        raise InputError(f"script {text!r}: the last call, and only the last, must be L")
    if names.count("clock") > MOST_CLOCKS:
        raise InputError(f"script {text!r}: at most {MOST_CLOCKS} clocks can be told apart")
    return tuple(calls)


def moves_of(calls: tuple[Call, ...], fuse: bool) -> tuple[Move, ...]:
    """The steps of a script; without ``fuse`` every INC is a step of its own."""
    moves, incs = [], []
    for call in calls:
        if call.name in ("inc", "undo") and fuse:
            incs.append(call)
        else:
            moves.append(Move(tuple(incs), call))
            incs = []
    return tuple(moves)


def delta_of(call: Call, worker: int, workers: int, clock: int) -> Values:
    """Values (n, workers) int64 that an INC or its undoing adds to its rows."""
    delta = np.zeros((len(call.rows), workers), np.int64)
    delta[:, worker] = 8**clock if call.name == "inc" else -(8 ** (clock - 1))
    return delta


def units_of(calls: tuple[Call, ...], worker: int, workers: int) -> list[dict[int, Values]]:
    """Update units of a script, each the sum of its INCs by global row, and an open one at the end."""
    units: list[dict[int, Values]] = [{}]
    for call in calls:
        if call.name in ("inc", "undo"):
            for row, delta in zip(call.rows, delta_of(call, worker, workers, len(units) - 1), strict=True):
                units[-1][row] = units[-1].get(row, 0) + delta
        elif call.name != "get":
            units.append({})
    return units

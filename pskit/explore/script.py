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


def delta_of(call: Call, worker: int, workers: int, clock: int, shared: bool = False) -> Values:
    """Values (n, workers) int64 that an INC or its undoing adds to its rows.

    ``shared``: with one more column, to which everybody adds.
    """
    delta = np.zeros((len(call.rows), workers + shared), np.int64)
    delta[:, [worker, -1] if shared else worker] = 8**clock if call.name == "inc" else -(8 ** (clock - 1))
    return delta


def units_of(
    calls: tuple[Call, ...], worker: int, workers: int, apart: bool = False
) -> list[dict[int, Values]]:
    """Update units of a script, each the sum of its INCs by global row, and an open one at the end.

    ``apart``: every INC is a unit of its own, and every clock() and leave() one without rows; the INCs have a
    shared column, so that those of several workers add up in it.
    """
    units: list[dict[int, Values]] = [{}]
    clock = 0
    for call in calls:
        if call.name in ("inc", "undo"):
            values = delta_of(call, worker, workers, clock, shared=apart)
            for row, delta in zip(call.rows, values, strict=True):
                units[-1][row] = units[-1].get(row, 0) + delta
            if apart:
                units.append({})
        elif call.name != "get":
            clock += 1
            units.append({})
    return units


class Computation(NamedTuple):
    """A GET and what follows up to the next one, clock() or leave().

    ``units``: units made up to its end, see `units_of`; ``largest``: magnitude of the largest entry of its
    update.
    """

    clock: int
    units: int
    largest: float


def computations_of(calls: tuple[Call, ...], worker: int, workers: int) -> list[Computation]:
    """The computations of a script under a policy with a gate.

    Raises
    ------
    InputError
        On an INC outside a computation, or two GETs in a row.
    """
    found: list[Computation] = []
    clock = units = 0
    within: dict[int, Values] | None = None
    for call in (*calls, Call("get")):
        if call.name in ("inc", "undo"):
            if within is None:
                raise InputError("under a policy with a gate an INC needs a GET before it in its clock")
            units += 1
            values = delta_of(call, worker, workers, clock, shared=True)
            for row, delta in zip(call.rows, values, strict=True):
                within[row] = within.get(row, 0) + delta
            continue
        if within is not None:
            largest = max((float(np.abs(delta).max()) for delta in within.values()), default=0.0)
            found.append(Computation(clock, units, largest))
            if call.name == "get" and call.rows and not within:
                raise InputError(
                    "under a policy with a gate a computation reads once: an INC or C before the next G"
                )
        within = {} if call.name == "get" else None
        if call.name != "get":
            units, clock = units + 1, clock + 1
    return found

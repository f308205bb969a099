"""Command line: `python -m theory thm5 --eta .5 --L 1 --F2 1 --P 4 --s 3 --T 1000 --mu-gamma 3 ...`.

Prints each bound with value, source and assumptions; `--json` for programs, `--latex` for the formula with
the numbers put in. Exit code 2 and one line on stderr for bad input.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import zipfile
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from theory import _latex
from theory._commands import COMMANDS, OPTIONS, Result


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (bad arguments end the program with code 2)."""
    parser, commands = _parsers()
    given = parser.parse_args(arguments)
    command = COMMANDS[given.command]
    try:
        with np.errstate(all="ignore"):  # what overflows is refused below, in words
            results = command.run(given)
    except (ValueError, OSError, EOFError, OverflowError, zipfile.BadZipFile) as problem:
        commands[given.command].error(str(problem))
    undefined = [r.name for r in results if np.any(np.isnan(r.bound.value))]
    if undefined:
        commands[given.command].error(f"{', '.join(undefined)}: not a number, the arguments are too large")
    names = (*command.required, *command.optional)
    inputs = {n: getattr(given, n) for n in names if getattr(given, n) is not None}
    if given.json:
        print(
            json.dumps({"command": given.command, "inputs": inputs, "results": [_record(r) for r in results]})
        )
    elif given.latex:
        print("\n".join(_formula(r, inputs) for r in results))
    else:
        print(f"{given.command}: {command.title}")
        print("\n".join(_text(results)))
    return 0


def _parsers() -> tuple[_Parser, dict[str, argparse.ArgumentParser]]:
    parser = _Parser(prog="python -m theory", description=__doc__, allow_abbrev=False)
    several = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    commands: dict[str, argparse.ArgumentParser] = {}
    for name, command in COMMANDS.items():
        one = several.add_parser(name, help=command.title, description=command.title, allow_abbrev=False)
        for option in (*command.required, *command.optional):
            kind, text = OPTIONS[option]
            flag = "--" + option.replace("_", "-")
            if kind == "flag":
                one.add_argument(flag, dest=option, action="store_true", help=text)
            else:
                needed = option in command.required
                one.add_argument(flag, dest=option, type=_KINDS[kind], required=needed, help=text)
        form = one.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="one JSON object")
        form.add_argument(
            "--latex", action="store_true", help="formulas, and the same with the numbers put in"
        )
        commands[name] = one
    return parser, commands


def _whole(text: str) -> int:
    value = float(text)
    if not value.is_integer():
        raise argparse.ArgumentTypeError(f"got {text}, but must be a whole number")
    return int(value)


def _vector(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _law(text: str) -> tuple[list[float], list[float]]:
    pairs = [part.split(":") for part in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise argparse.ArgumentTypeError(f"got {text}, but must be value:probability,value:probability,...")
    return [float(v) for v, _ in pairs], [float(p) for _, p in pairs]


_KINDS: dict[str, Callable[[str], Any]] = {
    "number": float,
    "whole": _whole,
    "vector": _vector,
    "law": _law,
    "file": str,
}


def _record(result: Result) -> dict[str, Any]:
    bound = result.bound
    return {
        "name": result.name,
        "value": _plain(bound.value),
        "vacuous": bool(np.all(bound.vacuous)),
        "source": bound.source,
        "assumptions": list(bound.assumptions),
        "details": {name: _plain(value) for name, value in bound.details.items()},
    }


def _plain(value: Any) -> Any:
    """A number for JSON: infinities and NaN as text."""
    number = float(value)
    return number if math.isfinite(number) else str(number)


def _formula(result: Result, inputs: dict[str, Any]) -> str:
    values = {n: float(v) for n, v in inputs.items() if isinstance(v, int | float)} | dict(result.extra)
    note = " (vacuous)" if np.all(result.bound.vacuous) else ""
    body = _latex.lines(result.name, values, float(result.bound))
    return f"% {result.name}: {result.bound.source}{note}\n\\begin{{align*}}\n  & {body}\n\\end{{align*}}"


def _text(results: list[Result]) -> list[str]:
    width = max(len(r.name) for r in results)
    out = []
    for r in results:
        note = "  VACUOUS: says nothing" if np.all(r.bound.vacuous) else ""
        out.append(f"  {r.name:<{width}}  {float(r.bound):<18.12g}  {r.bound.source}{note}")
        parts = ", ".join(
            f"{name} {float(value):.6g}" for name, value in r.bound.details.items() if np.ndim(value) == 0
        )
        if parts:
            out.append(f"  {'':<{width}}    {parts}")
    assumed = dict.fromkeys(a for r in results for a in r.bound.assumptions)
    return [*out, "assumed:", *(f"  - {a}" for a in assumed)]


if __name__ == "__main__":
    sys.exit(main())

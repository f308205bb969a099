"""`pskit bench`: runs the benchmarks of the source tree and collects their ratios.

A benchmark is a file ``benchmarks/NAME.py`` with a function ``measure() -> list[Ratio]``; a ``-`` in the name
is ``_`` in that of the file. What it compares it measures interleaved, in one run: only ratios count.
"""

import difflib
import importlib.util
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from pskit.errors import InputError

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


class Ratio(NamedTuple):
    """One result of a benchmark.

    Attributes
    ----------
    what : str
        What is divided by what.
    value, low, high : float
        Median and spread of the ratio over the repetitions.
    target : str
        What it should be, empty if there is no target.
    met : bool or None
        None without target, or where this machine cannot tell.
    """

    what: str
    value: float
    low: float
    high: float
    target: str = ""
    met: bool | None = None


def available() -> dict[str, Path]:
    """Benchmarks by name.

    Raises
    ------
    InputError
        There are none: the package was installed without its source tree.
    """
    found = {path.stem.replace("_", "-"): path for path in sorted(FOLDER.glob("[!_]*.py"))}
    if not found:
        raise InputError(
            f"{FOLDER}: no benchmarks there; they are part of the source tree, not of the package."
        )
    return found


def choose(names: Iterable[str]) -> dict[str, Path]:
    """Return the benchmarks called `names`, all of them without any; InputError on an unknown name."""
    known = available()
    names = list(names) or list(known)
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f' did you mean "{close[0]}"?' if close else ""
            raise InputError(f"bench {name}: unknown benchmark;{hint} Allowed: {', '.join(known)}.")
    return {name: known[name] for name in names}


def measure(path: Path) -> tuple[list[Ratio], float]:
    """Run one benchmark; its ratios and the seconds it took."""
    begin = time.perf_counter()
    ratios = [Ratio(*ratio) for ratio in _load(path).measure()]
    return ratios, time.perf_counter() - begin


def as_json(results: dict[str, tuple[list[Ratio], float]]) -> dict[str, Any]:
    """Results as plain values, with the machine that they are of."""
    from pskit.trace.machine import machine, threads, versions

    return {
        "benchmarks": {
            name: {"seconds": seconds, "ratios": [ratio._asdict() for ratio in ratios]}
            for name, (ratios, seconds) in results.items()
        },
        "machine": machine(),
        "threads": threads(),
        "versions": versions(),
    }


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks.{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where a child process finds what it is to call
    spec.loader.exec_module(module)
    return module

"""`pskit bench`: runs the benchmarks of the source tree and collects their ratios.

A benchmark is a file ``benchmarks/NAME.py`` with a function ``measure() -> list[Ratio]`` and a number
``SECONDS``, about what it takes; a ``-`` in the name is ``_`` in that of the file. What it compares it
measures interleaved, in one run: only ratios count.
"""

import difflib
import importlib.util
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from rich.console import Console

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


def duration(paths: Iterable[Path]) -> float:
    """Seconds that these benchmarks say they take on two idle cores; they are not loaded for it."""
    texts = (path.read_text(encoding="utf-8") for path in paths)
    found = (re.search(r"^SECONDS = (\d+)", text, re.MULTILINE) for text in texts)
    return sum(float(one[1]) for one in found if one)


@contextmanager
def showing_time(console: Console, name: str, about: float, between: float = 5.0) -> Iterator[None]:
    """Context: a line every few seconds says how long a benchmark has been at work, and how long it may be.

    The thread that prints sleeps in between, so what is measured does not meet it.
    """
    done, begin = threading.Event(), time.monotonic()

    def show() -> None:
        while not done.wait(between):
            line = f"{name}: {time.monotonic() - begin:.0f} s of about {about:.0f} s"
            console.print(line, soft_wrap=True, markup=False, highlight=False)

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


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

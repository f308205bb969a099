"""Progress of a run on standard error: a bar on a terminal, a plain line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

ProgressCallback = Callable[[int, int, dict[str, Any]], None]
SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def showing_progress(
    console: Console, clock: Callable[[], float] = time.monotonic
) -> Iterator[ProgressCallback]:
    """Context: a callback for `pskit.run` that shows clocks, waiting share, messages and the time left.

    Parameters
    ----------
    console : Console
        Standard error; decides between bar and lines.
    clock : callable
        Seconds, for the pace of the plain lines.
    """
    if not console.is_terminal:
        yield _Lines(console, clock)
        return
    columns = (
        TextColumn("clock {task.fields[clocks]}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[facts]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, expand=True) as bar:
        task = bar.add_task("run", total=None, clocks="-", facts="preparing")

        def update(done: int, total: int, info: dict[str, Any]) -> None:
            bar.update(task, completed=done, total=total, clocks=_clocks(total, info), facts=_facts(info))

        yield update


class _Lines:
    """A line every few seconds, the first one after as many."""

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        self._console, self._clock = console, clock
        self._last = clock()
        self._begin: float | None = None

    def __call__(self, done: int, total: int, info: dict[str, Any]) -> None:
        now = self._clock()
        self._begin = now if self._begin is None else self._begin  # not loading, nor starting processes
        if now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        left = f", about {(now - self._begin) * (total - done) / done:.0f} s left" if done else ""
        line = f"clock {_clocks(total, info)}, {_facts(info)}{left}"
        self._console.print(line, soft_wrap=True, highlight=False, markup=False)


def _clocks(total: int, info: dict[str, Any]) -> str:
    """Clocks of the slowest and the fastest worker."""
    low, high = info["clock_min"], info["clock_max"]
    return f"{low} of {total}" if low == high else f"{low}-{high} of {total}"


def _facts(info: dict[str, Any]) -> str:
    return (
        f"{info['waiting_share']:.0%} waiting, {info['messages']:,} messages, {info['in_flight']:,} in flight"
    )

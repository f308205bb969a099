"""The explorer in the terminal: its progress, what it found, and a way through a system step by step."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from pskit.errors import InputError
from pskit.explore import Progress, Story, System, Verdict
from pskit.explore.script import default_script

SECONDS_BETWEEN_LINES = 5.0


def scripts_of(
    leave: list[str], scripts: list[str], clients: int, threads: int, shards: int, rows: int
) -> dict[int, str]:
    """Scripts by worker from ``WORKER:CLOCKS`` (it leaves after so many clocks) and ``WORKER:SCRIPT``."""
    found: dict[int, str] = {}
    for option, texts in (("--leave", leave), ("--script", scripts)):
        for text in texts:
            worker, colon, rest = text.partition(":")
            number = option == "--leave"
            if not colon or not worker.isdecimal() or (number and not rest.isdecimal()):
                what = "CLOCKS" if number else "SCRIPT"
                raise InputError(
                    f"{option} {text!r}: expected WORKER:{what}, such as 0:{1 if number else 'C L'}"
                )
            if int(worker) in found:
                raise InputError(f"{option} {text!r}: worker {worker} has a script already")
            found[int(worker)] = default_script(rows * shards, int(rest)) if number else rest
    if wrong := [w for w in found if w >= clients * threads]:
        raise InputError(f"there are no workers {wrong}: the workers are 0 to {clients * threads - 1}")
    return found


@contextmanager
def showing_search(
    console: Console, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[Progress], None]]:
    """Context: a callback for `pskit.explore.explore` that prints a line every few seconds."""
    begin = last = clock()

    def show(progress: Progress) -> None:
        nonlocal last
        if (now := clock()) - last >= SECONDS_BETWEEN_LINES:
            last = now
            line = (
                f"{progress.states:,} states, {progress.states - progress.expanded:,} ahead, "
                f"{progress.transitions:,} transitions, depth {progress.depth}, {now - begin:.0f} s"
            )
            _plain(console, line)

    yield show


def print_verdict(console: Console, verdict: Verdict) -> None:
    """Print what a search found."""
    system = verdict.system
    _plain(console, described(system))
    same = f" (states that differ in names only count once: {verdict.renamings} ways)" * (
        verdict.renamings > 1
    )
    _plain(
        console,
        f"{verdict.states:,} states{same}, {verdict.transitions:,} transitions, depth {verdict.depth}",
    )
    speed = verdict.transitions / max(verdict.seconds, 1e-9)
    _plain(
        console, f"{verdict.seconds:.1f} s, {speed:,.0f} transitions/s, {verdict.calls:,} calls of machines"
    )
    if verdict.violation is not None:
        console.print(f"violation: {verdict.violation}", style="red", markup=False, soft_wrap=True)
    elif verdict.complete:
        _plain(console, "every state was visited: no violation, and from each the end is reached")
    else:
        _plain(console, "given up before the end (--max-states): no violation so far")


def print_story(console: Console, story: Story, file: Path | None = None) -> None:
    """Print a way through a system, step by step."""
    _plain(console, described(story.system))
    width = len(str(len(story.steps)))
    for number, step in enumerate(story.steps, 1):
        _plain(console, f"{number:{width}}  {step.event}{f': {step.what}' if step.what else ''}")
        for line in step.then:
            _plain(console, f"{'':{width}}      {line}")
    if story.violation is None:
        _plain(console, "no violation")
    else:
        console.print(story.violation, style="red", markup=False, soft_wrap=True)
    if file is not None:
        _plain(console, f"saved as {file}; `pskit report {file}` shows it again")


def described(system: System) -> str:
    """A system in a line."""
    policy = f"{system.policy}{' with deltas' if system.deltas else ''}, slack {system.slack}"
    size = f"{system.clients} clients x {system.threads} workers, {system.shards} shards x {system.rows} rows"
    if system.gated:
        policy += f", {system.variant}, v0 = {system.v0:g} {system.schedule}"
    more = [f"caches of {system.capacity} rows"] if system.capacity else []
    more += [name for name in ("evictions", "lossy", "trim") if getattr(system, name)]
    scripts = [f"worker {w}: {text}" for w, text in sorted(system.scripts.items())]
    return "; ".join([policy, size, f"{system.clocks} clocks", *more, *scripts])


def _plain(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)

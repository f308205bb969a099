"""What the user sees while runs are made: a bar on a terminal, a plain line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from pskit.repro.plan import Planned, seconds_on
from pskit.repro.runner import Outcome

SECONDS_BETWEEN_LINES = 5.0
SHARE_ON_TRUST = 0.1
"""Of all work, what the plan's own estimate counts as beside what was seen: one slow start is no pace yet."""
Report = Callable[[Outcome | None], None]


class Pace:
    """How far a batch of runs is, and how long the rest will take.

    Parameters
    ----------
    runs : list of PlannedRun or PlannedBatch
    cores : int
        That those of them share that need not be alone.
    clock : callable
        Seconds.
    """

    def __init__(
        self, runs: list[Planned], cores: int = 1, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total = sum(run.size for run in runs)
        self.done = 0
        self.failed = 0
        self.setup = 0.0
        self._cores = cores
        self._all = sum(seconds_on(run, cores) for run in runs)
        self._behind = 0.0
        self._clock = clock
        self._begin = self._last = clock()

    def step(self, outcome: Outcome | None) -> None:
        """Take in an outcome; None is the end of a set-up, which began with the last outcome or the start."""
        before, self._last = self._last, self._clock()
        if outcome is None:
            self.setup += self._last - before
            return
        self.done += outcome.run.size
        self.failed += outcome.run.size if outcome.error else 0
        self._behind += seconds_on(outcome.run, self._cores)

    @property
    def seconds(self) -> float:
        """Time since the start, without loading and compiling."""
        return self._clock() - self._begin - self.setup

    @property
    def left(self) -> float | None:
        """Estimated seconds to the end, None before the first run."""
        rest = max(0.0, self._all - self._behind)
        trust = SHARE_ON_TRUST * self._all
        return rest * (self.seconds + trust) / (self._behind + trust) if self._behind else None

    def text(self) -> str:
        """As a line."""
        failed = f", {self.failed} failed" if self.failed else ""
        left = "" if self.left is None else f", about {self.left:.0f} s left"
        return f"run {self.done} of {self.total}{failed}{left}"


@contextmanager
def showing(console: Console, pace: Pace, clock: Callable[[], float] = time.monotonic) -> Iterator[Report]:
    """Context: a callback for `Runner` that shows `pace` on `console`."""
    if not console.is_terminal:
        last = clock()

        def line(outcome: Outcome | None) -> None:
            nonlocal last
            pace.step(outcome)
            if outcome is not None and clock() - last >= SECONDS_BETWEEN_LINES:
                last = clock()
                console.print(pace.text(), highlight=False, soft_wrap=True)

        yield line
        return
    columns = (BarColumn(bar_width=None), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, expand=True) as bar:
        task = bar.add_task("loading and compiling", total=pace.total)

        def update(outcome: Outcome | None) -> None:
            pace.step(outcome)
            bar.update(task, completed=pace.done, description=pace.text())

        yield update

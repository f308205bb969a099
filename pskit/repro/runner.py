"""Makes missing runs in parallel processes.

The start method is explicit (forkserver, or spawn where there is none). A worker process makes small runs
first, so that loading and compiling are not counted, then takes one run after another. It ignores Ctrl-C:
the parent gets it, ends the workers, and sweeps up what one of them was just writing. Folders that are
complete stay, and are reused the next time.
"""

import multiprocessing
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

from pskit.errors import InputError
from pskit.repro.plan import Planned
from pskit.runtime.children import METHOD, single_threaded
from pskit.trace.folder import put_back

_WRONG_INPUT = f"{InputError.__name__}: "
_SYSTEM = f"{OSError.__name__}: "
WARM_UP_CLOCKS = 2
WARM_UP_CLIENTS = 2


class WorkerFailure(Exception):
    """A worker process could not even make a small run; the message says why."""


class Outcome(NamedTuple):
    """What became of a run: seconds it took, and an error or an empty text."""

    run: Planned
    seconds: float
    error: str


class _Worker:
    """A worker process, the pipe to it, and the run that it is at (None while it warms up)."""

    def __init__(self, context: Any, number: int, warm_up: list[dict[str, Any]]) -> None:
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, warm_up), name=f"run-{number}", daemon=True)
        self.run: Planned | None = None
        self.process.start()
        other.close()  # so that the end of the process ends the pipe


class Runner:
    """Worker processes for one batch of runs.

    Parameters
    ----------
    jobs : int
        Processes at a time.
    report : callable, optional
        ``report(outcome)`` after each run, in the order in which they end; ``report(None)`` when the first
        process has loaded and compiled everything.
    """

    def __init__(self, jobs: int, report: Callable[[Outcome | None], None] | None = None) -> None:
        self._jobs = jobs
        self._report = report or (lambda outcome: None)
        self._workers: list[_Worker] = []

    def make(self, runs: Sequence[Planned]) -> list[Outcome]:
        """Make `runs`, the longest first.

        Raises
        ------
        KeyboardInterrupt
            After the worker processes have ended and nothing half-written is left.
        InputError, WorkerFailure
            When already a small run ends like that, or a run cannot be written: nor could the others.
        """
        queue = sorted(runs, key=lambda run: run.seconds)
        outcomes: list[Outcome] = []
        try:
            self._start(1, runs)
            while queue or any(worker.run for worker in self._workers):
                for worker in self._ready():
                    outcome = self._take(worker)
                    if outcome is not None:
                        outcomes.append(outcome)
                        self._report(outcome)
                    elif len(self._workers) == 1 and queue:
                        # The first has compiled for all: the others only load.
                        self._report(None)
                        self._start(min(self._jobs, len(queue)) - 1, runs)
                    if queue and worker in self._workers:
                        worker.run = queue.pop()
                        with suppress(OSError):  # a process that has just died is noticed when it is read
                            worker.pipe.send(worker.run)
                if queue and not self._workers:
                    self._start(1, runs)
        finally:
            self._end()
        return outcomes

    def _start(self, count: int, runs: Sequence[Planned]) -> None:
        context = multiprocessing.get_context(METHOD)
        with for_children():
            for _ in range(count):
                self._workers.append(_Worker(context, len(self._workers), warm_up_configs(runs)))

    def _ready(self) -> Iterator[_Worker]:
        ready = set(map(id, wait([worker.pipe for worker in self._workers])))
        yield from [worker for worker in self._workers if id(worker.pipe) in ready]

    def _take(self, worker: _Worker) -> Outcome | None:
        """Outcome of the run that `worker` was at; None after its warm-up. A dead worker is removed."""
        run = worker.run
        try:
            seconds, error = worker.pipe.recv()
        except EOFError:
            worker.process.join()
            self._workers.remove(worker)
            error = f"its process ended with exit code {worker.process.exitcode}"
            if run is None:
                raise WorkerFailure(f"a worker process could not start: {error}") from None
            sweep(run.folder)
            return Outcome(run, 0.0, error)
        if run is None:
            if error.startswith(_WRONG_INPUT):
                raise InputError(error.removeprefix(_WRONG_INPUT))
            if error:
                raise WorkerFailure(error)
            return None
        worker.run = None
        if error.startswith(_SYSTEM):
            raise InputError(f"{run.folder}: no run can be written there ({error.removeprefix(_SYSTEM)})")
        return Outcome(run, seconds, error)

    def _end(self) -> None:
        """End all workers, whatever they are at."""
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()
            if worker.run is not None:
                sweep(worker.run.folder)
        self._workers.clear()


def warm_up_configs(runs: Sequence[Planned]) -> list[dict[str, Any]]:
    """One tiny config for each application and policy among `runs`."""
    tiny: dict[tuple[str, str], dict[str, Any]] = {}
    for run in runs:
        tree = run.cfg.to_dict()
        tree["app"]["clocks"] = WARM_UP_CLOCKS
        tree["cluster"]["clients"] = min(tree["cluster"]["clients"], WARM_UP_CLIENTS)
        tiny[run.cfg.app.name, run.cfg.ps.policy] = tree
    return list(tiny.values())


def sweep(folder: Path) -> None:
    """Remove what an ended process left beside `folder` while it was writing it."""
    put_back(folder)  # a kill between two renames leaves the older run under its hidden name only
    for left_over in folder.parent.glob(f".{folder.name}.partial-*"):
        shutil.rmtree(left_over, ignore_errors=True)


@contextmanager
def for_children() -> Iterator[None]:
    """Children start with Ctrl-C ignored, so that none prints a traceback, and with one thread each."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with single_threaded():
            yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _work(pipe: Connection, warm_up: list[dict[str, Any]]) -> None:
    """Take runs from the pipe until it closes; the body of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from pskit.config import Config
    from pskit.running import run

    def attempt(make: Callable[[], Any]) -> tuple[float, str]:
        begin = time.perf_counter()
        try:
            make()
        except OSError as error:  # of an application it would be an AppError
            return 0.0, f"{_SYSTEM}{error.strerror or error}"
        except Exception as error:
            return 0.0, f"{type(error).__name__}: {error}"
        return time.perf_counter() - begin, ""

    tiny = [partial(run, Config(**tree), threads=1) for tree in warm_up]
    errors = [error for _, error in map(attempt, tiny) if error]
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # who gave the runs was ended
        pipe.send((0.0, errors[0] if errors else ""))
        while True:
            planned: Planned = pipe.recv()
            pipe.send(attempt(planned.make))

"""Starts the processes of a live run, watches over them, and gathers what they took down.

Children are started by a fork server (else spawned) that has imported and compiled everything. When all are
ready, time zero is set. The death of any of them is noticed at once, by its sentinel, and ends the run.
Whatever happens, `LiveRun.run` returns with no process and no memory left.
"""

import contextlib
import os
import resource
import signal
import time
from collections.abc import Sequence
from functools import partial
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from pskit.core.layout import Layout
from pskit.errors import AppError, InputError, RunFailed
from pskit.runtime.base import Outcome, Report, Stuck
from pskit.runtime.children import METHOD
from pskit.runtime.evaluation import tables_of
from pskit.runtime.live import child
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.bells import ring
from pskit.runtime.live.fidelity import fidelity
from pskit.runtime.live.parts import MergedTrace, Part
from pskit.runtime.live.plan import EARLY, FINISHED, START, STOP, Plan, Shared
from pskit.runtime.live.starting import starting
from pskit.runtime.live.status import clock_of, nothing_moves, progress, who_waits
from pskit.runtime.live.timebase import scale_of

if TYPE_CHECKING:
    from pskit.config import Config

MOST_CLIENTS = 200
"""The server process is handed a bell of each client, and a fork server passes on 256 descriptors."""
DESCRIPTORS_OF_A_CHILD, OTHER_DESCRIPTORS = 6, 60
SECONDS_TO_STOP = 8.0
LOOK_EVERY = 0.2
LOOKS_UNTIL_STUCK = 10
"""Looks in a row at which nothing moves until a run counts as stuck, though one should do."""


class _Child:
    """A process with the two lines to it."""

    def __init__(self, context: Any, me: int, name: str) -> None:
        self.me, self.name = me, name
        self.heard, self.bell = context.Pipe(duplex=False)
        self.line, self.far_end = context.Pipe()
        self.process: Any = None
        self.report: child.Report | None = None

    def start(self, context: Any, cfg: "Config", arena: Arena, bells: dict[int, Connection]) -> None:
        arguments = (self.me, cfg, arena, self.heard, bells, self.far_end)
        process = context.Process(target=child.main, args=arguments, name=self.name, daemon=True)
        process.start()
        self.process = process

    def close(self) -> None:
        """End the process, if it has not ended, and close the lines."""
        if self.process is not None:
            if self.process.is_alive():
                self.process.kill()
            self.process.join()
            self.process.close()
        for end in (self.heard, self.bell, self.line, self.far_end):
            end.close()


class LiveRun:
    """One run with real processes.

    Parameters
    ----------
    cfg : Config
    layout : Layout
        Of the application, whose data is loaded anew by every process.
    report : callable, optional
        See `pskit.runtime.base.Report`.
    """

    def __init__(self, cfg: "Config", layout: Layout, report: Report | None = None) -> None:
        if cfg.cluster.clients > MOST_CLIENTS:
            raise InputError(
                f"cluster.clients = {cfg.cluster.clients}: the live runtime has a process for each client, "
                f"and at most {MOST_CLIENTS} are allowed; give a client more threads, or use "
                'run.runtime = "sim"'
            )
        allowed, needed = _open_files_allowed(), DESCRIPTORS_OF_A_CHILD * (cfg.cluster.clients + 1)
        if needed + OTHER_DESCRIPTORS > allowed:
            raise InputError(
                f"cluster.clients = {cfg.cluster.clients}: their processes need {needed + OTHER_DESCRIPTORS} "
                f"open files, and {allowed} are allowed; raise the limit (ulimit -n), or give fewer clients "
                "more threads"
            )
        self._cfg, self._layout, self._report = cfg, layout, report
        self._plan = Plan(cfg, layout)
        self._scale = scale_of(cfg)
        self._children: list[_Child] = []
        self._seconds = 0.0
        self._interrupted = self._came_to_its_end = False

    def run(self) -> tuple[MergedTrace, Outcome, dict[str, Any]]:
        """Run to the end.

        Returns
        -------
        trace : MergedTrace
        outcome : Outcome
        facts : dict
            For the manifest: ``fidelity`` and ``processes``.

        Raises
        ------
        RunFailed
            A process died, or could not go on; says which, where it was and who waited for what.
        Stuck
            Workers wait although nothing is in flight; says who waits for what.
        InputError
            An application said so.
        KeyboardInterrupt
            Before time zero, while the parts are gathered, or a second time: there is no trace.
        """
        with Arena.create(self._plan.nbytes) as arena:
            shared = Shared(arena, self._plan)
            try:
                self._start_all(arena)
                self._await(shared, child.Ready)
                self._go(shared)
                parts = self._collect(shared)
            finally:
                for one in self._children:
                    one.close()
                shared.close()
        return self._merged(parts)

    # -- from start to stop ------------------------------------------------------------------------

    def _start_all(self, arena: Arena) -> None:
        with starting(type(self._cfg).__module__, self._cfg.app.name.partition(":")[0]) as context:
            server = self._plan.server
            names = [f"client {c}" for c in range(server)] + ["the server"]
            self._children = [_Child(context, me, name) for me, name in enumerate(names)]
            for one in self._children:
                others = self._children[:server] if one.me == server else [self._children[server]]
                one.start(context, self._cfg, arena, {other.me: other.bell for other in others})
        for one in self._children:
            one.far_end.close()  # so that the end of the process is the end of the line

    def _go(self, shared: Shared) -> None:
        begin = time.monotonic_ns()
        shared.control[START] = begin
        self._ring_all()
        try:
            self._await(shared, child.Stopped)
        except KeyboardInterrupt:
            self._interrupted = True
            shared.control[STOP] = EARLY
            self._ring_all()
            self._await(shared, child.Stopped, SECONDS_TO_STOP)
        self._seconds = (time.monotonic_ns() - begin) * 1e-9
        self._came_to_its_end = bool(shared.control[STOP] == FINISHED)

    def _collect(self, shared: Shared) -> list[Part]:
        for one in self._children:
            with contextlib.suppress(BrokenPipeError):  # dead: the sentinel says how
                one.line.send(child.Collect())
        self._await(shared, Part)
        return [one.report for one in self._children if isinstance(one.report, Part)]

    def _await(self, shared: Shared, wanted: type, seconds: float | None = None) -> None:
        """Wait until every child has sent its next report, of the type ``wanted``."""
        deadline = None if seconds is None else time.monotonic() + seconds
        still = 0
        missing = {one.line: one for one in self._children if not isinstance(one.report, wanted)}
        while missing:
            sentinels = {one.process.sentinel: one for one in missing.values()}
            ready = connection.wait([*missing, *sentinels], LOOK_EVERY)
            for line in [line for line in missing if line in ready]:
                self._hear(missing.pop(line), shared)
                if wanted is child.Stopped:
                    self._ring_all()  # one has seen the word to stop: the others may be asleep
            for sentinel in ready:
                one = sentinels.get(sentinel)
                if one is not None and one.line in missing and not one.line.poll():
                    self._dead(one, shared)
            if wanted is child.Stopped:
                still = still + 1 if nothing_moves(shared) and not ready else 0
                if still == LOOKS_UNTIL_STUCK:
                    raise Stuck(f"nothing is in flight, and nothing moves any more: {who_waits(shared)}")
                if self._report is not None:
                    self._report(partial(progress, shared))
            if deadline is not None and time.monotonic() > deadline:
                names = ", ".join(one.name for one in missing.values())
                raise RunFailed(f"{names} did not stop within {seconds:g} s")

    def _hear(self, one: _Child, shared: Shared) -> None:
        try:
            one.report = one.line.recv()
        except (EOFError, ConnectionResetError):
            self._dead(one, shared)
        if isinstance(one.report, child.Failed):
            if one.report.users is InputError:
                raise InputError(one.report.what)
            what = one.report.what
            ours = f"{self._named(one, shared)} failed: {what}"
            error = AppError(what) if one.report.users is AppError else RunFailed(ours)
            error.add_note(one.report.details)
            raise error

    def _dead(self, one: _Child, shared: Shared) -> None:
        one.process.join(SECONDS_TO_STOP)
        what = f"{self._named(one, shared)} {_how(one.process.exitcode)}"
        if shared.control[START] == 0 and one.process.exitcode == 1:
            raise RunFailed(
                f"{what} before the run began. Every process imports the main script: it must call pskit.run "
                'under `if __name__ == "__main__":`, and be a file'
            )
        raise RunFailed(f"{what}, so the run cannot go on; {who_waits(shared)}")

    def _named(self, one: _Child, shared: Shared) -> str:
        if one.me == self._plan.server:
            return f"{one.name} (process {one.process.pid})"
        threads = self._cfg.cluster.threads
        workers = range(one.me * threads, (one.me + 1) * threads)
        where = ", ".join(f"worker {w} at clock {clock_of(shared, w)}" for w in workers[:4])
        return f"{one.name} (process {one.process.pid}; {where})"

    def _ring_all(self) -> None:
        for one in self._children:
            ring(one.bell)

    # -- what comes out ----------------------------------------------------------------------------

    def _merged(self, parts: Sequence[Part]) -> tuple[MergedTrace, Outcome, dict[str, Any]]:
        cfg, layout = self._cfg, self._layout
        trace = MergedTrace(layout, cfg.workers, cfg.run.trace, cfg.run.seed, parts)
        server, incs = parts[-1], tables_of(layout)
        for part in parts[:-1]:
            for name, table in incs.items():
                table[part.tables[f"rows:{name}"]] += part.tables[f"incs:{name}"]
        diverged = any(part.diverged for part in parts)
        status = "interrupted" if self._interrupted else "diverged" if diverged else "finished"
        initial, final = (
            {name: server.tables[f"{which}:{name}"] for name in incs} for which in ("initial", "final")
        )
        paces = [part.pace for part in parts]
        events = sum(part.events for part in parts)
        emulated = server.ended if self._came_to_its_end else round(self._seconds * 1e9 / self._scale)
        facts = {
            "fidelity": fidelity(paces, trace.finish()["clocks"], self._scale, self._seconds, _cores()),
            "processes": {
                "start_method": METHOD,
                "number": len(parts),
                "arena_bytes": self._plan.nbytes,
                "peak_bytes": max(part.peak_bytes for part in parts),
                "messages_delayed_by_full_rings": sum(part.delayed for part in parts),
            },
        }
        return trace, Outcome(status, initial, final, incs, emulated, events), facts


def _open_files_allowed() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _how(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-exitcode).name}"
        return f"was killed by signal {-exitcode}"
    return f"ended with exit code {exitcode}"

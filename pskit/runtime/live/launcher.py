"""Starts the processes of a live run, watches over them, and gathers what they took down.

Children are started by a fork server (else spawned) that has imported and compiled everything. When all are
ready, time zero is set. The death of any of them is noticed at once, by its sentinel. It ends the run, unless
`run.on_death` lets the others go on without a client. Whatever happens, `LiveRun.run` returns with no process
and no memory left.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from pskit.core.layout import Layout
from pskit.emulation.compute import MEASURED
from pskit.errors import AppError, InputError, RunFailed
from pskit.runtime.base import Outcome, Report, Stuck
from pskit.runtime.children import METHOD
from pskit.runtime.gate import facts_of
from pskit.runtime.live import child
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.bells import ring
from pskit.runtime.live.fidelity import fidelity
from pskit.runtime.live.limits import check_limits
from pskit.runtime.live.parts import MergedTrace, Part
from pskit.runtime.live.plan import EARLY, FINISHED, RUNNING, START, STOP, Plan, Shared
from pskit.runtime.live.publishing import open_arena
from pskit.runtime.live.starting import starting
from pskit.runtime.live.status import Watchdog, clock_of, mark_dead, nothing_moves, progress, who_waits
from pskit.runtime.live.timebase import Timebase, scale_of
from pskit.trace.schema import DEATH

if TYPE_CHECKING:
    from pskit.config import Config

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
        self.death = ""  # how it died, if the run goes on all the same
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
        check_limits(cfg.cluster.clients)
        self._cfg, self._layout, self._report = cfg, layout, report
        self._plan = Plan(cfg, layout)
        self._scale = scale_of(cfg)
        self._children: list[_Child] = []
        self._began, self._seconds = 0, 0.0
        self._time = Timebase(0, self._scale)
        self._faults: list[tuple[int, str, int, int, str, int, str]] = []
        self._interrupted = self._came_to_its_end = False

    def run(self) -> tuple[MergedTrace, Outcome, dict[str, Any]]:
        """Run to the end.

        Returns
        -------
        trace : MergedTrace
        outcome : Outcome
        facts : dict
            For the manifest: ``fidelity``, ``processes``, and ``deaths`` if there were any.

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
        with open_arena(self._cfg, self._layout, self._plan) as arena:
            shared = Shared(arena, self._plan)
            try:
                self._start_all(arena)
                self._await(shared, child.Ready)
                self._go(shared)
                parts = self._collect(shared)
            finally:
                self._end_all(shared)
                shared.close()
        return self._merged(parts)

    # -- from start to stop ------------------------------------------------------------------------

    def _start_all(self, arena: Arena, here: int | None = None) -> None:
        """Start all processes but number ``here``, which is this one."""
        with starting(type(self._cfg).__module__, self._cfg.app.name.partition(":")[0]) as context:
            server = self._plan.server
            names = [f"client {c}" for c in range(server)] + ["the server"]
            self._children = [_Child(context, me, name) for me, name in enumerate(names)]
            for one in [one for one in self._children if one.me != here]:
                others = self._children[:server] if one.me == server else [self._children[server]]
                try:
                    one.start(context, self._cfg, arena, {other.me: other.bell for other in others})
                except (EOFError, OSError) as error:
                    raise RunFailed(
                        f"{one.name} could not be started: the fork server has ended, what it said stands "
                        "above. If the system has no room for more processes, raise the limit (ulimit -u, or "
                        "that of the container), or give fewer clients more threads"
                    ) from error
        for one in self._children:
            one.far_end.close()  # so that the end of the process is the end of the line

    def _alive(self) -> list[_Child]:
        return [one for one in self._children if not one.death]

    def _go(self, shared: Shared) -> None:
        self._set_off(shared)
        try:
            self._await(shared, child.Stopped)
        except KeyboardInterrupt:
            self._interrupted = True
            shared.control[STOP] = EARLY
            self._ring_all()
            self._await(shared, child.Stopped, seconds=SECONDS_TO_STOP)
        self._note_the_end(shared)

    def _set_off(self, shared: Shared) -> None:
        """Now is time zero."""
        self._began = time.monotonic_ns()
        self._time = Timebase(self._began, self._scale)
        shared.control[START] = self._began
        self._ring_all()

    def _end_all(self, shared: Shared) -> None:
        """End all processes, wherever they are; a viewer sees that this is the end, and no accident."""
        if shared.control[STOP] == RUNNING:
            shared.control[STOP] = EARLY
        for one in self._children:
            one.close()

    def _note_the_end(self, shared: Shared) -> None:
        """All have stopped."""
        self._seconds = (time.monotonic_ns() - self._began) * 1e-9
        self._came_to_its_end = bool(shared.control[STOP] == FINISHED)

    def _collect(self, shared: Shared) -> list[Part]:
        """Ask for the parts; the server's last, since it has to know which clients have died."""
        server = self._children[self._plan.server]
        for group in ([one for one in self._alive() if one is not server], [server]):
            lost = tuple(one.me for one in self._children if one.death)
            for one in group:
                with contextlib.suppress(BrokenPipeError):  # dead: the sentinel says how
                    one.line.send(child.Collect(lost))
            self._await(shared, Part, group)
        return [one.report for one in self._alive() if isinstance(one.report, Part)]

    def _await(
        self,
        shared: Shared,
        wanted: type,
        of: Sequence[_Child] | None = None,
        seconds: float | None = None,
    ) -> None:
        """Wait until every child, or every one ``of`` some, has sent its next report, a ``wanted``."""
        deadline = None if seconds is None else time.monotonic() + seconds
        still, watchdog = 0, Watchdog(shared, [one.process.pid for one in self._children])
        of = self._alive() if of is None else of
        missing = {one.line: one for one in of if not isinstance(one.report, wanted)}
        while missing:
            sentinels = {one.process.sentinel: one for one in missing.values()}
            ready = connection.wait([*missing, *sentinels], LOOK_EVERY)
            for line in [line for line in missing if line in ready]:
                one = missing.pop(line)
                self._hear(one, shared)
                if wanted is child.Stopped:
                    self._ring_all()  # one has seen the word to stop: the others may be asleep
            for sentinel in ready:
                found = sentinels.get(sentinel)
                if found is not None and found.line in missing and not found.line.poll():
                    self._dead(found, shared)
                    del missing[found.line]
            if wanted is child.Stopped:
                still = still + 1 if nothing_moves(shared) and not ready else 0
                if still == LOOKS_UNTIL_STUCK:
                    raise Stuck(f"nothing is in flight, and nothing moves any more: {who_waits(shared)}")
                warning = watchdog.look(time.monotonic(), self._time.now())
                if warning is not None:
                    print(f"pskit: {warning}", file=sys.stderr, flush=True)
                if self._report is not None:
                    self._report(partial(progress, shared))
            if deadline is not None and time.monotonic() > deadline:
                names = ", ".join(one.name for one in missing.values())
                raise RunFailed(f"{names} did not stop within {seconds:g} s")

    def _hear(self, one: _Child, shared: Shared) -> None:
        try:
            one.report = one.line.recv()
        except (EOFError, OSError):  # nothing more, or only a part of a report
            self._dead(one, shared)
            return
        if isinstance(one.report, child.Failed):
            if one.report.users is InputError:
                raise InputError(one.report.what)
            what = one.report.what
            ours = f"{self._named(one, shared)} failed: {what}"
            error = AppError(what) if one.report.users is AppError else RunFailed(ours)
            error.add_note(one.report.details)
            raise error

    def _dead(self, one: _Child, shared: Shared) -> None:
        """A process has died: end the run, or let it go on without that client."""
        one.process.join(SECONDS_TO_STOP)
        what = f"{self._named(one, shared)} {_how(one.process.exitcode)}"
        began = shared.control[START] != 0
        if began and self._cfg.run.on_death == "continue" and one.me != self._plan.server:
            self._go_on_without(one, what, shared)
            return
        if shared.control[START] == 0 and one.process.exitcode == 1:
            raise RunFailed(
                f"{what} before the run began. Every process imports the main script: it must call pskit.run "
                'under `if __name__ == "__main__":`, and be a file'
            )
        raise RunFailed(f"{what}, so the run cannot go on; {who_waits(shared)}")

    def _go_on_without(self, one: _Child, what: str, shared: Shared) -> None:
        at_work = mark_dead(shared, one.me)
        one.death = (
            f"{what}; the run went on without it, as run.on_death asks. What it had not sent is lost, and so "
            "is what it took down itself: its reads, waiting times and the arrival of messages there"
        )
        if len(self._alive()) == 1:
            raise RunFailed(f"{what}, and so had all other clients")
        clock = min((clock for _, clock in at_work), default=clock_of(shared, self._workers(one)[0]))
        self._faults.append((self._time.now(), DEATH, self._workers(one)[0], clock, "", -1, one.death))
        ring(self._children[self._plan.server].bell)

    def _workers(self, one: _Child) -> range:
        threads = self._cfg.cluster.threads
        return range(one.me * threads, (one.me + 1) * threads)

    def _named(self, one: _Child, shared: Shared) -> str:
        if one.me == self._plan.server:
            return f"{one.name} (process {one.process.pid})"
        where = ", ".join(f"worker {w} at clock {clock_of(shared, w)}" for w in self._workers(one)[:4])
        return f"{one.name} (process {one.process.pid}; {where})"

    def _ring_all(self) -> None:
        for one in self._children:
            ring(one.bell)

    # -- what comes out ----------------------------------------------------------------------------

    def _merged(self, parts: Sequence[Part]) -> tuple[MergedTrace, Outcome, dict[str, Any]]:
        cfg, layout = self._cfg, self._layout
        trace = MergedTrace(layout, cfg.workers, cfg.run.trace, cfg.run.seed, parts, faults=self._faults)
        server = parts[-1]
        incs = {table.name: server.tables[f"incs:{table.name}"] for table in layout.tables}
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
        facts: dict[str, Any] = {
            "fidelity": fidelity(
                paces,
                trace.finish()["clocks"],
                self._scale,
                self._seconds,
                _cores(),
                cfg.compute.model == MEASURED,
            ),
            "processes": {
                "start_method": METHOD,
                "number": len(parts),
                "arena_bytes": self._plan.committed,
                "peak_bytes": max(part.peak_bytes for part in parts),
            },
            "full_rings": {
                "messages_delayed": sum(part.flow.delayed for part in parts),
                "client_pauses": sum(part.flow.pauses for part in parts),
                "pushes_put_off": server.flow.put_off,
                "pushes_in_their_place": server.flow.caught_up,
            },
        }
        gates = [part.gate for part in parts if part.gate is not None]
        if gates:
            facts |= facts_of(gates)
        deaths = [
            {"client": one.me, "workers": list(self._workers(one)), "how": one.death}
            for one in self._children
            if one.death
        ]
        if deaths:
            facts["deaths"] = deaths
        return trace, Outcome(status, initial, final, incs, emulated, events), facts


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _how(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-exitcode).name}"
        return f"was killed by signal {-exitcode}"
    return f"ended with exit code {exitcode}"

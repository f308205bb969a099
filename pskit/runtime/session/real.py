"""A session in real time: a live run, one of whose clients lives in this process.

That client takes in its messages while a call waits, and before each. In between they lie in its ring, and
the server keeps what finds no room there as it does for any client that is slow.
"""

import os
import time
from collections.abc import Coroutine, Sequence
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from pskit.core.layout import Layout
from pskit.errors import Blocked, InputError, RunFailed
from pskit.runtime.base import Execution
from pskit.runtime.guard import Guarded
from pskit.runtime.interrupts import BrokenOff, between_events
from pskit.runtime.live import child
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.bells import AWAKE
from pskit.runtime.live.client import ClientProcess
from pskit.runtime.live.launcher import SECONDS_TO_STOP, LiveRun
from pskit.runtime.live.plan import CLOCK, EARLY, RUNNING, SLEEP, STOP, Shared
from pskit.runtime.live.publishing import open_arena
from pskit.runtime.live.status import nothing_moves, who_waits
from pskit.runtime.live.timebase import NEVER
from pskit.runtime.live.warmup import rehearse
from pskit.runtime.session.puppets import SECOND, Hosted, Puppet

if TYPE_CHECKING:
    from pskit.config import Config

LOOK_EVERY = 0.2
LONGEST_NAP = 0.01
LOOKS_UNTIL_BLOCKED = 3
"""Looks in a row at which nothing moves until a call counts as one that never returns."""


class Here(ClientProcess):
    """The client whose workers are in the user's hands; see `LiveProcess` for the parameters."""

    def __init__(
        self,
        me: int,
        cfg: "Config",
        arena: Arena,
        own_bell: Connection,
        bells: dict[int, Connection],
        app: Hosted,
    ) -> None:
        self.hosted = app
        super().__init__(me, cfg, arena, own_bell, bells)

    def application(self) -> Guarded:
        return Guarded(self.hosted, self.cfg.app.name)

    def resume(self, worker: int) -> None:
        """Take in what is visible, then let ``worker`` go on."""
        self.take_in()
        self._stand_at(self._next_moment())
        self._go_on(worker, self.drivers[worker].resume)

    def take_in(self) -> None:
        """Do all that is due."""
        while self._something_is_due():
            self._step()

    def step(self) -> None:
        """Do what is due, or sleep for a while."""
        self._step()

    def give_up(self, worker: int) -> None:
        """``worker`` no longer waits for what it waits for."""
        self.drivers[worker].give_up()
        self._waiting_since.pop(worker, None)
        self._go_on(worker, lambda: None)

    def is_stuck(self) -> bool:
        """Whether nothing moves, now that this process waits, too."""
        self._words[SLEEP] = NEVER
        stuck = nothing_moves(self.shared)
        self._words[SLEEP] = AWAKE
        return stuck

    def _something_is_due(self) -> bool:
        self.transport.poll()
        now = self.time.now()
        return any(heap and heap[0][0] <= now for heap in (self.mail.heap, self.agenda.heap))


class _ThisProcess:
    """Where a launcher expects a process of its own."""

    pid = os.getpid()

    def is_alive(self) -> bool:
        return False

    def join(self, timeout: float | None = None) -> None:
        pass

    def close(self) -> None:
        pass


class RealCluster(LiveRun):
    """The cluster of a session in real time.

    Parameters
    ----------
    cfg : Config
    app : Hosted
    layout : Layout
    hands : sequence of int
        Workers in the user's hands.

    Raises
    ------
    InputError
        When these workers are not all of one client, whose process is this one.
    """

    def __init__(self, cfg: "Config", app: Hosted, layout: Layout, hands: Sequence[int]) -> None:
        super().__init__(cfg, layout)
        clients = {worker // cfg.cluster.threads for worker in hands}
        if len(clients) > 1:
            raise InputError(
                f"the workers {list(hands)} are on {len(clients)} clients: in real time all workers of a "
                "session have to be on one, whose process is yours; set cluster.threads, or use "
                'run.runtime = "sim"'
            )
        (self._me,) = clients
        self._app, self._looked, self._still = app, 0.0, 0
        self._arena = open_arena(cfg, layout, self._plan)
        self._shared = Shared(self._arena, self._plan)
        try:
            self._open(app)
        except BaseException:  # Ctrl-C, too, must leave neither process nor memory
            self.close()
            raise

    def _open(self, app: Hosted) -> None:
        self._start_all(self._arena, here=self._me)
        mine, server = self._children[self._me], self._children[self._plan.server]
        mine.process = _ThisProcess()
        self._here = Here(self._me, self._cfg, self._arena, mine.heard, {self._plan.server: server.bell}, app)
        ps = self._cfg.ps
        rehearse(ps.policy, ps.push, [t.dtype for t in self._layout.tables], ps.cache_rows)
        self._await(self._shared, child.Ready, self._others())
        self._set_off(self._shared)
        self._here.start()

    def _others(self) -> list[Any]:
        return [one for one in self._alive() if one.me != self._me]

    def puppet(self, worker: int) -> Puppet:
        """The `Puppet` of ``worker``."""
        return self._app.puppets[worker]

    @property
    def now(self) -> int:
        """Emulated time, ns."""
        return self._here.time.now()

    def clocks(self) -> list[int]:
        """Finished clocks of every worker."""
        clocks: list[int] = self._shared.workers[:, CLOCK].tolist()
        return clocks

    def call(self, worker: int, call: Coroutine[Any, Any, Any]) -> Any:
        """See `VirtualCluster.call`.

        Raises
        ------
        Blocked
        KeyboardInterrupt
        RunFailed
            When another process died, or the run came to its end.
        """
        puppet = self._app.puppets[worker]
        puppet.take(call)
        self._still = 0
        try:
            with between_events(SECOND) as interrupted:
                self._check()
                self._here.resume(worker)
                while puppet.busy and not interrupted:
                    self._here.step()
                    self._look(worker)
            if interrupted:
                raise KeyboardInterrupt
        except BrokenOff:
            raise
        except BaseException:
            if puppet.busy:
                puppet.drop()
                self._here.give_up(worker)
            raise
        self._here.flush()
        return puppet.answer()

    def sleep(self, duration: int) -> None:
        """Let ``duration`` ns of emulated time go by."""
        end = self.now + duration
        with between_events(SECOND) as interrupted:
            while self.now < end and not interrupted:
                self._here.take_in()
                self._check()
                time.sleep(max(0.0, min(self._here.time.seconds_until(end), LONGEST_NAP)))
        if interrupted:
            raise KeyboardInterrupt

    def leave(self, worker: int) -> None:
        """The work of ``worker`` is done."""
        self._app.puppets[worker].leave()
        self._here.resume(worker)

    def finish(self, to_the_end: bool) -> Execution:
        """See `VirtualCluster.finish`; the other processes stop."""
        control = self._shared.control
        deadline = time.monotonic() + SECONDS_TO_STOP
        while to_the_end and control[STOP] == RUNNING and time.monotonic() < deadline:
            self._here.step()
            self._check()
        if control[STOP] == RUNNING:
            control[STOP] = EARLY
        self._ring_all()
        self._await(self._shared, child.Stopped, self._others(), seconds=SECONDS_TO_STOP)
        self._note_the_end(self._shared)
        self._interrupted = not self._came_to_its_end
        self._children[self._me].report = self._here.part(())
        return Execution(*self._merged(self._collect(self._shared)))

    def close(self) -> None:
        """End all processes, and give the memory up."""
        self._end_all(self._shared)
        if hasattr(self, "_here"):
            self._here.close()
            self._here.shared.close()
        self._shared.close()
        self._arena.close()

    # -- what may have gone wrong ------------------------------------------------------------------

    def _look(self, worker: int) -> None:
        """Now and then: are all alive, and can this call ever return."""
        now = time.monotonic()
        if now - self._looked < LOOK_EVERY:
            return
        self._looked = now
        self._check()
        self._still = self._still + 1 if self._here.is_stuck() else 0
        if self._still == LOOKS_UNTIL_BLOCKED:
            mine = ", ".join(
                f"worker {w} is at clock {self._here.drivers[w].clock}"
                for w in self._app.puppets
                if w != worker
            )
            hands = f". In your hands {mine}" if mine else ""
            raise Blocked(
                f"this GET would never return: nothing moves any more, {who_waits(self._shared)}{hands}"
            )

    def _check(self) -> None:
        for one in self._others():
            if one.line.poll():
                self._hear(one, self._shared)
        sentinels = {one.process.sentinel: one for one in self._others()}
        for sentinel in connection.wait(list(sentinels), 0):
            self._dead(sentinels[sentinel], self._shared)
        if self._shared.control[STOP] == EARLY:
            raise RunFailed("the run has come to its end: it diverged, or an update was not finite")

"""The loop of a process: takes in what has become visible, acts at its deadlines, sleeps in between.

Everything happens at a *moment*: a time read from the clock, that stands still while one event is handled.
No two events of a process share one.
All messages visible at a moment are taken in before a worker goes on at that moment. Messages sent carry the
moment as their time of sending, so what handling takes shows up as lateness of what follows, never as a
message that is visible early.
"""

import time
from abc import ABC, abstractmethod
from array import array
from collections.abc import Collection
from heapq import heappop
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import numpy as np

from pskit.apps import make_app
from pskit.core.channel import Ack, Segment
from pskit.core.layout import RowIds
from pskit.core.messages import Message, Push, Reply, Slots
from pskit.core.rows import RowPools
from pskit.emulation.network import Network
from pskit.runtime.base import Tables
from pskit.runtime.events import DELIVER, EventQueue, seldom_collecting
from pskit.runtime.guard import Guarded
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.bells import AWAKE, Bell
from pskit.runtime.live.cards import SharedCards
from pskit.runtime.live.moments import Moments
from pskit.runtime.live.parts import Flow, Pace, Part
from pskit.runtime.live.plan import CONSUMED, DUE, LINE, RUNNING, SENT, SLEEP, START, STOP, Plan, Shared
from pskit.runtime.live.timebase import NEVER, Timebase, scale_of
from pskit.runtime.live.transport import LiveTransport
from pskit.runtime.memory import peak_bytes
from pskit.runtime.recording import attach_logs
from pskit.trace.recorder import READ_CAP, Recorder

if TYPE_CHECKING:
    from pskit.config import Config

FLUSH_EVERY = 64
"""Events between two looks for room, of a process that never rests."""
SPIN_SECONDS = 100e-6
"""The last part of a sleep is spent looking at the clock: sleep is up to this much late."""
EARLY_SECONDS = 2e-3
"""Before a deadline a process first wakes this much earlier, to take in what came while it slept: copying the
rows of a push takes part of a millisecond, and would make what is due late."""
LONGEST_SLEEP = 0.5
SLEEP_WITH_BACKLOG = 0.5e-3
"""Seconds, between two tries to put what waits into a full ring."""


class LiveProcess(ABC):
    """What client and server processes have in common.

    Parameters
    ----------
    me : int
        Number of the process.
    cfg : Config
    arena : Arena
    own_bell : Connection
    bells : dict of int to Connection
        Of the processes that it sends to.
    """

    def __init__(
        self, me: int, cfg: "Config", arena: Arena, own_bell: Connection, bells: dict[int, Connection]
    ) -> None:
        self.me, self.cfg = me, cfg
        self.app = self.application()
        self.layout = self.app.layout(cfg)
        plan = Plan(cfg, self.layout)
        self.shared = Shared(arena, plan)
        self.n_clients = plan.clients
        self.mail, self.agenda = EventQueue(), EventQueue()
        self.tables_in_arena = self.shared.tables(self.layout)
        self.pools = RowPools(self.layout, self.tables_in_arena.rooms(me))
        self.bell = Bell(me, self.shared.processes, own_bell, bells)
        self._words = self.shared.processes[me * LINE : (me + 1) * LINE]
        self.recorder = Recorder(
            self.layout, cfg.workers, cfg.run.trace, cfg.run.seed, read_cap=max(1, READ_CAP // plan.clients)
        )
        attach_logs(self.recorder, cfg, self.app, self.layout)
        network = Network(cfg, cfg.run.seed, SharedCards(self.shared.cards))
        self.transport = LiveTransport(
            me, self.shared, self.bell, network, self.mail, self.pools, cfg.network.retransmit
        )
        self.time = Timebase(0, scale_of(cfg))
        self.moments = Moments() if cfg.run.record else None
        self.diverged = False
        self._lateness, self._overshoot = array("q"), array("q")
        self._handled = 0
        self._cpu_seconds = 0.0

    # -- what the two kinds of process do differently ----------------------------------------------

    def application(self) -> Guarded:
        """A fresh application; every process has its own."""
        return Guarded(make_app(self.cfg.app.name), self.cfg.app.name)

    def begin(self) -> None:  # noqa: B027  (a hook, not a duty)
        """Time zero has come."""

    @abstractmethod
    def receive(self, dst: int, src: int, message: Message) -> None:
        """Take in a message that has become visible."""

    @abstractmethod
    def act(self, who: int, payload: Any) -> None:
        """Something on the agenda is due."""

    @abstractmethod
    def ready_since(self) -> int:
        """Since when, or from when on, messages are awaited."""

    def flush(self) -> bool:
        """Send what waits for room in a ring; True when nothing does any more."""
        return self.transport.flush()

    def overran(self) -> int:
        """Clocks whose real work took longer than its modelled time."""
        return 0

    @abstractmethod
    def roots(self) -> list[tuple[RowIds, Slots]]:
        """Rows and slots that the machines of this process refer to."""

    @abstractmethod
    def tables(self, lost: Collection[int]) -> Tables:
        """What goes into `Part.tables` where the clients ``lost`` have died."""

    def flow(self) -> Flow:
        """What goes into `Part.flow`."""
        return Flow(self.transport.delayed, self.transport.pauses)

    def ended(self) -> int:
        """What goes into `Part.ended`."""
        return 0

    # -- the loop ----------------------------------------------------------------------------------

    def run(self) -> None:
        """Wait for time zero, then go on until somebody says stop."""
        control = self.shared.control
        while control[START] == 0:
            if control[STOP] != RUNNING:
                return
            self.bell.sleep(LONGEST_SLEEP)
        cpu = time.process_time()
        with seldom_collecting():
            self.start()
            while control[STOP] == RUNNING:
                self._step()
        self._cpu_seconds = time.process_time() - cpu

    def start(self) -> None:
        """Time zero has come, and is known: begin."""
        self.time = Timebase(int(self.shared.control[START]), self.time.scale)
        self._stand_at(self._next_moment())
        if self.moments is not None:
            self.moments.began(self.mail.now, self.me)
        self.begin()

    def _step(self) -> None:
        transport, mail, agenda = self.transport, self.mail.heap, self.agenda.heap
        transport.poll()
        now = self._next_moment()
        if mail and mail[0][0] <= now:
            self._stand_at(now)
            self._open(heappop(mail), now)
        elif agenda and agenda[0][0] <= now:
            self._stand_at(now)
            due, _, who, _, _, payload, _ = heappop(agenda)
            self._overshoot.append(now - due)
            if self.moments is not None:
                self.moments.computed(now, who, due, payload[0])
            self.act(who, payload)
        else:
            self._rest()
            return
        self._handled += 1
        if self._handled % FLUSH_EVERY == 0:
            self.flush()
        if self.pools.crowded:  # at once: what a pool grows by is fresh memory, and cold
            self._collect()

    def _next_moment(self) -> int:
        """The time now, later than that of the event before."""
        now = self.time.now()
        while now <= self.mail.now:
            now = self.time.now()
        return now

    def _stand_at(self, now: int) -> None:
        self.mail.now = self.agenda.now = now

    def _open(self, event: Any, now: int) -> None:
        visible_at, kind, dst, src, _, packet = event[:6]
        if kind != DELIVER:
            if self.moments is not None:
                self.moments.timer(now, dst, src, visible_at, packet)
            self.transport.timer(dst, src, packet)
            return
        self._lateness.append(max(0, now - max(visible_at, self.ready_since())))
        self.transport.delivered(event, now)
        if type(packet) is Segment or type(packet) is Ack:
            for message in self.transport.arrive(dst, src, packet):
                self.receive(dst, src, message)
        else:
            self.receive(dst, src, packet)

    def _rest(self) -> None:
        """Sleep until the next deadline, or until a message comes that is visible before that."""
        until = self.agenda.heap[0][0] if self.agenda.heap else NEVER
        awaiting = self.ready_since() < until or self.transport.has_channels
        if awaiting and self.mail.heap:
            until = min(until, self.mail.heap[0][0])
        clear = self.flush()
        self._words[DUE] = until = min(until, NEVER)
        self._words[SENT], self._words[CONSUMED] = self.transport.posted, len(self._lateness)
        if self.time.seconds_until(until) <= SPIN_SECONDS:
            return
        self.bell.fall_asleep(until if awaiting else AWAKE)
        if self.transport.poll() or self.shared.control[STOP] != RUNNING:
            self._words[SLEEP] = self._words[DUE] = AWAKE
            return
        longest = LONGEST_SLEEP if clear else SLEEP_WITH_BACKLOG
        left = self.time.seconds_until(until)
        left -= EARLY_SECONDS if left > 2 * EARLY_SECONDS else SPIN_SECONDS
        self.bell.sleep(max(0.0, min(left, longest)))
        self._words[DUE] = AWAKE

    def _collect(self) -> None:
        roots = self.roots()
        roots += [(m.rows, m.slots) for m in self.transport.in_flight() if isinstance(m, Reply | Push)]
        self.pools.collect(roots)

    # -- the end -----------------------------------------------------------------------------------

    def stop_all(self, why: int) -> None:
        """Tell every process to stop."""
        control = self.shared.control
        if control[STOP] == RUNNING:
            control[STOP] = why

    def part(self, lost: Collection[int]) -> Part:
        """What this process took down; all have stopped, or died as those of the clients ``lost``."""
        self.transport.log_what_is_left(self.time.now())
        pace = Pace(
            np.array(self._lateness, np.int64),
            np.array(self._overshoot, np.int64),
            self.overran(),
            self._cpu_seconds,
        )
        columns = self.recorder.finish()
        if self.moments is not None:
            self.moments.ended(self.mail.now, self.me, self.agenda)
            columns |= {"moments": self.moments.table()}
        return Part(
            columns, self.recorder.sampling, self.recorder.schedule_hash, self.transport.log(),
            self.diverged, pace, self._handled, self.flow(), peak_bytes(), self.tables(lost), self.ended(),
        )  # fmt: skip

    def close(self) -> None:  # noqa: B027  (a hook, not a duty)
        """Give up what still runs."""

"""The gate of a run: the arbiter, who waits for it, what it costs, and what is taken down of it.

The enforcement is exact because it is by global knowledge: the arbiter knows at once of every INC, of every
push that was taken in and of every computation that is over. A real network would have to carry that
knowledge. What it would take is counted, as messages to and from an arbiter on a machine of its own:

========== =========================================================================================
asked      a worker with all its rows in the cache asks to start; the arbiter keeps the question
granted    the answer: the number t
announced  an INC, with its values: the arbiter adds them up
applied    a shard says which number an INC got, and whose copies lack it
seen       a client took in a push: which version of which shard it has
over       a computation is over, its reservation is free
========== =========================================================================================

Each has a header and the numbers that it needs, eight bytes each; an announcement has the rows and values of
the INC, as an oplog has. None of them travels in the emulated network, and none takes time there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.core.arbiter import Arbiter, Bound, Start
from pskit.core.gated import GatedClient
from pskit.core.layout import Layout
from pskit.core.messages import (
    CLOCK_BYTES,
    HEADER_BYTES,
    ROW_ID_BYTES,
    Applied,
    Effect,
    Ended,
    Increment,
    Knock,
    Message,
    Push,
    Read,
    ToShard,
)
from pskit.core.server import ServerShard
from pskit.runtime.base import members_of
from pskit.runtime.guard import Guarded
from pskit.runtime.workers import Driver
from pskit.trace.starts import StartLog

if TYPE_CHECKING:
    from pskit.config import Config

TRAFFIC = ("asked", "granted", "announced", "applied", "seen", "over")
Cost = tuple[dict[str, list[int]], bool]
"""Messages and bytes by kind, and whether an L_inf is known and reserved, so that Theorem 1 applies."""


class Waiting(NamedTuple):
    """A worker at the gate, and since when (ns)."""

    client: GatedClient
    since: int


def bound_of(app: Guarded, cfg: "Config") -> Bound | None:
    """What a computation of ``app`` has to reserve; None: no L_inf is known.

    Raises
    ------
    InputError, AppError
        When what the application says is no such number.
    """
    lipschitz = app.lipschitz_inf(cfg)
    if lipschitz is None:
        return None
    return lambda worker, clock, start: lipschitz * app.step_at(cfg, worker, clock, start)


class Gate:
    """The gate, as one process sees it.

    Parameters
    ----------
    arbiter : Arbiter
    log : StartLog
    lock : callable
        Gives a context in which the arbiter is asked or told; for processes that share it.

    Attributes
    ----------
    waiting : dict of int to Waiting
        Workers of this process at the gate, in the order of their coming.
    traffic : dict of str to [messages, bytes]
    """

    def __init__(
        self, arbiter: Arbiter, log: StartLog, lock: Callable[[], AbstractContextManager[Any]] = nullcontext
    ) -> None:
        self.arbiter, self.log = arbiter, log
        self._lock = lock
        self.waiting: dict[int, Waiting] = {}
        self.traffic: dict[str, list[int]] = {kind: [0, 0] for kind in TRAFFIC}
        self._due: dict[int, None] = {}
        self._opening = False

    @property
    def cost(self) -> Cost:
        """What the enforcement in this process would cost."""
        return self.traffic, self.arbiter.bound is not None

    # -- what the machines did -----------------------------------------------------------------------

    def made(self, effects: Sequence[Effect], layout: Layout) -> None:
        """An INC leaves: ``effects`` send its parts to the shards."""
        with self._lock():
            for effect in effects:
                if isinstance(effect, ToShard) and isinstance(effect.message, Increment):
                    worker, _, seq, (part,), *_ = effect.message
                    self.arbiter.transit.made(worker, seq, effect.shard, part.rows, part.delta)
                    size = len(part.rows) * (ROW_ID_BYTES + layout.row_bytes[part.table])
                    self._count("announced", size)

    def applied(self, shard: ServerShard, applied: Applied) -> None:
        """``shard`` applied an INC, and has pushed it, or will."""
        oplog = applied.oplog
        rows = oplog.parts[0].rows // shard.layout.shards
        clients: npt.NDArray[np.bool_] = np.asarray(shard.subscribed[:, rows].any(axis=1))
        with self._lock():
            self.arbiter.transit.applied(oplog.worker, oplog.seq, shard.shard, applied.apply_index, clients)
        self._count("applied", 3 * CLOCK_BYTES + (len(clients) + 7) // 8)

    def seen(self, client: int, shard: int, message: Message) -> None:
        """``client`` took in ``message`` of ``shard``."""
        if isinstance(message, Push):
            with self._lock():
                self.arbiter.transit.seen(client, shard, message.version)
            self._count("seen", 2 * CLOCK_BYTES)

    def follow(self, client: GatedClient, effects: Sequence[Effect], now: int) -> bool:
        """Take in who knocks, and who is done; whether somebody is done, so that others may be let in."""
        ended = False
        for effect in effects:
            if type(effect) is Knock:
                if effect.worker not in self.waiting:
                    self.waiting[effect.worker] = Waiting(client, now)
                    self._count("asked", CLOCK_BYTES)
                self._due[effect.worker] = None
            elif type(effect) is Ended:
                with self._lock():
                    self.arbiter.over(effect.worker)
                self.log.over(effect.worker, now)
                self._count("over", CLOCK_BYTES)
                ended = True
        if ended:
            self.look_again()
        return ended

    def look_again(self) -> None:
        """Somebody may be let in, whoever it is."""
        self._due = dict.fromkeys(self.waiting)

    # -- who may go on -------------------------------------------------------------------------------

    def let_in(
        self,
        drivers: Mapping[int, Driver] | Sequence[Driver],
        now: int,
        read_done: Callable[[Read], None],
    ) -> bool:
        """Let in who may start, one after the other, in the order of their coming; whether anybody may.

        Those who may because of what these do then, are let in by the same loop.

        Parameters
        ----------
        drivers : mapping of int, or sequence
            By worker.
        now : int, ns
        read_done : callable
            Lets a worker go on with what it reads.
        """
        if self._opening:
            return False
        self._opening, entered = True, False
        for waiting, start, read in self._entering():
            entered = True
            driver = drivers[read.worker]
            self.log.start(
                start.t, now, read.worker, read.clock, read.own_upto - 1, now - driver.asked_at,
                now - waiting.since, start[1:], read.rows, read.views,
            )  # fmt: skip
            driver.number(start.t)
            read_done(read)
        self._opening = False
        return entered

    def _entering(self) -> Iterator[tuple[Waiting, Start, Read]]:
        """Who may start, each with what it reads; goes on before the next one is asked for."""
        while self._due:
            worker = next(iter(self._due))
            del self._due[worker]
            waiting = self.waiting[worker]
            with self._lock():
                if self.arbiter.closed:
                    self._due.clear()  # only the end of a computation changes that
                    return
                state = waiting.client.workers[worker]
                start = self.arbiter.ask(worker, state.clock, waiting.client.gate[worker].rows)
                if start is None:
                    continue
                (read,) = waiting.client.start(worker)  # under the lock: nothing is seen in between
            del self.waiting[worker]
            self._count("granted", CLOCK_BYTES)
            assert isinstance(read, Read)
            yield waiting, start, read

    def _count(self, kind: str, payload: int) -> None:
        count = self.traffic[kind]
        count[0] += 1
        count[1] += HEADER_BYTES + payload


def facts_of(costs: Sequence[Cost]) -> dict[str, Any]:
    """For the manifest: what the enforcement would cost, added up over processes."""
    total = {kind: np.sum([traffic[kind] for traffic, _ in costs], axis=0).tolist() for kind in TRAFFIC}
    messages, nbytes = np.sum(list(total.values()), axis=0).tolist()
    return {
        "gate": {
            "reserves": costs[0][1],
            "messages": messages,
            "bytes": nbytes,
            "by_kind": {kind: {"messages": m, "bytes": b} for kind, (m, b) in total.items()},
        }
    }


def make_arbiter(cfg: "Config", app: Guarded, layout: Layout, state: Any = None) -> Arbiter:
    """The arbiter that the section [ps] asks for."""
    ps = cfg.ps
    rule: tuple[Any, ...] = (ps.v0, ps.vap_variant, ps.v_schedule, bound_of(app, cfg), state)
    return Arbiter(layout, members_of(cfg), *rule)

"""The process of a client: hosts its workers, as coroutines that share its cache.

One thread is enough. Compute times are modelled, so the kernels of several workers may run one after the
other as long as each is over before its modelled end; and the shared cache then needs no lock. Kernels that
do not fit show up as overshoot, in the fidelity of the run.

What becomes visible while no worker waits is taken in when the next one needs it: before its GET or CLOCK.
The process sleeps until then.
"""

from collections.abc import Callable, Collection
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pskit.apps.base import Worker
from pskit.core.client import Client, NonFiniteUpdate
from pskit.core.gated import GatedClient
from pskit.core.layout import RowIds
from pskit.core.messages import Effect, Message, Read, Slots, ToShard, ToShards, Values
from pskit.core.policies import make_policy
from pskit.emulation.compute import MEASURED, ComputeModel
from pskit.emulation.streams import Stream
from pskit.runtime.base import Tables, members_of
from pskit.runtime.evaluation import add_to, tables_of
from pskit.runtime.events import EventQueue
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.measured import MeasuredDriver
from pskit.runtime.live.plan import CLOCK, COMPUTING, EARLY, LEFT, NEED, WAITING_ROWS
from pskit.runtime.live.process import LiveProcess
from pskit.runtime.live.tables import move_on
from pskit.runtime.live.timebase import NEVER
from pskit.runtime.live.warmup import Primed
from pskit.runtime.recording import record_refusal
from pskit.runtime.workers import Driver

if TYPE_CHECKING:
    from pskit.config import Config


class Clocks:
    """Counts clocks of workers, each once; what is told of a worker's clocks comes in their order.

    Attributes
    ----------
    count : int
    """

    def __init__(self) -> None:
        self.count = 0
        self._last: dict[int, int] = {}

    def add(self, worker: int, clock: int) -> None:
        """Count ``clock`` of ``worker``, unless that was done."""
        self.count += self._last.get(worker) != clock
        self._last[worker] = clock


class Agenda(EventQueue):
    """Ends of computations; notices those whose real work is over only after their modelled end.

    Attributes
    ----------
    overran : Clocks
    """

    __slots__ = ("_clock_of", "_time", "overran")

    def __init__(self, time: Callable[[], int], clock_of: Callable[[int], int]) -> None:
        super().__init__()
        self._time, self._clock_of = time, clock_of
        self.overran = Clocks()

    def add(self, time: int, kind: int, dst: int, src: int, payload: Any) -> None:
        """Schedule the end of a computation of worker ``dst``, whose real work is done."""
        if self._time() > time:
            self.overran.add(dst, self._clock_of(dst))
        super().add(time, kind, dst, src, payload)


class ClientProcess(LiveProcess):
    """A client and its workers; see `LiveProcess` for the parameters."""

    def __init__(
        self, me: int, cfg: "Config", arena: Arena, own_bell: Connection, bells: dict[int, Connection]
    ) -> None:
        super().__init__(me, cfg, arena, own_bell, bells)
        workers = members_of(cfg)[me]
        policy = make_policy(cfg.ps)
        client = GatedClient if policy.gated else Client
        self.client = client(me, workers, self.layout, policy, self.pools, cfg.ps.cache_rows)
        self._cache_number = self.tables_in_arena.share(me, self.client.cache)
        measured = cfg.compute.model == MEASURED
        agenda = Agenda(lambda: self.time.now(), lambda w: self.drivers[w].clock)
        self._overran = agenda.overran
        if not measured:  # a computation that is measured is over when it ends on the agenda
            self.agenda = agenda
        self.drivers: dict[int, Driver] = {}
        works: list[Any] = []
        for w in workers:
            ps = Worker(w, cfg.workers, cfg, self.layout, self)
            works.append(Primed(self.app.work(ps)))
            given = (
                ps, works[-1], self.client, ComputeModel(cfg.compute, cfg.run.seed, w), self.agenda,
                self.recorder, None, self._carry_out,
            )  # fmt: skip
            self.drivers[w] = (
                MeasuredDriver(*given, emulated=lambda: self.time.now(), crowded=self._overran.add)
                if measured
                else Driver(*given)
            )
        self._waiting_since: dict[int, int] = {}
        self.incs = tables_of(self.layout)
        self._touched = {name: np.zeros(len(table), np.bool_) for name, table in self.incs.items()}
        for work in works:
            work.prime()

    # -- the port that workers use -----------------------------------------------------------------

    def inc(self, worker: int, table: int, rows: RowIds, delta: Values) -> None:
        """INC of a worker, see `Client.inc`."""
        self.drivers[worker].inc_made()
        self.client.inc(worker, table, rows, delta)
        self._sum_up(table, rows, delta)

    def _sum_up(self, table: int, rows: RowIds, delta: Values) -> None:
        """Add an INC to the sum of all."""
        add_to(self.incs, self.layout, table, rows, delta)
        self._touched[self.layout.tables[table].name][rows - self.layout.offsets[table]] = True

    def stream(self, *key: int | str) -> Stream:
        """A stream of its own for ``key``."""
        return Stream(self.cfg.run.seed, "app", *key)

    # -- events ------------------------------------------------------------------------------------

    def begin(self) -> None:
        for worker in self.drivers:
            self._go_on(worker, self.drivers[worker].resume)

    def act(self, who: int, payload: Any) -> None:
        self._go_on(who, partial(self.drivers[who].finished, payload))

    def receive(self, dst: int, src: int, message: Message) -> None:
        move_on(self._cache_number)
        effects = self.client.receive(src - self.n_clients, message)
        move_on(self._cache_number)
        self._carry_out(dst, effects)

    def ready_since(self) -> int:
        first = min(self._waiting_since.values(), default=NEVER)
        return min(first, self.agenda.heap[0][0]) if self.agenda.heap else first

    def _carry_out(self, at: int, effects: list[Effect]) -> None:
        """Carry out what the client asks for: sends first, then workers go on."""
        reads: list[Read] = []
        for effect in effects:
            if type(effect) is ToShard:
                self.transport.send(at, self.n_clients + effect.shard, effect.message)
            elif type(effect) is ToShards:
                for shard in range(self.layout.shards):
                    self.transport.send(at, self.n_clients + shard, effect.to(shard))
            elif type(effect) is Read:
                reads.append(effect)
        for read in reads:
            self._read(read)

    def _read(self, read: Read) -> None:
        """A GET that had to wait is complete."""
        self._waiting_since.pop(read.worker, None)
        self._go_on(read.worker, partial(self.drivers[read.worker].read_done, read))

    def _go_on(self, worker: int, how: Callable[[], None]) -> None:
        """Let a worker go on, and show where it has come to."""
        driver = self.drivers[worker]
        try:
            how()
        except NonFiniteUpdate as error:
            record_refusal(self.recorder, self.agenda.now, error)
            self.diverged = True
            self.stop_all(EARLY)
        words = self.shared.workers[worker]
        words[CLOCK] = driver.clock
        if driver.waiting_for is None:
            words[WAITING_ROWS] = LEFT if driver.done else COMPUTING
        else:
            words[NEED] = self.client.policy.need(driver.clock)
            words[WAITING_ROWS] = len(driver.waiting_for.rows)
            self._waiting_since.setdefault(worker, self.agenda.now)

    # -- the end -----------------------------------------------------------------------------------

    def overran(self) -> int:
        return self._overran.count

    def roots(self) -> list[tuple[RowIds, Slots]]:
        return self.client.alive()

    def close(self) -> None:
        """Give up the coroutines, wherever they are."""
        for driver in self.drivers.values():
            driver.close()

    def tables(self, lost: Collection[int]) -> Tables:
        tables: Tables = {}
        for name, touched in self._touched.items():
            rows: npt.NDArray[np.int64] = np.flatnonzero(touched)
            tables[f"rows:{name}"], tables[f"incs:{name}"] = rows, self.incs[name][rows]
        return tables

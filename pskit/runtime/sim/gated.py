"""One run in virtual time under a policy with a gate.

The arbiter hears of everything in the event in which it happens, and whoever may start does so in that event:
the exact enforcement that a real network can only approach, see `pskit.runtime.gate`.
"""

from typing import Any

from pskit.core.kernels import add_rows
from pskit.core.messages import Applied, Effect, Increment, Message
from pskit.runtime.gate import Gate, facts_of, make_arbiter
from pskit.runtime.guard import Guarded
from pskit.runtime.sim.simulation import Simulation
from pskit.runtime.workers import Driver
from pskit.trace.starts import StartLog


class GatedSimulation(Simulation):
    """A run whose workers start their computations when the arbiter lets them; see `Simulation`.

    Attributes
    ----------
    gate : Gate
    """

    def __init__(self, cfg: Any, app: Any, layout: Any, recorder: Any, *more: Any, **named: Any) -> None:
        self._opening = False
        arbiter = make_arbiter(cfg, Guarded(app, cfg.app.name), layout)
        super().__init__(cfg, app, layout, recorder, *more, **named)
        recorder.starts = StartLog(layout, initial=self.initial)
        self.gate = Gate(arbiter, recorder.starts)

    def inc(self, worker: int, table: int, rows: Any, delta: Any) -> None:
        """INC of a worker, which leaves at once; see `GatedClient.add`."""
        layout, client = self.layout, self._client_of(worker)
        self.drivers[worker].inc_made()
        effects = client.add(worker, table, rows, delta, self.queue.now)
        self.gate.made(effects, layout)
        self.gate.log.add(worker, table, rows, delta)
        add_rows(self.incs[layout.tables[table].name], rows, layout.offsets[table], delta)
        super()._carry_out(client.client, effects)

    def _client_of(self, worker: int) -> Any:
        return self.clients[worker // self.cfg.cluster.threads]

    def facts(self) -> dict[str, Any]:
        return facts_of([self.gate.traffic], self.gate.arbiter.bound is not None)

    def _deliver(self, dst: int, src: int, message: Message) -> None:
        if dst < self.n_clients:
            self.gate.seen(dst, src - self.n_clients, message)
        super()._deliver(dst, src, message)

    def _carry_out(self, at: int, effects: list[Effect]) -> None:
        super()._carry_out(at, effects)
        if at < self.n_clients:
            client: Any = self.clients[at]
            self.gate.follow(client, effects, self.queue.now)
            self._let_in()

    def _record_update(self, applied: Applied) -> None:
        super()._record_update(applied)
        if type(applied.oplog) is Increment:
            self.gate.applied(self.shards[applied.shard], applied)

    def _let_in(self) -> None:
        """Let in who may start; those who may because of what these do then, are let in by the same loop."""
        if self._opening:
            return
        self._opening = True
        now = self.queue.now
        for waiting, start, read in self.gate.entering():
            driver = self.drivers[read.worker]
            self.gate.take_down(waiting, start, read, now, now - driver.asked_at)
            driver.number(start.t)
            driver.read_done(read)
        self._opening = False

    def waits_for(self, driver: Driver) -> str:
        if driver.worker not in self.gate.waiting:
            return super().waits_for(driver)
        who = f"worker {driver.worker} at clock {driver.clock}"
        return f"{who} waits at the gate since {driver.asked_at * 1e-9:g} s"

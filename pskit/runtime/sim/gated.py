"""One run in virtual time under a policy with a gate.

The arbiter hears of everything in the event in which it happens, and whoever may start does so in that event:
the exact enforcement that a real network can only approach, see `pskit.runtime.gate`.
"""

from typing import Any

from pskit.core.messages import Applied, Effect, Increment, Message, Read
from pskit.runtime.evaluation import add_to
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
        arbiter = make_arbiter(cfg, Guarded(app, cfg.app.name), layout)
        super().__init__(cfg, app, layout, recorder, *more, **named)
        recorder.starts = StartLog(layout, initial=self.initial)
        self.gate = Gate(arbiter, recorder.starts)

    def inc(self, worker: int, table: int, rows: Any, delta: Any) -> None:
        """INC of a worker, which leaves at once; see `GatedClient.add`."""
        client = self._client_of(worker)
        self.drivers[worker].inc_made()
        effects = client.add(worker, table, rows, delta, self.queue.now)
        self.gate.made(effects, self.layout)
        self.gate.log.add(worker, table, rows, delta)
        add_to(self.incs, self.layout, table, rows, delta)
        super()._carry_out(client.client, effects)

    def _client_of(self, worker: int) -> Any:
        return self.clients[worker // self.cfg.cluster.threads]

    def facts(self) -> dict[str, Any]:
        return facts_of([self.gate.cost])

    def _deliver(self, dst: int, src: int, message: Message) -> None:
        if dst < self.n_clients:
            self.gate.seen(dst, src - self.n_clients, message)
        super()._deliver(dst, src, message)

    def _carry_out(self, at: int, effects: list[Effect]) -> None:
        super()._carry_out(at, effects)
        if at < self.n_clients:
            client: Any = self.clients[at]
            self.gate.follow(client, effects, self.queue.now)
            self.gate.let_in(self.drivers, self.queue.now, self._read_done)

    def _record_update(self, applied: Applied) -> None:
        super()._record_update(applied)
        if type(applied.oplog) is Increment:
            self.gate.applied(self.shards[applied.shard], applied)

    def _read_done(self, read: Read) -> None:
        self.drivers[read.worker].read_done(read)

    def waits_for(self, driver: Driver) -> str:
        if driver.worker not in self.gate.waiting:
            return super().waits_for(driver)
        who = f"worker {driver.worker} at clock {driver.clock}"
        return f"{who} waits at the gate since {driver.asked_at * 1e-9:g} s"

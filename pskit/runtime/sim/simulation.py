"""One run in virtual time.

Machines are the core's; this file only decides *when* each of them gets its next input. A core call's
sends are carried out before any worker goes on, since a worker's next message must not overtake them.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from heapq import heappop, heapreplace
from typing import Any

from pskit.apps.base import InitContext, Worker
from pskit.core.channel import Ack, Segment
from pskit.core.client import Client, NonFiniteUpdate
from pskit.core.clocks import Counters
from pskit.core.gated import GatedClient
from pskit.core.layout import Layout
from pskit.core.messages import Applied, Effect, Left, Message, Push, Read, Reply, ToClient, ToShard, ToShards
from pskit.core.policies import make_policy
from pskit.core.rows import RowPools
from pskit.core.server import ServerShard
from pskit.emulation.streams import Stream
from pskit.runtime.base import Outcome, Stuck, members_of, update_norms
from pskit.runtime.evaluation import Evaluation, add_to, tables_of
from pskit.runtime.events import CALL, DELIVER, FINISH, LATEST, Event, seldom_collecting
from pskit.runtime.guard import Guarded
from pskit.runtime.recording import record_refusal
from pskit.runtime.sim.ticks import Ticks
from pskit.runtime.sim.times import Times
from pskit.runtime.sim.transport import Transport
from pskit.runtime.workers import Driver
from pskit.trace.recorder import Recorder

COLLECT_EVERY = 64
"""Events between two looks at the row pools (growing in between is harmless)."""
NOTHING: Event = (LATEST, CALL, -1, -1, -1, None, None)
"""Comes after all events."""


class Simulation:
    """A parameter server, its clients and their workers in virtual time.

    Parameters
    ----------
    cfg : Config
    app : Application or Guarded
        Fresh; its data is loaded by ``tables(cfg)``, which the caller has done.
    layout : Layout
    recorder : Recorder
    pool : ThreadPoolExecutor or None
        For large kernels.
    progress : callable, optional
        ``progress(simulation)``, called every few hundred events.
    times : Times, optional
        By default the samplers of the config.

    Attributes
    ----------
    interrupted : sequence
        Once there is something in it, `run` stops between two events.

    Notes
    -----
    `run` goes from the start to the end. To look at what happens in between, call `begin` and then `step` for
    each event.
    """

    def __init__(
        self,
        cfg: Any,
        app: Any,
        layout: Layout,
        recorder: Recorder,
        pool: ThreadPoolExecutor | None = None,
        progress: "Callable[[Simulation], None] | None" = None,
        times: Times | None = None,
    ) -> None:
        self.cfg, self.layout, self.recorder, self._progress = cfg, layout, recorder, progress
        self.n_clients = cfg.cluster.clients
        times = times or Times(cfg)
        self.queue = times.queue()
        self.pools = RowPools(layout)
        self._seed = seed = cfg.run.seed
        self.initial = tables_of(layout)
        app = Guarded(app, cfg.app.name)
        app.init(InitContext(cfg, self.initial, lambda *key: Stream(seed, "init", *key)))
        self.incs = tables_of(layout)
        policy = make_policy(cfg.ps)
        members = members_of(cfg)
        counters = Counters(layout.shards, cfg.workers)
        self.shards = [
            ServerShard(j, layout, policy, self.pools, members, self.initial, counters)
            for j in range(layout.shards)
        ]
        self._ticks = Ticks(counters, self.n_clients, recorder)
        client = GatedClient if policy.gated else Client
        self.clients = [
            client(c, workers, layout, policy, self.pools, cfg.ps.cache_rows)
            for c, workers in enumerate(members)
        ]
        self.transport = Transport(
            times.network(),
            self.queue,
            layout,
            recorder,
            ends=self.n_clients + layout.shards,
            retransmit=cfg.network.retransmit,
            ticks=self._ticks if policy.applies_at_once else None,
        )
        self.drivers = []
        for c, workers in enumerate(members):
            for w in workers:
                ps = Worker(w, cfg.workers, cfg, layout, self)
                self.drivers.append(
                    Driver(
                        ps,
                        app.work(ps),
                        self.clients[c],
                        times.compute(w),
                        self.queue,
                        recorder,
                        pool,
                        self._carry_out,
                    )
                )
        self.evaluation = Evaluation(
            app.objective, self.shards, layout, recorder, cfg.run.eval_every, cfg.run.diverge_factor
        )
        self._seen = self.evaluation.seen
        self.events = 0  # that have happened
        self.interrupted: Sequence[Any] = ()
        self._ended = 0  # when a worker was last taken out of a shard

    # -- the port that workers use -----------------------------------------------------------------

    def inc(self, worker: int, table: int, rows: Any, delta: Any) -> None:
        """INC of a worker, see `Client.inc`."""
        self.drivers[worker].inc_made()
        self.clients[worker // self.cfg.cluster.threads].inc(worker, table, rows, delta)
        add_to(self.incs, self.layout, table, rows, delta)

    def stream(self, *key: int | str) -> Stream:
        """A stream of its own for ``key``."""
        return Stream(self._seed, "app", *key)

    # -- the loop ----------------------------------------------------------------------------------

    def run(self) -> None:
        """Run to the end.

        Raises
        ------
        Stuck
            When workers wait although nothing is in flight; names who waits for what.
        """
        try:
            with seldom_collecting():
                self.begin()
                if not self._is_to_stop():
                    self._loop()
        except NonFiniteUpdate as error:
            self._refused(error)
            self.evaluation.stopped = True
        finally:
            for driver in self.drivers:
                driver.close()
        if self._is_to_stop():
            return
        waiting = [d for d in self.drivers if not d.done]
        if waiting:
            raise Stuck(self._who_waits(waiting))
        self.conclude()

    def conclude(self) -> None:
        """All have left, and the run ends when the last did: idle timers may have gone off after that."""
        self.queue.now = self._ended
        if self.evaluation.changed:
            self.evaluation.evaluate(self.queue.now, self._finished_clocks())

    def begin(self) -> None:
        """Evaluate the initial tables, and let every worker go on to its first wait."""
        self.evaluation.evaluate(0, 0)
        for driver in self.drivers:
            if self._is_to_stop():
                return
            driver.resume()

    def step(self) -> bool:
        """Let the next event happen; False when there is none."""
        happened = bool(self.queue.heap or self._ticks)
        self._loop(1, once=True)
        return happened

    def outcome(self, status: str | None = None) -> Outcome:
        """The state now, as the end of the run; ``status`` overrides what the run itself came to."""
        final = tables_of(self.layout)
        for shard in self.shards:
            shard.values_into(final)
        status = status or ("diverged" if self.evaluation.diverged else "finished")
        return Outcome(status, self.initial, final, self.incs, self.queue.now, self.events)

    def facts(self) -> dict[str, Any]:
        """More for the manifest."""
        return {}

    def close(self) -> None:
        """Let go of the workers, whose coroutines refer back to this object: frees its memory at once."""
        self.drivers.clear()

    def progress(self) -> tuple[int, dict[str, Any]]:
        """Clocks that every worker has finished, and facts for a progress line."""
        clocks = [d.clock for d in self.drivers]
        info = {
            "clock_min": min(clocks),
            "clock_max": max(clocks),
            "waiting_share": sum(d.waiting_for is not None for d in self.drivers) / len(clocks),
            "messages": self.transport.sent,
            "in_flight": self.queue.created - self.events,
            "emulated_ns": self.queue.now,
        }
        return min(clocks), info

    def _loop(self, until_look: int = COLLECT_EVERY, once: bool = False) -> None:
        """Let events happen until there is none, or the run is to stop, or (``once``) until the next look."""
        queue, heap, ticks, interrupted = self.queue, self.queue.heap, self._ticks, self.interrupted
        while heap or ticks:
            event, taken, due = heap[0] if heap else NOTHING, 0, False
            if ticks.next_at <= event[0]:
                taken = ticks.take_in(event, until_look)
                due = ticks.due
            if taken:
                queue.now = ticks.now
                self.events += taken
                until_look -= taken
            else:
                self.events += 1
                until_look -= 1
                self._happen(ticks.pop() if due else self._pop())
            if until_look == 0:
                until_look = COLLECT_EVERY
                if self.pools.crowded:
                    self._collect()
                if self._progress is not None:
                    self._progress(self)
                if once:
                    return
            if self.evaluation.stopped or interrupted:
                return

    def _is_to_stop(self) -> bool:
        return self.evaluation.stopped or len(self.interrupted) > 0

    def _pop(self) -> Event:
        """Take the next event out of the queue."""
        heap = self.queue.heap
        event = heap[0]
        following = None if event[6] is None else next(event[6].following, None)
        if following is None:
            heappop(heap)
        else:
            heapreplace(heap, following)
        return event

    def _happen(self, event: Event) -> None:
        self.queue.now, kind, dst, src, _, payload, _ = event
        if kind == DELIVER:
            if type(payload) is Segment or type(payload) is Ack:
                for message in self.transport.arrive(dst, src, payload):
                    self._deliver(dst, src, message)
            else:
                self._deliver(dst, src, payload)
        elif kind == FINISH:
            self.drivers[dst].finished(payload)
        elif kind == CALL:
            payload()
        else:
            self.transport.timer(dst, src, payload)

    def _deliver(self, dst: int, src: int, message: Message) -> None:
        if dst < self.n_clients:
            self._carry_out(dst, self.clients[dst].receive(src - self.n_clients, message))
        else:
            shard = self.shards[dst - self.n_clients]
            effects = shard.receive(src, message)
            if len(effects) == 1 and type(effects[0]) is Applied:  # of an oplog that raises nothing
                self._record_update(effects[0])
            else:
                self._carry_out(dst, effects)
            if shard.clock.minimum > self._seen.count(shard.shard):
                self._on_rise(shard)

    def _carry_out(self, at: int, effects: list[Effect]) -> None:
        """Carry out what the machine at end point ``at`` asks for: sends first, then workers go on."""
        dsts: list[int] = []
        messages: list[Message] = []
        reads: list[Read] = []
        for effect in effects:
            if type(effect) is Applied:
                self._record_update(effect)
            elif type(effect) is ToShards:
                self.transport.send_unit(at, effect)
            elif type(effect) is ToShard:
                dsts.append(self.n_clients + effect[0])
                messages.append(effect[1])
            elif type(effect) is ToClient:
                dsts.append(effect[0])
                messages.append(effect[1])
            elif type(effect) is Read:
                reads.append(effect)
            elif type(effect) is Left:
                worker, shard, clock, apply_index = effect
                self.recorder.member(self.queue.now, worker, shard, clock, apply_index, "left")
                self._ended = self.queue.now
        if dsts:
            self.transport.send_all(at, dsts, messages)
        for read in reads:
            self.drivers[read.worker].read_done(read)

    def _record_update(self, applied: Applied) -> None:
        shard, oplog, apply_index = applied
        worker, clock, seq, parts, _, t_inc, t_sent = oplog
        l2 = linf = 0.0
        if parts:
            self.evaluation.changed = True
            l2, linf = update_norms(oplog)
        now = self.queue.now
        self.recorder.update(worker, clock, shard, seq, apply_index, t_inc, t_sent, now, l2, linf)

    def _on_rise(self, shard: ServerShard) -> None:
        self.evaluation.on_rise(shard, self.queue.now, self._finished_clocks)

    def _refused(self, error: NonFiniteUpdate) -> None:
        record_refusal(self.recorder, self.queue.now, error)
        self.evaluation.diverged = True

    def _finished_clocks(self) -> int:
        return max(d.clock for d in self.drivers)

    def _collect(self) -> None:
        roots = [root for shard in self.shards for root in shard.alive()]
        roots += [root for client in self.clients for root in client.alive()]
        roots += [(m.rows, m.slots) for m in self.transport.in_flight() if isinstance(m, Reply | Push)]
        self.pools.collect(roots)

    def _who_waits(self, waiting: list[Driver]) -> str:
        lines = [self.waits_for(d) for d in waiting[:8]]
        clocks = {s.shard: s.clock.minimum for s in self.shards}
        who = "; ".join(lines)
        return f"nothing is in flight, but {len(waiting)} workers wait: {who}. Shard clocks: {clocks}"

    def waits_for(self, driver: Driver) -> str:
        """What a worker that has not finished waits for."""
        who = f"worker {driver.worker} at clock {driver.clock}"
        waiter = self.clients[driver.worker // self.cfg.cluster.threads].workers[driver.worker].waiter
        if waiter is None:
            return f"{who} has not finished"
        missing = waiter.missing_rows()
        table = int(self.layout.table_of_row[missing[0]])
        row, name = missing[0] - self.layout.offsets[table], self.layout.tables[table].name
        clock = f" with a clock of {waiter.need} or more" if waiter.need > 0 else ""
        return (
            f"{who} waits for {len(missing)} rows since {driver.asked_at * 1e-9:g} s, "
            f"first row {row} of table {name!r}{clock}"
        )

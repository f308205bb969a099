"""A simulation that goes the way of a recorded live run.

The loop, the machines and the drivers are those of virtual time. What is different in a live run is how it
begins and how it ends: every process at its own moment.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from pskit.core.client import NonFiniteUpdate
from pskit.core.layout import Layout
from pskit.core.messages import Effect, Push, Read, ToClient
from pskit.core.server import ServerShard
from pskit.runtime.base import Outcome
from pskit.runtime.events import seldom_collecting
from pskit.runtime.replay.record import Record
from pskit.runtime.replay.times import RecordedTimes
from pskit.runtime.sim.simulation import COLLECT_EVERY, Simulation
from pskit.trace.recorder import Recorder


class Replay(Simulation):
    """The run of ``record`` again.

    Parameters
    ----------
    cfg : Config
        Of the recorded run.
    app : Application or Guarded
    layout : Layout
    recorder : Recorder
    record : Record

    Notes
    -----
    `begin` and `step` go through it event by event; `run` to its end. Both raise `Differs` at the first thing
    that the record does not have.
    """

    def __init__(self, cfg: Any, app: Any, layout: Layout, recorder: Recorder, record: Record) -> None:
        times = RecordedTimes(cfg, record)
        super().__init__(cfg, app, layout, recorder, times=times)
        self.record, self._network = record, times.network()

    def run(self) -> None:
        """Go on to the last moment of the record.

        Raises
        ------
        Differs
        """
        try:
            with seldom_collecting():
                self.begin()
                self._loop()
        finally:
            for driver in self.drivers:
                driver.close()

    def begin(self) -> None:
        """Evaluate the initial tables; the clients begin at their moments."""
        self.evaluation.evaluate(0, 0)
        self.evaluation.stopped = False
        for client, moment in enumerate(self.record.began):
            self.queue.schedule(moment, partial(self._begin, client))
        for moment, src, client in self.record.caught_up:
            self.queue.schedule(moment, partial(self._catch_up, src, client))
        self.queue.schedule(self.record.last, self._end)

    def outcome(self, status: str | None = None) -> Outcome:
        outcome = super().outcome(status)
        return outcome._replace(emulated=self._ended) if outcome.status == "finished" else outcome

    def _begin(self, client: int) -> None:
        for worker in self.clients[client].workers:
            self._go_on(self.drivers[worker].resume)

    def _catch_up(self, src: int, client: int) -> None:
        self._carry_out(src, self.shards[src - self.n_clients].catch_up(client))

    def _with_room(self, at: int, effects: list[Effect]) -> list[Effect]:
        """``effects`` without the pushes for which there was no room: these are given back to their shard."""
        now, number, kept = self.queue.now, self._network.sent_by_server, []
        for effect in effects:
            if type(effect) is ToClient:
                push = type(effect.message) is Push
                if push and (now, number, at, effect.client) in self.record.put_off:
                    self.shards[at - self.n_clients].put_off(effect.client, effect.message)
                    continue
                number += 1
            kept.append(effect)
        return kept

    def _end(self) -> None:
        """The last moment is over: what is on its way never arrives."""
        if self.evaluation.changed and not any(len(shard.clock) for shard in self.shards):
            self.evaluation.evaluate(self._ended, self._finished_clocks())
        self.queue.heap.clear()

    def _loop(self, until_look: int = COLLECT_EVERY, once: bool = False) -> None:
        while True:
            try:
                super()._loop(until_look, once)
                return
            except NonFiniteUpdate as error:  # at the end of a computation: its process went on to its stop
                self._refused(error)
                if once:
                    return

    def _carry_out(self, at: int, effects: list[Effect]) -> None:
        reads = [effect for effect in effects if type(effect) is Read]
        others = [effect for effect in effects if type(effect) is not Read]
        super()._carry_out(at, self._with_room(at, others) if self.record.put_off else others)
        for read in reads:
            self._go_on(partial(self.drivers[read.worker].read_done, read))

    def _on_rise(self, shard: ServerShard) -> None:
        super()._on_rise(shard)
        self.evaluation.stopped = False  # the server stopped then; the clients did when they noticed

    def _go_on(self, how: Callable[[], None]) -> None:
        """Let a worker go on; a refused update ends its own way, not that of the others of its client."""
        try:
            how()
        except NonFiniteUpdate as error:
            self._refused(error)

"""The process of the server: all shards, each with its own links and network card, and the evaluation.

The shards are one process because the evaluation needs whole tables. In the emulated cluster a shard's
handling takes no time, so what it takes here is not part of the model, and shows up as lateness.
"""

from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from pskit.apps.base import InitContext
from pskit.core.clocks import VectorClock
from pskit.core.layout import RowIds
from pskit.core.messages import Applied, Left, Message, Oplog, Slots, ToClient
from pskit.core.policies import make_policy
from pskit.core.server import ServerShard
from pskit.emulation.streams import Stream
from pskit.runtime.base import Tables, update_norms
from pskit.runtime.evaluation import Evaluation, tables_of
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.plan import CLOCK, EARLY, FINISHED
from pskit.runtime.live.process import LiveProcess

if TYPE_CHECKING:
    from pskit.config import Config


class ServerProcess(LiveProcess):
    """All shards; see `LiveProcess` for the parameters."""

    def __init__(
        self, me: int, cfg: "Config", arena: Arena, own_bell: Connection, bells: dict[int, Connection]
    ) -> None:
        super().__init__(me, cfg, arena, own_bell, bells)
        threads, seed = cfg.cluster.threads, cfg.run.seed
        self.initial = tables_of(self.layout)
        self.app.init(InitContext(cfg, self.initial, lambda *key: Stream(seed, "init", *key)))
        members = [range(c * threads, (c + 1) * threads) for c in range(self.n_clients)]
        policy = make_policy(cfg.ps)
        self.machines = [
            ServerShard(j, self.layout, policy, self.pools, members, self.initial)
            for j in range(self.layout.shards)
        ]
        self.evaluation = Evaluation(
            self.app.objective, self.machines, self.layout, self.recorder, cfg.run.eval_every,
            cfg.run.diverge_factor,
        )  # fmt: skip
        self._seen = VectorClock(range(self.layout.shards))  # shard clocks, for the slowest of them
        self._finished_clocks = 0  # of the fastest worker: a leaving oplog ends no clock() call
        self._present = len(self.machines) * cfg.workers
        self._ended = 0
        self.evaluation.evaluate(0, 0)

    def begin(self) -> None:
        self._stop_if_diverged()

    def ready_since(self) -> int:
        return 0

    def act(self, who: int, payload: Any) -> None:
        raise AssertionError("the server computes nothing")

    def receive(self, dst: int, src: int, message: Message) -> None:
        shard = self.machines[dst - self.n_clients]
        for effect in shard.receive(src, message):
            if type(effect) is ToClient:
                self.transport.send(dst, effect.client, effect.message)
            elif type(effect) is Applied:
                self._record_update(effect)
            elif type(effect) is Left:
                worker, j, clock, apply_index = effect
                self.recorder.member(self.mail.now, worker, j, clock, apply_index, "left")
                self._ended = self.mail.now
                self._present -= 1
        if type(message) is Oplog and not message.leaving:
            self._finished_clocks = max(self._finished_clocks, message.clock + 1)
        if shard.clock.minimum > self._seen.received[shard.shard]:
            self._on_rise(shard)
        if self._present == 0:
            if self.evaluation.changed:
                self.evaluation.evaluate(self._ended, self._finished_clocks)
            self._stop_if_diverged()
            self._stop(FINISHED)

    def _record_update(self, applied: Applied) -> None:
        oplog, l2, linf = applied.oplog, 0.0, 0.0
        if oplog.parts:
            self.evaluation.changed = True
            l2, linf = update_norms(oplog)
        worker, clock, seq, _, _, t_inc, t_sent = oplog
        now = self.mail.now
        self.recorder.update(
            worker, clock, applied.shard, seq, applied.apply_index, t_inc, t_sent, now, l2, linf
        )

    def _on_rise(self, shard: ServerShard) -> None:
        """A shard's clock rose: evaluate once the slowest shard has seen another clock in full."""
        self.shared.shards[shard.shard, CLOCK] = shard.clock.minimum
        slowest_rose = False
        while self._seen.received[shard.shard] < shard.clock.minimum:
            slowest_rose |= self._seen.tick(shard.shard)
        if slowest_rose:
            clock = min(self._seen.minimum, self._finished_clocks)
            if clock > self.evaluation.clock:
                self.evaluation.on_clock(self.mail.now, clock)
                self._stop_if_diverged()

    def _stop_if_diverged(self) -> None:
        self.diverged = self.evaluation.diverged
        if self.evaluation.stopped:
            self._stop(EARLY)

    def _stop(self, why: int) -> None:
        self.stop_all(why)
        for client in range(self.n_clients):
            self.bell.ring(client)

    # -- the end -----------------------------------------------------------------------------------

    def roots(self) -> list[tuple[RowIds, Slots]]:
        return [root for shard in self.machines for root in shard.alive()]

    def tables(self) -> Tables:
        final = tables_of(self.layout)
        for shard in self.machines:
            shard.values_into(final)
        return {f"initial:{k}": v for k, v in self.initial.items()} | {
            f"final:{k}": v for k, v in final.items()
        }

    def ended(self) -> int:
        return self._ended

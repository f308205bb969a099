"""The process of the server: all shards, each with its own links and network card, and the evaluation.

The shards are one process because the evaluation needs whole tables. In the emulated cluster a shard's
handling takes no time, so what it takes here is not part of the model, and shows up as lateness.
"""

from collections.abc import Collection, Iterable
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from pskit.apps.base import InitContext
from pskit.core.layout import RowIds
from pskit.core.messages import Applied, Effect, Left, Lost, Message, Oplog, Push, Slots, ToClient
from pskit.core.policies import make_policy
from pskit.core.server import ServerShard
from pskit.emulation.streams import Stream
from pskit.runtime.base import Tables, members_of, update_norms
from pskit.runtime.evaluation import Evaluation, add_to, tables_of
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.parts import Flow
from pskit.runtime.live.plan import CLOCK, DEAD, EARLY, FINISHED
from pskit.runtime.live.process import LiveProcess

if TYPE_CHECKING:
    from pskit.config import Config


class ServerProcess(LiveProcess):
    """All shards; see `LiveProcess` for the parameters."""

    def __init__(
        self, me: int, cfg: "Config", arena: Arena, own_bell: Connection, bells: dict[int, Connection]
    ) -> None:
        super().__init__(me, cfg, arena, own_bell, bells)
        self.initial = tables_of(self.layout)
        self.app.init(InitContext(cfg, self.initial, lambda *key: Stream(cfg.run.seed, "init", *key)))
        members, policy = members_of(cfg), make_policy(cfg.ps)
        self.machines: list[ServerShard] = [
            self.tables_in_arena.shard(j, self.layout, policy, self.pools, members, self.initial)
            for j in range(self.layout.shards)
        ]
        self.evaluation = Evaluation(
            self.app.objective, self.machines, self.layout, self.recorder, cfg.run.eval_every,
            cfg.run.diverge_factor,
        )  # fmt: skip
        self._finished_clocks = 0  # of the fastest worker: a leaving oplog ends no clock() call
        self._present = len(self.machines) * cfg.workers
        self._ended = 0
        self._caught_up = 0
        self._dying: set[int] = set()  # clients of which something is still to be taken in
        self._dead: set[int] = set()
        # What was applied of each client, in case it dies: its own sum dies with it.
        on = cfg.run.on_death == "continue"
        self._applied = [tables_of(self.layout) for _ in range(self.n_clients)] if on else []
        self.evaluation.evaluate(0, 0)

    def begin(self) -> None:
        self._stop_if_diverged()

    def ready_since(self) -> int:
        return 0

    def act(self, who: int, payload: Any) -> None:
        raise AssertionError("the server computes nothing")

    def receive(self, dst: int, src: int, message: Message) -> None:
        shard = self.machines[dst - self.n_clients]
        self._carry_out(shard, shard.receive(src, message))
        if type(message) is Oplog and not message.leaving:
            self._finished_clocks = max(self._finished_clocks, message.clock + 1)
        self._after(shard)

    def flush(self) -> bool:
        """Also notice what clients have died, and send those that are behind what they are owed.

        Returns
        -------
        bool
            True when nothing waits for room any more.
        """
        clear = super().flush()
        dead = self.shared.of_all(DEAD)
        if dead.any():
            self._notice(set(dead.nonzero()[0].tolist()))
        for shard in self.machines:
            for client in list(shard.owed):
                clear = False
                if self.transport.has_much_room(client):
                    self._stand_at(self._next_moment())
                    if self.moments is not None:
                        self.moments.caught_up(self.mail.now, self.n_clients + shard.shard, client)
                    effects = shard.catch_up(client)
                    self._caught_up += len(effects)
                    self._carry_out(shard, effects)
        return clear

    # -- clients that die --------------------------------------------------------------------------

    def _notice(self, dead: set[int]) -> None:
        """Take in what came from clients that have died, each message when it is visible, then lose them."""
        new = dead - self._dying - self._dead
        if new:
            self.transport.poll()  # all that they ever wrote in full is in the mail now
            for client in new:
                self.transport.forget(client)
            self._dying |= new
        if self._dying:
            for client in self._dying - {event[3] for event in self.mail.heap}:
                self._lose(client)

    def _lose(self, client: int) -> None:
        self._dying.discard(client)
        self._dead.add(client)
        self._stand_at(self._next_moment())
        for shard in self.machines:
            self._carry_out(shard, shard.lose(client))
            self._after(shard)

    # -- effects -----------------------------------------------------------------------------------

    def _carry_out(self, shard: ServerShard, effects: Iterable[Effect]) -> None:
        at = self.n_clients + shard.shard
        for effect in effects:
            if type(effect) is ToClient:
                client, message = effect
                if type(message) is Push and not self.transport.has_room_for(client, message):
                    if self.moments is not None:
                        self.moments.put_off(self.mail.now, at, client, self.transport.sent)
                    shard.put_off(client, message)
                else:
                    self.transport.send(at, client, message)
            elif type(effect) is Applied:
                self._record_update(effect)
            elif type(effect) is Left or type(effect) is Lost:
                worker, j, clock, apply_index = effect
                how = "left" if type(effect) is Left else "lost"
                self.recorder.member(self.mail.now, worker, j, clock, apply_index, how)
                self._ended = self.mail.now
                self._present -= 1

    def _after(self, shard: ServerShard) -> None:
        """Look at what the shard has come to."""
        if shard.clock.minimum > self.evaluation.seen.received[shard.shard]:
            self.shared.shards[shard.shard, CLOCK] = shard.clock.minimum
            self.evaluation.on_rise(shard, self.mail.now, lambda: self._finished_clocks)
            self._stop_if_diverged()
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
            if self._applied:
                sums = self._applied[oplog.worker // self.cfg.cluster.threads]
                for part in oplog.parts:
                    add_to(sums, self.layout, *part)
        worker, clock, seq, _, _, t_inc, t_sent = oplog
        now = self.mail.now
        self.recorder.update(
            worker, clock, applied.shard, seq, applied.apply_index, t_inc, t_sent, now, l2, linf
        )

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

    def flow(self) -> Flow:
        put_off = sum(shard.put_offs for shard in self.machines)
        return Flow(self.transport.delayed, 0, put_off, self._caught_up)

    def tables(self, lost: Collection[int]) -> Tables:
        final, incs = tables_of(self.layout), tables_of(self.layout)
        for shard in self.machines:
            shard.values_into(final)
        for client in lost:
            for name, table in self._applied[client].items():
                incs[name] += table
        groups = (("initial", self.initial), ("final", final), ("incs", incs))
        return {f"{which}:{name}": table for which, group in groups for name, table in group.items()}

    def ended(self) -> int:
        return self._ended

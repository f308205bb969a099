"""Processes under a policy with a gate.

One arbiter decides: its arrays lie in the arena, and every process that asks or tells it something holds the
lock of the arena meanwhile, so that to check and to start is one step for all of them. What a client has seen
changes only by what it takes in itself, so its copies cannot change between the check and the reading.

When a computation is over, somebody else may be let in. Clients have no bells of each other: they count such
ends in a word and ring at the server, which rings at those that wait. Nobody sleeps through that, as a bell
that was rung once is heard by the next sleep; and a client tells that it waits before it asks.
"""

from collections.abc import Collection
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from pskit.core.gated import GatedClient
from pskit.core.layout import RowIds
from pskit.core.messages import Applied, Effect, Increment, Message, Values
from pskit.runtime.gate import Gate, make_arbiter
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.client import ClientProcess
from pskit.runtime.live.parts import Part
from pskit.runtime.live.plan import AT_GATE, OVER
from pskit.runtime.live.server import ServerProcess
from pskit.trace.starts import VALUE_CAP, StartLog

if TYPE_CHECKING:
    from pskit.config import Config


class GatedClientProcess(ClientProcess):
    """A client whose workers start their computations when the arbiter lets them; see `LiveProcess`."""

    client: GatedClient

    def __init__(
        self, me: int, cfg: "Config", arena: Arena, own_bell: Connection, bells: dict[int, Connection]
    ) -> None:
        super().__init__(me, cfg, arena, own_bell, bells)
        self.recorder.starts = StartLog(self.layout, max(1, VALUE_CAP // self.n_clients))
        self.gate = Gate(
            make_arbiter(cfg, self.app, self.layout, self.shared.gate()), self.recorder.starts, arena.locked
        )

    def inc(self, worker: int, table: int, rows: RowIds, delta: Values) -> None:
        """INC of a worker, which leaves at once; see `GatedClient.add`."""
        self.drivers[worker].inc_made()
        effects = self.client.add(worker, table, rows, delta, self.agenda.now)
        self.gate.made(effects, self.layout)  # before anybody can have seen it
        self.gate.log.add(worker, table, rows, delta)
        self._sum_up(table, rows, delta)
        super()._carry_out(self.me, effects)

    def receive(self, dst: int, src: int, message: Message) -> None:
        self.gate.seen(self.me, src - self.n_clients, message)
        super().receive(dst, src, message)

    def flush(self) -> bool:
        """Also look whether others have made room for who waits at the gate.

        Returns
        -------
        bool
            False when there is no time for a long sleep.
        """
        clear = super().flush()
        if not self.gate.waiting:
            return clear
        self.gate.look_again()
        self._stand_at(self._next_moment())
        return not self._let_in() and clear

    def part(self, lost: Collection[int]) -> Part:
        return super().part(lost)._replace(gate=self.gate.cost)

    def _carry_out(self, at: int, effects: list[Effect]) -> None:
        super()._carry_out(at, effects)
        ended = self.gate.follow(self.client, effects, self.agenda.now)
        self._words[AT_GATE] = len(self.gate.waiting)
        if ended:
            self._words[OVER] += 1
            self.bell.ring(self.n_clients)
        self._let_in()

    def _let_in(self) -> bool:
        """Let in who may start; whether anybody did."""
        entered = self.gate.let_in(self.drivers, self.agenda.now, self._read)
        self._words[AT_GATE] = len(self.gate.waiting)
        return entered


class GatedServerProcess(ServerProcess):
    """All shards, and the messenger of those that wait at the gate; see `LiveProcess`."""

    def __init__(
        self, me: int, cfg: "Config", arena: Arena, own_bell: Connection, bells: dict[int, Connection]
    ) -> None:
        super().__init__(me, cfg, arena, own_bell, bells)
        log = StartLog(self.layout)  # no worker starts here
        arbiter = make_arbiter(cfg, self.app, self.layout, self.shared.gate())
        self._gate = Gate(arbiter, log, arena.locked)
        self._over = 0

    def flush(self) -> bool:
        """Also wake who waits at the gate, when computations are over."""
        clear = super().flush()
        over = int(self.shared.of_all(OVER).sum())
        if over != self._over:
            self._over = over
            for client in self.shared.of_all(AT_GATE).nonzero()[0].tolist():
                self.bell.ring(client)
        return clear

    def part(self, lost: Collection[int]) -> Part:
        return super().part(lost)._replace(gate=self._gate.cost)

    def _record_update(self, applied: Applied) -> None:
        super()._record_update(applied)
        if type(applied.oplog) is Increment:
            self._gate.applied(self.machines[applied.shard], applied)

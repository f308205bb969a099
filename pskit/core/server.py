"""A server shard: its rows, its vector clock, the callback registry and the waiting requests.

Rules it implements (`docs/explanation/protocol.md`):

1. An oplog is applied exactly once, in order per worker, before any clock logic (BSP holds it back).
2. The shard's clock is the minimum over its members of the clocks received in full; it never goes back.
3. A request waits until the clock reaches its need; a rise answers *all* requests with need <= clock.
4. On a rise waiting requests are answered first, then every subscriber gets one push with the changed
   rows it subscribes to, an empty one included, carrying the clock. Rows replied to in the same rise are
   left out.
5. Replies and pushes carry the apply index and how much of each of the receiver's workers is applied.
6. A leaving oplog counts as a finished clock (apply, raise, answer, push); only then is the worker taken
   out, and what that raises is answered and pushed too.
7. The workers of a client that died are taken out once all that came from it was taken in.
8. A client for whose push there is no room is owed its rows (`pskit.core.coalesce`).

Nothing here decides when a message arrives. Every method returns or collects effects for the runtime.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pskit.core import coalesce, kernels
from pskit.core.clocks import APPLY_INDEX, NO_MEMBER, Counters, VectorClock, count_unit
from pskit.core.delta import delta_push
from pskit.core.layout import Layout, RowIds
from pskit.core.messages import (
    Applied,
    Effect,
    Increment,
    Left,
    Lost,
    Message,
    Oplog,
    ProtocolViolation,
    Push,
    Reply,
    Request,
    Slots,
    ToClient,
    Unsubscribe,
    Values,
    make,
)
from pskit.core.policies.base import Policy
from pskit.core.rows import RowPools

NO_SKIP = np.zeros((0, 0), np.bool_)


class ServerShard:
    """State machine of one shard.

    Parameters
    ----------
    shard : int
    layout : Layout
    policy : Policy
    pools : RowPools
        Where row values live; the shard takes a slot for each of its rows.
    clients : sequence of sequences of int
        Worker ids of each client. All of them are members from clock 0.
    initial : mapping of str to (rows, cols) arrays
        Initial tables, whole.
    counters : Counters, optional
        Where the shard counts clocks and oplogs, line ``shard``; by default arrays of its own.
    """

    def __init__(
        self,
        shard: int,
        layout: Layout,
        policy: Policy,
        pools: RowPools,
        clients: Sequence[Sequence[int]],
        initial: Mapping[str, Values],
        counters: Counters | None = None,
    ) -> None:
        self.shard = shard
        self.layout = layout
        self.policy = policy
        self.pools = pools
        self.clients = [tuple(c) for c in clients]
        members = [w for c in self.clients for w in c]
        line = shard
        if counters is None:
            counters, line = Counters(1, max(members, default=-1) + 1), 0
        self.clock = VectorClock(members, counters, line)
        self.applied = counters.applied[line]  # update units applied, by worker
        self.rows: RowIds = np.arange(shard, layout.n_rows, layout.shards, dtype=np.int32)
        n = len(self.rows)
        self.current: Slots = np.zeros(n, np.int32)  # slot of each row's newest version, by local index
        self.shared = np.zeros(n, np.bool_)  # that version was handed out: copy before writing
        self.dirty = np.zeros(n, np.bool_)  # changed since the last rise
        self.subscribed = np.zeros((len(self.clients) if policy.subscribes else 0, n), np.bool_)
        self.subscriptions = [0] * len(self.clients)
        self.owed: dict[int, npt.NDArray[np.bool_]] = {}  # rows owed to each client that is behind
        self.put_offs = 0  # pushes that were not sent, or not made
        self.waiting: list[tuple[int, Request]] = []  # (client, request), in order of arrival
        self.held: dict[int, dict[int, Oplog]] = {}  # BSP: oplogs by clock and worker
        self.pushed: Slots = np.zeros(0, np.int32)  # delta pushes: version of each row at the last rise
        self.replied = np.zeros((0, n), np.bool_)  # delta pushes: rows replied to since the last rise
        self._effects: list[Effect] = []
        for table, cut in pools.split(self.rows):
            slots = pools.pools[table].take(cut.stop - cut.start)
            self.current[cut] = slots
            pools.pools[table].values[slots] = initial[layout.tables[table].name][
                self.rows[cut] - layout.offsets[table]
            ]
        if policy.subscribes and policy.deltas:
            self.pushed = self.current.copy()
            self.shared[:] = True
            self.replied = np.zeros_like(self.subscribed)

    # -- messages in -------------------------------------------------------------------------------

    def receive(self, client: int, message: Message) -> list[Effect]:
        """Take in one message of ``client``; what the runtime has to do now, in order.

        Raises
        ------
        ProtocolViolation
            When a worker that is no member sends an oplog, or one out of order.
        """
        effects: list[Effect] = []
        self._effects = effects
        if type(message) is Oplog:
            self._on_oplog(client, message)
        elif type(message) is Request:
            self._on_request(client, message)
        elif type(message) is Unsubscribe:
            self._on_unsubscribe(client, message)
        elif type(message) is Increment:
            self._on_increment(client, message)
        else:
            raise ProtocolViolation(
                f"client {client} sent shard {self.shard} a {type(message).__name__}: only shards send that"
            )
        return effects

    def _on_oplog(self, client: int, oplog: Oplog) -> None:
        expected = self.clock.count(oplog.worker)
        if expected != oplog.clock:
            why = "that worker is no member" if expected == NO_MEMBER else f"clock {expected} is next"
            raise ProtocolViolation(
                f"client {client} sent shard {self.shard} the oplog of worker {oplog.worker}, "
                f"clock {oplog.clock}, but {why}"
            )
        self.policy.on_oplog(self, oplog)
        if self.clock.tick(oplog.worker):
            self.policy.on_rise(self)
        if oplog.leaving:
            self._remove([oplog.worker], Left)

    def _on_increment(self, client: int, oplog: Increment) -> None:
        """Take in an INC that did not wait for clock(), and push what it changed (no clock is involved)."""
        expected = self.clock.count(oplog.worker)
        if expected != oplog.clock or oplog.seq < self.applied[oplog.worker]:
            why = "that worker is no member" if expected == NO_MEMBER else f"clock {expected} is not over"
            raise ProtocolViolation(
                f"client {client} sent shard {self.shard} unit {oplog.seq} of worker {oplog.worker}, "
                f"clock {oplog.clock}, but {why}, and {self.applied[oplog.worker]} is the lowest possible"
            )
        self.apply(oplog)
        self.push(only_changed=True)

    def _remove(self, workers: Sequence[int], how: type[Left] | type[Lost]) -> None:
        """Take these workers out at once; what that raises is answered and pushed."""
        rose = False
        for worker in workers:
            rose |= self.clock.remove(worker)
        if not len(self.clock) and self.held:  # nobody is left to wait for: take in what is held back
            self.clock.skip_to(max(self.held) + 1)
            rose = True
        for worker in workers:
            self._effects.append(how(worker, self.shard, self.clock.minimum, self.apply_index))
        if rose:
            self.policy.on_rise(self)

    def _on_request(self, client: int, request: Request) -> None:
        if self.clock.minimum >= request.need:
            self._reply(client, request)
        else:
            self.waiting.append((client, request))

    def _on_unsubscribe(self, client: int, message: Unsubscribe) -> None:
        local = message.rows // self.layout.shards
        mask = self.subscribed[client]
        self.subscriptions[client] -= int(np.count_nonzero(mask[local]))
        mask[local] = False

    # -- what a runtime tells ----------------------------------------------------------------------

    def lose(self, client: int) -> list[Effect]:
        """Take the workers of ``client`` out, which died: nothing of it is under way any more.

        What it sent counts, also where it is still held back; what it asked for is forgotten.
        """
        effects: list[Effect] = []
        self._effects = effects
        self.waiting = [w for w in self.waiting if w[0] != client]
        self.subscribed[client : client + 1] = False
        self.subscriptions[client] = 0
        self.owed.pop(client, None)
        self._remove([w for w in self.clients[client] if w in self.clock], Lost)
        return effects

    def put_off(self, client: int, push: Push | None = None) -> None:
        """There is no room for ``push`` (None: for any push) to ``client``: it is owed until `catch_up`."""
        coalesce.put_off(self, client, push)

    def catch_up(self, client: int) -> list[Effect]:
        """There is room for a push to ``client`` again: the one that it is owed, if any."""
        effects: list[Effect] = []
        self._effects = effects
        local = coalesce.due(self, client)
        if local is not None:
            self._send_push(client, self.rows[local], self.current[local], ())
        return effects

    # -- what policies are made of -----------------------------------------------------------------

    def apply(self, oplog: Oplog) -> None:
        """Add an oplog to the tables; it becomes number ``apply_index``."""
        shards = self.layout.shards
        for table, rows, delta in oplog.parts:
            pool = self.pools.pools[table]
            pool.reserve(len(rows))
            pool.n_free = kernels.apply_delta(
                rows // shards,
                delta,
                self.current,
                self.shared,
                self.dirty,
                pool.values,
                pool.free,
                pool.n_free,
            )
        index = count_unit(self.applied, self.clock.head, oplog.worker, oplog.seq)
        self._effects.append(make(Applied, (self.shard, oplog, index)))

    def hold(self, oplog: Oplog) -> None:
        """Keep an oplog back until `apply_held`."""
        self.held.setdefault(oplog.clock, {})[oplog.worker] = oplog

    def apply_held(self) -> None:
        """Apply all oplogs held for clocks below the shard's, in (clock, worker) order."""
        for clock in sorted(c for c in self.held if c < self.clock.minimum):
            by_worker = self.held.pop(clock)
            for worker in sorted(by_worker):
                self.apply(by_worker[worker])

    def release(self) -> list[tuple[int, Request]]:
        """Answer every waiting request whose need is reached, in order of arrival; those answered."""
        clock = self.clock.minimum
        ready = [w for w in self.waiting if w[1].need <= clock]
        if ready:
            self.waiting = [w for w in self.waiting if w[1].need > clock]
            for client, request in ready:
                self._reply(client, request)
        return ready

    def push(self, replied: Sequence[tuple[int, Request]] = (), only_changed: bool = False) -> None:
        """Send every subscriber the changed rows it subscribes to, without those just ``replied`` to.

        ``only_changed``: nothing goes to a subscriber of whose rows none has changed.
        """
        changed = np.flatnonzero(self.dirty).astype(np.int32)
        self.dirty[changed] = False
        if only_changed:
            to = np.flatnonzero(self.subscribed[:, changed].any(axis=1)).tolist()
        else:
            to = [c for c, n in enumerate(self.subscriptions) if n]
        if self.owed:
            to = coalesce.owe(self, changed, to)
        skip = NO_SKIP
        if replied:
            position = {c: i for i, c in enumerate(to)}
            skip = np.zeros((len(to), len(changed)), np.bool_)
            for client, request in replied:
                if client in position:
                    skip[position[client]] |= np.isin(changed, request.rows // self.layout.shards)
        if self.policy.deltas:
            for client, rows, slots, entries in delta_push(self, changed, to, skip):
                self._send_push(client, rows, slots, entries)
            return
        self.shared[changed] = True
        start, rows, slots = kernels.subscribed_rows(
            self.subscribed,
            changed,
            skip,
            np.array(to, np.int32),
            self.shard,
            self.layout.shards,
            self.current,
        )
        cuts = start.tolist()
        for i, client in enumerate(to):
            cut = slice(cuts[i], cuts[i + 1])
            self._send_push(client, rows[cut], slots[cut], ())

    def _send_push(self, client: int, rows: RowIds, slots: Slots, entries: tuple) -> None:  # type: ignore[type-arg]
        fields = (rows, slots, entries, self.clock.minimum, self.apply_index, self._applied_of(client))
        self._effects.append(make(ToClient, (client, make(Push, fields))))

    def _reply(self, client: int, request: Request) -> None:
        local = request.rows // self.layout.shards
        self.shared[local] = True
        if self.policy.subscribes:  # a subscription begins at the reply, not at the request
            mask = self.subscribed[client]
            self.subscriptions[client] += len(local) - int(np.count_nonzero(mask[local]))
            mask[local] = True
        if len(self.replied):
            self.replied[client, local] = True
        reply = Reply(
            request.rows,
            self.current[local],
            self.clock.minimum,
            self.apply_index,
            self._applied_of(client),
            request.tag,
        )
        self._effects.append(ToClient(client, reply))

    def _applied_of(self, client: int) -> tuple[int, ...]:
        applied = self.applied.item
        return tuple([applied(w) for w in self.clients[client]])

    # -- what runtimes and checks look at ----------------------------------------------------------

    @property
    def apply_index(self) -> int:
        """Oplogs applied so far, which is the number of the next."""
        return self.clock.head.item(APPLY_INDEX)

    def alive(self) -> list[tuple[RowIds, Slots]]:
        """Rows and slots that this shard still refers to."""
        return [(self.rows, self.current)] + ([(self.rows, self.pushed)] if len(self.pushed) else [])

    def values_into(self, tables: Mapping[str, Values]) -> None:
        """Copy this shard's rows into whole ``tables``."""
        for table, cut in self.pools.split(self.rows):
            tables[self.layout.tables[table].name][self.rows[cut] - self.layout.offsets[table]] = (
                self.pools.pools[table].values[self.current[cut]]
            )

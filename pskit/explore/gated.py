"""The graph of all states of a system whose policy has a gate.

A state has one more number, that of the arbiter, which hears of what the machines do in the same step. That
the gate opens for a worker is an event of its own: it may come at once, or any time after.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from pskit.core.messages import Applied, Ended, Increment, Read, ToShard
from pskit.explore.arbiters import Arbiters, Made, News, Over, Seen, WasApplied
from pskit.explore.full import FullSpace
from pskit.explore.outcomes import Done, Failure, Outcome, said
from pskit.explore.sides import Side
from pskit.explore.space import Event, Space, State
from pskit.explore.system import System
from pskit.explore.wire import FrozenPush, rows_of


class GatedSpace(Space):
    """States (sides, shards, arbiter) and what leads from one to another; see `Space`."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.arbiters = Arbiters(self.machines.tables)
        self.start = (*self.start, self.arbiters.start)

    def successors(self, state: State) -> list[State | Failure]:
        return [event.outcome for event in self.events(state)]

    def events(self, state: State) -> Iterator[Event]:
        n, sides = self.n_clients, self.sides
        for c in range(n):
            for name, side, messages, calls in sides.locals[state[c]]:
                if isinstance(side, Failure):
                    yield Event(name, side, messages, calls)
                    continue
                news = [*self._seen(c, messages), *self._done(calls)]
                yield Event(name, self._after(state, {c: side}, news), messages, calls)
        for c in range(n):
            for j, what, side, messages in sides.upwards[state[c]]:
                sent = self._sent[state[n + j], messages]
                name = f"client {c} to shard {j}: {what}"
                if isinstance(sent.shard, Failure):
                    yield Event(name, sent.shard, messages, sent.calls)
                    continue
                new = {c: side, n + j: sent.shard}
                for client, answers in sent.sends:
                    new[client] = sides.received[new.get(client, state[client]), j, answers]
                yield Event(name, self._after(state, new, self._applied(j, sent.calls)), messages, sent.calls)
        for c in range(n):
            yield from self._openings(state, c)

    def at_rest(self, state: State) -> bool:
        return super().at_rest(state) and not any(
            True for c in range(self.n_clients) for _ in self._openings(state, c)
        )

    # -- the gate --------------------------------------------------------------------------------------

    def _openings(self, state: State, c: int) -> Iterator[Event]:
        """The gate may open for a worker of client ``c``."""
        client, up, down = self.sides.sides[state[c]]
        frozen = self.machines.client(client)
        threads = self.system.threads
        for worker, rows, _ in frozen.gate:
            name = f"the gate opens for worker {worker}"
            clock = frozen.workers[worker % threads].clock
            try:
                told = self.arbiters.asked[state[-1], worker, clock, rows]
            except Exception as error:  # whatever it is, the core did it
                yield Event(name, Failure(said(error), ()), (), ())
                continue
            if told is None:
                continue
            start, after = told
            outcome = self.machines.started[client, worker]
            if isinstance(outcome, Failure):
                yield Event(name, outcome, (), (outcome,))
                continue
            (read,) = (effect for effect in outcome.effects if isinstance(effect, Read))
            wrong = self.arbiters.wrong(state[-1], dict(frozen.known), start, read)
            if wrong is not None:
                yield Event(name, Failure(wrong, outcome.effects), (), (outcome,))
                continue
            side = self.sides.sides.of(Side(outcome.state, up, down))
            yield Event(name, (*state[:c], side, *state[c + 1 : -1], after), (), (outcome,))

    # -- what the arbiter hears ------------------------------------------------------------------------

    def _after(self, state: State, new: dict[int, int], news: Iterable[News]) -> State:
        arbiter = state[-1]
        for one in news:
            arbiter = self.arbiters.heard[arbiter, one]
        return (*(new.get(i, number) for i, number in enumerate(state[:-1])), arbiter)

    def _seen(self, client: int, messages: tuple[int, ...]) -> Iterator[News]:
        for number in messages:
            shard, message = self.machines.tables.messages[number]
            if isinstance(message, FrozenPush):
                yield Seen(client, shard, message.version)

    def _done(self, calls: tuple[Outcome, ...]) -> Iterator[News]:
        for effect in (effect for call in calls for effect in call.effects):
            if isinstance(effect, ToShard) and isinstance(effect.message, Increment):
                oplog = effect.message
                for _, rows, delta in oplog.parts:
                    yield Made(oplog.worker, oplog.seq, effect.shard, rows_of(rows), delta.tobytes())
            elif isinstance(effect, Ended):
                yield Over(effect.worker)

    def _applied(self, shard: int, calls: tuple[Outcome, ...]) -> Iterator[News]:
        for call in calls:
            assert isinstance(call, Done)
            frozen = self.machines.shard(call.state)
            subscribed = np.frombuffer(frozen.subscribed, np.bool_).reshape(self.n_clients, -1)
            for effect in call.effects:
                if isinstance(effect, Applied) and isinstance(effect.oplog, Increment):
                    oplog, local = effect.oplog, effect.oplog.parts[0].rows // self.system.shards
                    clients = rows_of(np.flatnonzero(subscribed[:, local].any(axis=1)))
                    yield WasApplied(oplog.worker, oplog.seq, shard, effect.apply_index, clients)


def space_of(system: System) -> Space:
    """The graph for the policy of ``system``."""
    if system.gated:
        return GatedSpace(system)
    return FullSpace(system) if system.full else Space(system)

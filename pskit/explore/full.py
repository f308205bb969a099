"""The graph of all states of a system in which there may be no room for pushes.

Whenever a shard pushes there may be no room for the push to one of the clients: then the client is behind,
until there is room again, which may be at once or any time after, and is bound to come.
"""

from collections.abc import Iterator

from pskit.explore.outcomes import Failure, Outcome
from pskit.explore.space import Event, Space, State


class FullSpace(Space):
    """See `Space`."""

    def successors(self, state: State) -> list[State | Failure]:
        return super().successors(state) + [event.outcome for event in self._more(state)]

    def events(self, state: State) -> Iterator[Event]:
        yield from self._events(state, super().successors(state))
        yield from self._more(state)

    def at_rest(self, state: State) -> bool:
        shards = state[self.n_clients :]
        return super().at_rest(state) and not any(self.machines.shard(number).owed for number in shards)

    def _more(self, state: State) -> Iterator[Event]:
        n, machines = self.n_clients, self.machines
        for c in range(n):
            for j, what, side, messages in self.sides.upwards[state[c]]:
                for full in range(n):
                    (message,) = messages
                    outcome = machines.put_off[state[n + j], message, full]
                    if outcome is not None:
                        name = f"client {c} to shard {j}: {what}, no room for client {full}"
                        yield self._event(name, (*state[:c], side, *state[c + 1 :]), j, messages, outcome)
        for j in range(self.system.shards):
            for client, outcome in machines.rooms[state[n + j]]:
                yield self._event(f"shard {j} has room for client {client}", state, j, (), outcome)

    def _event(self, name: str, state: State, j: int, messages: tuple[int, ...], outcome: Outcome) -> Event:
        if isinstance(outcome, Failure):
            return Event(name, outcome, messages, (outcome,))
        new = list(state)
        new[self.n_clients + j] = outcome.state
        for client, message in outcome.sends:
            new[client] = self.sides.received[new[client], j, (message,)]
        return Event(name, tuple(new), messages, (outcome,))

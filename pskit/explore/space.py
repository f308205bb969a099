"""The graph of all states of a system.

A state is a tuple of numbers: a side (a client and all its links) for each client, then a state for each
shard. What happens at a side alone is looked up in one step, and so is what a shard does with a message.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pskit.explore.channels import Channels
from pskit.explore.links import Queues
from pskit.explore.machines import Machines
from pskit.explore.memo import Memo
from pskit.explore.outcomes import Failure, Outcome
from pskit.explore.sides import Side, Sides
from pskit.explore.system import System

State = tuple[int, ...]


class Event(NamedTuple):
    """Something that can happen in a state.

    Attributes
    ----------
    name : str
        Unique among the events of a state.
    outcome : State or Failure
    messages : tuple of int
        What arrives.
    calls : tuple of Outcome
        What the machine made of it.
    """

    name: str
    outcome: State | Failure
    messages: tuple[int, ...]
    calls: tuple[Outcome, ...]


class Sent(NamedTuple):
    """A shard's state after messages, what it sent to each client, and the calls that did it."""

    shard: int | Failure
    sends: tuple[tuple[int, tuple[int, ...]], ...]
    calls: tuple[Outcome, ...]


class Space:
    """States and what leads from one to another.

    Parameters
    ----------
    system : System

    Attributes
    ----------
    start : State
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.n_clients = C = system.clients
        self.machines = Machines(system)
        self.sides = Sides(self.machines, Channels() if system.lossy else Queues())
        quiet = (0,) * system.shards
        first = self.machines.start
        self.start: State = (*(self.sides.sides.of(Side(c, quiet, quiet)) for c in first[:C]), *first[C:])
        self._sent = Memo(self._deliver)
        self._pairs: Memo[tuple[int, int], str | None] = Memo(lambda pair: self.machines.check_pair(*pair))

    def successors(self, state: State) -> list[State | Failure]:
        """What each event of `events` leads to, in that order."""
        n, sides = self.n_clients, self.sides
        out: list[State | Failure] = []
        for c in range(n):
            before, after = state[:c], state[c + 1 :]
            for _, side, _, _ in sides.locals[state[c]]:
                out.append(side if isinstance(side, Failure) else (*before, side, *after))
        for c in range(n):
            for j, _, side, messages in sides.upwards[state[c]]:
                sent = self._sent[state[n + j], messages]
                if isinstance(sent.shard, Failure):
                    out.append(sent.shard)
                    continue
                new = list(state)
                new[c], new[n + j] = side, sent.shard
                for client, answers in sent.sends:
                    new[client] = sides.received[new[client], j, answers]
                out.append(tuple(new))
        return out

    def events(self, state: State) -> Iterator[Event]:
        """All that can happen in ``state``."""
        return self._events(state, self.successors(state))

    def _events(self, state: State, successors: list[State | Failure]) -> Iterator[Event]:
        outcomes = iter(successors)
        for c in range(self.n_clients):
            for name, _, messages, calls in self.sides.locals[state[c]]:
                yield Event(name, next(outcomes), messages, calls)
        for c in range(self.n_clients):
            for j, what, _, messages in self.sides.upwards[state[c]]:
                calls = self._sent[state[self.n_clients + j], messages].calls
                yield Event(f"client {c} to shard {j}: {what}", next(outcomes), messages, calls)

    def wrong(self, state: State) -> str | None:
        """An invariant that ``state`` breaks, if any."""
        n, sides = self.n_clients, self.sides
        for side in state[:n]:
            for j in sides.quiet_shards[side]:
                if violation := self._pairs[sides.sides[side].client, state[n + j]]:
                    return violation
        if not self.at_rest(state):
            return None
        shards = state[n : n + self.system.shards]
        return self.machines.check_rest(tuple(sides.sides[side].client for side in state[:n]), shards)

    def at_rest(self, state: State) -> bool:
        """Whether nothing is bound to happen any more."""
        busy = self.sides.busy
        return not any(busy[side] for side in state[: self.n_clients])

    def _deliver(self, key: tuple[int, tuple[int, ...]]) -> Sent:
        shard, messages = key
        sends: dict[int, list[int]] = {}
        calls: list[Outcome] = []
        for message in messages:
            outcome = self.machines.delivered[shard, message]
            calls.append(outcome)
            if isinstance(outcome, Failure):
                return Sent(outcome, (), tuple(calls))
            shard = outcome.state
            for client, answer in outcome.sends:
                sends.setdefault(client, []).append(answer)
        by_client = tuple((client, tuple(answers)) for client, answers in sends.items())
        return Sent(shard, by_client, tuple(calls))

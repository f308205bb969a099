"""A client with all its links: everything that happens there without a shard is looked up in one step."""

from typing import NamedTuple

from pskit.explore.channels import Channels
from pskit.explore.links import Queues
from pskit.explore.machines import Machines
from pskit.explore.memo import Memo, Numbers
from pskit.explore.outcomes import Failure, Outcome

Links = Queues | Channels
Sends = tuple[tuple[int, int], ...]


class Side(NamedTuple):
    """A client's state and the contents of its links to and from each shard, all as numbers."""

    client: int
    up: tuple[int, ...]
    down: tuple[int, ...]


class Local(NamedTuple):
    """Something that happens at a side alone: a name for it, and the side's number after that.

    ``messages`` arrive, and ``calls`` are what the client made of it.
    """

    name: str
    side: int | Failure
    messages: tuple[int, ...]
    calls: tuple[Outcome, ...]


class Upward(NamedTuple):
    """Something that happens on a link up: the side's number after that, what the shard gets."""

    shard: int
    what: str
    side: int
    messages: tuple[int, ...]


class Sides:
    """All sides that were met, numbered, and what can happen at each.

    Attributes
    ----------
    sides : Numbers of Side
    locals : mapping of int to tuple of Local
        What can happen without a shard: the client's own choices, arrivals at the client.
    upwards : mapping of int to tuple of Upward
        What can happen on the links up.
    received : mapping of (side, shard, messages) to int
        The side once the shard has sent the messages to it.
    quiet_shards : mapping of int to tuple of int
        Shards with nothing under way between them and the side.
    busy : mapping of int to bool
        Whether something is bound to happen at the side; an eviction need not.
    """

    def __init__(self, machines: Machines, links: Links) -> None:
        self._machines, self.links = machines, links
        self.sides = Numbers[Side]()
        self.locals = Memo(self._locals)
        self.upwards = Memo(self._upwards)
        self.received = Memo(self._received)
        self.quiet_shards = Memo(self._quiet_shards)
        self.busy = Memo(self._busy)

    def _locals(self, number: int) -> tuple[Local, ...]:
        client, up, down = self.sides[number]
        c = self._machines.client(client).client
        found = []
        for (what, which), outcome in self._machines.choices[client]:
            name = f"worker {which} goes on" if what == "step" else f"client {c} evicts row {which}"
            found.append(Local(name, self._after(up, down, outcome), (), (outcome,)))
        for j, content in enumerate(down):
            for what, rest, messages in self.links.arrivals[content]:
                name = f"shard {j} to client {c}: {what}"
                found.append(self._arrived(name, Side(client, up, replaced(down, j, rest)), messages))
        return tuple(found)

    def _arrived(self, name: str, side: Side, messages: tuple[int, ...]) -> Local:
        client, up, down = side
        calls: list[Outcome] = []
        for message in messages:
            outcome = self._machines.delivered[client, message]
            calls.append(outcome)
            if isinstance(outcome, Failure):
                return Local(name, outcome, messages, tuple(calls))
            client, up = outcome.state, self._appended(up, outcome.sends)
        return Local(name, self.sides.of(Side(client, up, down)), messages, tuple(calls))

    def _after(self, up: tuple[int, ...], down: tuple[int, ...], outcome: Outcome) -> int | Failure:
        if isinstance(outcome, Failure):
            return outcome
        return self.sides.of(Side(outcome.state, self._appended(up, outcome.sends), down))

    def _appended(self, up: tuple[int, ...], sends: Sends) -> tuple[int, ...]:
        for shard, message in sends:
            up = replaced(up, shard, self.links.append(up[shard], message))
        return up

    def _upwards(self, number: int) -> tuple[Upward, ...]:
        client, up, down = self.sides[number]
        return tuple(
            Upward(j, what, self.sides.of(Side(client, replaced(up, j, rest), down)), messages)
            for j, content in enumerate(up)
            for what, rest, messages in self.links.arrivals[content]
        )

    def _received(self, key: tuple[int, int, tuple[int, ...]]) -> int:
        number, shard, messages = key
        client, up, down = self.sides[number]
        content = down[shard]
        for message in messages:
            content = self.links.append(content, message)
        return self.sides.of(Side(client, up, replaced(down, shard, content)))

    def _quiet_shards(self, number: int) -> tuple[int, ...]:
        _, up, down = self.sides[number]
        quiet = self.links.is_quiet
        return tuple(j for j in range(len(up)) if quiet(up[j]) and quiet(down[j]))

    def _busy(self, number: int) -> bool:
        bound = any("evicts" not in local.name for local in self.locals[number])
        return bound or bool(self.upwards[number])


def replaced(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    """``values`` with another one at place ``at``."""
    return (*values[:at], value, *values[at + 1 :])

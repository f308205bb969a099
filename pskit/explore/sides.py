"""A client with all its links: everything that happens there without a shard is looked up in one step."""

from typing import NamedTuple

from pskit.explore.channels import Channels
from pskit.explore.links import Arrival, Queues
from pskit.explore.machines import Choice, Failure, Machines

Links = Queues | Channels


class Side(NamedTuple):
    """A client's state and the contents of its links to and from each shard, all as numbers."""

    client: int
    up: tuple[int, ...]
    down: tuple[int, ...]


class Local(NamedTuple):
    """Something that happens at a side alone: ``side`` is its number after that."""

    what: Choice | tuple[str, str, int]
    side: int | Failure


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
    sides : list of Side
    """

    def __init__(self, machines: Machines, links: Links) -> None:
        self._machines, self.links = machines, links
        self.sides: list[Side] = []
        self._numbers: dict[Side, int] = {}
        self._locals: list[tuple[Local, ...] | None] = []
        self._upwards: list[tuple[Upward, ...] | None] = []
        self._received: list[dict[tuple[int, tuple[int, ...]], int]] = []

    def number(self, side: Side) -> int:
        """Number of a side."""
        number = self._numbers.get(side)
        if number is None:
            number = self._numbers[side] = len(self.sides)
            self.sides.append(side)
            self._locals.append(None)
            self._upwards.append(None)
            self._received.append({})
        return number

    def locals(self, number: int) -> tuple[Local, ...]:
        """What can happen without a shard: the client's own choices, arrivals at the client."""
        found = self._locals[number]
        if found is None:
            found = self._locals[number] = tuple(self._find_locals(self.sides[number]))
        return found

    def upwards(self, number: int) -> tuple[Upward, ...]:
        """What can happen on the links up."""
        found = self._upwards[number]
        if found is None:
            client, up, down = self.sides[number]
            found = self._upwards[number] = tuple(
                Upward(j, what, self.number(Side(client, replaced(up, j, rest), down)), messages)
                for j, content in enumerate(up)
                for what, rest, messages in self.links.arrivals(content)
            )
        return found

    def receive(self, number: int, shard: int, messages: tuple[int, ...]) -> int:
        """The side once ``shard`` has sent ``messages`` to it."""
        key = (shard, messages)
        after = self._received[number].get(key)
        if after is None:
            client, up, down = self.sides[number]
            content = down[shard]
            for message in messages:
                content = self.links.append(content, message)
            after = self._received[number][key] = self.number(Side(client, up, replaced(down, shard, content)))
        return after

    def quiet_shards(self, number: int) -> tuple[int, ...]:
        """Shards with nothing under way between them and this side."""
        _, up, down = self.sides[number]
        quiet = self.links.is_quiet
        return tuple(j for j in range(len(up)) if quiet(up[j]) and quiet(down[j]))

    def is_busy(self, number: int) -> bool:
        """Whether something must happen here sooner or later; an eviction need not."""
        return any(what.what[0] != "evict" for what in self.locals(number)) or bool(self.upwards(number))

    def _find_locals(self, side: Side) -> "list[Local]":
        client, up, down = side
        found = []
        for choice, outcome in self._machines.choices(client):
            if isinstance(outcome, Failure):
                found.append(Local(choice, outcome))
            else:
                found.append(Local(choice, self._sent(outcome.state, up, down, outcome.sends)))
        for j, content in enumerate(down):
            for arrival in self.links.arrivals(content):
                after = self._arrived(client, up, replaced(down, j, arrival.rest), arrival)
                found.append(Local((arrival.what, "down", j), after))
        return found

    def _arrived(self, client: int, up: tuple[int, ...], down: tuple[int, ...], arrival: Arrival) -> int | Failure:
        for message in arrival.messages:
            outcome = self._machines.deliver(client, message)
            if isinstance(outcome, Failure):
                return outcome
            client = outcome.state
            up = self._appended(up, outcome.sends)
        return self.number(Side(client, up, down))

    def _sent(
        self, client: int, up: tuple[int, ...], down: tuple[int, ...], sends: tuple[tuple[int, int], ...]
    ) -> int:
        return self.number(Side(client, self._appended(up, sends), down))

    def _appended(self, up: tuple[int, ...], sends: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
        for shard, message in sends:
            up = replaced(up, shard, self.links.append(up[shard], message))
        return up


def replaced(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    """``values`` with another one at place ``at``."""
    return (*values[:at], value, *values[at + 1 :])

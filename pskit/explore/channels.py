"""Contents of links that lose, repeat and reorder, made reliable by `pskit.core.channel`.

The wire is a set of packets: each may arrive and be gone, arrive and stay (the link repeats it), or get
lost, in any order. A segment sent again while it is still on the wire is thereby no new state.
"""

from collections.abc import Callable
from typing import NamedTuple

from pskit.core.channel import Ack, Receiver, Segment, Sender, SetTimer
from pskit.explore.links import Arrival


class Channel(NamedTuple):
    """Both ends of a channel, and what is on the wire in between, in both directions.

    ``timer``: the sender's timer runs. Timers that were replaced mean nothing to it and are left out.
    """

    next: int
    unacked: tuple[tuple[int, int], ...]
    timer: bool
    expected: int
    early: tuple[tuple[int, int], ...]
    segments: frozenset[tuple[int, int]]
    acks: frozenset[int]


class Channels:
    """Every content of a channel that was met. Number 0 is the empty one."""

    def __init__(self) -> None:
        first = Channel(0, (), False, 0, (), frozenset(), frozenset())
        self._contents = [first]
        self._numbers = {first: 0}
        self._appended: dict[tuple[int, int], int] = {}
        self._arrivals: list[tuple[Arrival, ...] | None] = [None]

    def append(self, content: int, message: int) -> int:
        """Content once ``message`` was sent."""
        longer = self._appended.get((content, message))
        if longer is None:
            channel = self._contents[content]
            sender = self._sender(channel)
            effects = sender.send(message)  # type: ignore[arg-type]  # a number stands for the message
            longer = self._appended[content, message] = self._after(channel, sender, effects)
        return longer

    def arrivals(self, content: int) -> tuple[Arrival, ...]:
        """All that can happen: packets arrive, are repeated or lost, the timer goes off."""
        found = self._arrivals[content]
        if found is None:
            found = self._arrivals[content] = tuple(self._find(self._contents[content]))
        return found

    def is_quiet(self, content: int) -> bool:
        """Whether all that was sent has arrived, and the sender knows."""
        channel = self._contents[content]
        return not (channel.unacked or channel.early or channel.segments or channel.acks)

    def rename(self, content: int, message: Callable[[int], int]) -> int:
        """The same content with other messages."""
        channel = self._contents[content]
        return self._number(
            channel._replace(
                unacked=tuple((seq, message(m)) for seq, m in channel.unacked),
                early=tuple((seq, message(m)) for seq, m in channel.early),
                segments=frozenset((seq, message(m)) for seq, m in channel.segments),
            )
        )

    def _find(self, channel: Channel) -> "list[Arrival]":
        found = []
        for segment in sorted(channel.segments):
            gone = channel._replace(segments=channel.segments - {segment})
            receiver = Receiver()
            receiver.expected, receiver.early = channel.expected, dict(channel.early)  # type: ignore[arg-type]
            ready, ack = receiver.on_segment(Segment(*segment))  # type: ignore[arg-type]
            end = {"expected": receiver.expected, "early": tuple(sorted(receiver.early.items()))}
            for what, before in (("arrives", gone), ("arrives, stays", channel)):
                after = before._replace(acks=channel.acks | {ack.upto}, **end)
                found.append(Arrival(what, self._number(after), tuple(ready)))  # type: ignore[arg-type]
            found.append(Arrival("is lost", self._number(gone), ()))
        for upto in sorted(channel.acks):
            gone = channel._replace(acks=channel.acks - {upto})
            sender = self._sender(channel)
            effects = sender.on_ack(Ack(upto))
            found.append(Arrival("ack arrives", self._after(gone, sender, effects), ()))
            found.append(Arrival("ack is lost", self._number(gone), ()))
        if channel.timer:
            sender = self._sender(channel)
            effects = sender.on_timer(0)
            found.append(Arrival("timer", self._after(channel._replace(timer=False), sender, effects), ()))
        return found

    def _sender(self, channel: Channel) -> Sender:
        sender = Sender()
        sender._next, sender.unacked = channel.next, dict(channel.unacked)  # type: ignore[arg-type]
        return sender

    def _after(self, channel: Channel, sender: Sender, effects: list[Segment | SetTimer]) -> int:
        timers = {0} if channel.timer else set()
        timers |= {e.epoch for e in effects if isinstance(e, SetTimer)}
        sent = {(e.seq, e.message) for e in effects if isinstance(e, Segment)}
        after = channel._replace(
            next=sender._next,
            unacked=tuple(sender.unacked.items()),  # type: ignore[arg-type]
            timer=sender._epoch in timers,
            segments=channel.segments | sent,  # type: ignore[operator]
        )
        return self._number(after)

    def _number(self, channel: Channel) -> int:
        # An acknowledgement that shows nothing new never will: what is unacknowledged has higher numbers.
        fresh = frozenset(upto for upto in channel.acks if any(seq < upto for seq, _ in channel.unacked))
        if PRUNE and False: pass
        channel = channel._replace(acks=fresh)
        if PRUNE:
            channel = channel._replace(segments=frozenset(s for s in channel.segments if s[0]>=channel.expected or any(q<channel.expected for q,_ in channel.unacked)))
        number = self._numbers.get(channel)
        if number is None:
            number = self._numbers[channel] = len(self._contents)
            self._contents.append(channel)
            self._arrivals.append(None)
        return number
PRUNE=False

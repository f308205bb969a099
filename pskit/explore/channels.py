"""Contents of links that lose, repeat and reorder, made reliable by `pskit.core.channel`.

The wire is a set of packets: each may arrive and be gone, arrive and stay (so the link repeats it), or get
lost, in any order. A segment sent again while it is still on the wire is thereby no new state.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from pskit.core.channel import Ack, Receiver, Segment, Sender, SetTimer
from pskit.explore.links import Arrival
from pskit.explore.memo import Memo, Numbers

Numbered = tuple[tuple[int, int], ...]
"""Messages by their number in the channel."""


class Channel(NamedTuple):
    """Both ends of a channel, and what is on the wire in between, in both directions.

    ``timer``: the sender's timer runs. Timers that were replaced mean nothing to it and are left out.
    """

    next: int
    unacked: Numbered
    timer: bool
    expected: int
    early: Numbered
    segments: frozenset[tuple[int, int]]
    acks: frozenset[int]


class Channels:
    """Every content of a channel that was met. Number 0 is the empty one.

    The core's ends carry messages without a look at them: here numbers, in a run the messages themselves.

    Attributes
    ----------
    arrivals : mapping of int to tuple of Arrival
        What can happen to a content: packets arrive, are repeated or lost, the timer goes off.
    """

    def __init__(self) -> None:
        self._contents = Numbers[Channel]()
        self._contents.of(Channel(0, (), False, 0, (), frozenset(), frozenset()))
        self.arrivals = Memo(self._find)

    def append(self, content: int, message: int) -> int:
        """Content once ``message`` was sent."""
        channel = self._contents[content]
        sender = _sender(channel)
        return self._after(channel, sender, sender.send(_any(message)))

    def is_quiet(self, content: int) -> bool:
        """Whether nothing is under way or may be sent again."""
        channel = self._contents[content]
        return not (channel.unacked or channel.early or channel.segments or channel.acks)

    def rename(self, content: int, message: Callable[[int], int]) -> int:
        """The same content with other messages."""
        channel = self._contents[content]

        def renamed(numbered: Numbered | frozenset[tuple[int, int]]) -> Any:
            return ((seq, message(m)) for seq, m in numbered)

        return self._number(
            channel._replace(
                unacked=tuple(renamed(channel.unacked)),
                early=tuple(renamed(channel.early)),
                segments=frozenset(renamed(channel.segments)),
            )
        )

    # -- what can happen -----------------------------------------------------------------------------

    def _find(self, content: int) -> tuple[Arrival, ...]:
        channel = self._contents[content]
        return (
            *(a for segment in sorted(channel.segments) for a in self._of_segment(channel, *segment)),
            *(a for upto in sorted(channel.acks) for a in self._of_ack(channel, upto)),
            *self._of_timer(channel),
        )

    def _of_segment(self, channel: Channel, seq: int, message: int) -> list[Arrival]:
        receiver = Receiver()
        receiver.expected, receiver.early = channel.expected, _any(dict(channel.early))
        ready, ack = receiver.on_segment(Segment(seq, _any(message)))
        stays = channel._replace(
            expected=receiver.expected,
            early=tuple(sorted(_any(receiver.early).items())),
            acks=channel.acks | {ack.upto},
        )
        others = channel.segments - {(seq, message)}
        got = tuple(map(_any, ready))
        return [
            Arrival(f"segment {seq} arrives", self._number(stays._replace(segments=others)), got),
            Arrival(f"segment {seq} arrives, and once more", self._number(stays), got),
            Arrival(f"segment {seq} is lost", self._number(channel._replace(segments=others)), ()),
        ]

    def _of_ack(self, channel: Channel, upto: int) -> list[Arrival]:
        gone = channel._replace(acks=channel.acks - {upto})
        sender = _sender(channel)
        effects = sender.on_ack(Ack(upto))
        return [
            Arrival(f"ack {upto} arrives", self._after(gone, sender, effects), ()),
            Arrival(f"ack {upto} is lost", self._number(gone), ()),
        ]

    def _of_timer(self, channel: Channel) -> list[Arrival]:
        if not channel.timer:
            return []
        sender = _sender(channel)
        effects = sender.on_timer(sender._epoch)
        return [Arrival("timer", self._after(channel._replace(timer=False), sender, effects), ())]

    def _after(self, channel: Channel, sender: Sender, effects: list[Segment | SetTimer]) -> int:
        timers = {0} if channel.timer else set()
        timers |= {e.epoch for e in effects if isinstance(e, SetTimer)}
        sent = frozenset((e.seq, _any(e.message)) for e in effects if isinstance(e, Segment))
        return self._number(
            channel._replace(
                next=sender._next,
                unacked=tuple((seq, _any(m)) for seq, m in sender.unacked.items()),
                timer=sender._epoch in timers,
                segments=channel.segments | sent,
            )
        )

    def _number(self, channel: Channel) -> int:
        # An acknowledgement of what the sender has forgotten never matters again: later numbers are higher.
        told = frozenset(upto for upto in channel.acks if any(seq < upto for seq, _ in channel.unacked))
        return self._contents.of(channel._replace(acks=told))


def _sender(channel: Channel) -> Sender:
    """The sending end, its running timer under epoch 0."""
    sender = Sender()
    sender._next, sender.unacked = channel.next, _any(dict(channel.unacked))
    return sender


def _any(message: Any) -> Any:
    """A number where the core has a message, and the other way round."""
    return message

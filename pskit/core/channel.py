"""Reliable FIFO delivery over a link that loses, repeats or reorders.

One `Sender` and one `Receiver` per directed link. The rules:

1. Segments are numbered 0, 1, 2, ... by the sender and kept until acknowledged.
2. The receiver hands messages on in order, each once; early ones wait in its reorder buffer.
3. Every segment received is answered by a cumulative acknowledgement: the number expected next.
   Acknowledgements may themselves be lost.
4. While anything is unacknowledged a timer is set; when it goes off the oldest segment is sent again,
   and the next timer runs twice as long (else retransmissions could fill a slow card for ever). An
   acknowledgement that shows progress sets the timer anew, to its first length.
"""

from typing import NamedTuple

from pskit.core.messages import Message

MOST_DOUBLINGS = 10


class Segment(NamedTuple):
    """A numbered message on the wire."""

    seq: int
    message: Message


class Ack(NamedTuple):
    """All segments below ``upto`` have been received."""

    upto: int


class SetTimer(NamedTuple):
    """Effect: call `Sender.on_timer` with this ``epoch`` after the link's retransmission time.

    That time is to be doubled ``doublings`` times.
    """

    epoch: int
    doublings: int


class Sender:
    """Sending end of a channel; every method returns what to put on the wire and which timer to set."""

    __slots__ = ("_doublings", "_epoch", "_next", "unacked")

    def __init__(self) -> None:
        self._next = 0
        self._epoch = 0
        self._doublings = 0
        self.unacked: dict[int, Message] = {}  # ascending by insertion

    def send(self, message: Message) -> list[Segment | SetTimer]:
        """Number ``message`` and send it."""
        out: list[Segment | SetTimer] = [Segment(self._next, message)]
        if not self.unacked:
            out.append(self._timer())
        self.unacked[self._next] = message
        self._next += 1
        return out

    def on_ack(self, ack: Ack) -> list[Segment | SetTimer]:
        """Forget what has arrived; the timer starts anew if anything is left."""
        arrived = [seq for seq in self.unacked if seq < ack.upto]
        for seq in arrived:
            del self.unacked[seq]
        if not arrived:
            return []
        self._doublings = 0
        if self.unacked:
            return [self._timer()]
        self._epoch += 1  # nothing outstanding: a timer still running means nothing
        return []

    def on_timer(self, epoch: int) -> list[Segment | SetTimer]:
        """Send the oldest unacknowledged segment again, unless the timer was replaced meanwhile."""
        if epoch != self._epoch or not self.unacked:
            return []
        self._doublings = min(self._doublings + 1, MOST_DOUBLINGS)
        oldest = next(iter(self.unacked))
        return [Segment(oldest, self.unacked[oldest]), self._timer()]

    def _timer(self) -> SetTimer:
        self._epoch += 1
        return SetTimer(self._epoch, self._doublings)


class Receiver:
    """Receiving end of a channel."""

    __slots__ = ("early", "expected")

    def __init__(self) -> None:
        self.expected = 0
        self.early: dict[int, Message] = {}

    def on_segment(self, segment: Segment) -> tuple[list[Message], Ack]:
        """Messages that are now in order, and the acknowledgement to send."""
        if segment.seq >= self.expected:
            self.early[segment.seq] = segment.message
        ready = []
        while self.expected in self.early:
            ready.append(self.early.pop(self.expected))
            self.expected += 1
        return ready, Ack(self.expected)

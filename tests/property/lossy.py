"""The cluster over links that lose, repeat and reorder, made reliable by `pskit.core.channel`."""

from pskit.core.channel import Ack, Receiver, Segment, Sender, SetTimer
from pskit.core.messages import Message
from tests.property.cluster import Cluster, Link


class LossyCluster(Cluster):
    """Every link has a channel; `wire` holds its packets, segments one way and acknowledgements back.

    A timer is only a number here, and goes off when a test says so.
    """

    def __init__(self, **sizes) -> None:
        super().__init__(**sizes)
        self.wire: dict[Link, list[Segment | Ack]] = {link: [] for link in self.links}
        self.senders = {link: Sender() for link in self.links}
        self.receivers = {link: Receiver() for link in self.links}
        self.timers: dict[Link, list[int]] = {link: [] for link in self.links}
        self.repeats = 0

    @property
    def busy(self) -> list[Link]:
        return [link for link, sender in self.senders.items() if sender.unacked or self.wire[link]]

    def messages(self, link: Link) -> list[Message]:
        packets = [p.message for p in self.wire[link] if isinstance(p, Segment)]
        return [*packets, *self.senders[link].unacked.values(), *self.receivers[link].early.values()]

    def deliver(self, link: Link) -> None:
        """Some packet of ``link`` arrives, or its timer goes off when the wire is empty."""
        if self.wire[link]:
            self.arrive(link, 0)
        else:
            self.time_out(link)

    def arrive(self, link: Link, i: int) -> None:
        """The packet ``i`` on the wire arrives, whatever was sent before it."""
        packet = self.wire[link].pop(i)
        if isinstance(packet, Ack):
            self._emit(link, self.senders[link].on_ack(packet))
            return
        ready, ack = self.receivers[link].on_segment(packet)
        self.wire[link].append(ack)
        for message in ready:
            self._arrived(link, message)

    def lose(self, link: Link, i: int) -> None:
        del self.wire[link][i]

    def repeat(self, link: Link, i: int) -> None:
        self.wire[link].append(self.wire[link][i])
        self.repeats += 1

    def time_out(self, link: Link) -> None:
        """All timers that were set go off, stale ones too, in any case one that is not."""
        sender, epochs = self.senders[link], self.timers[link]
        before = len(self.wire[link])
        self.timers[link] = []
        for epoch in epochs:
            self._emit(link, sender.on_timer(epoch))
        sent = len(self.wire[link]) - before
        assert sent == bool(sender.unacked), "one timer that counts, while anything is unacknowledged"

    def _put(self, link: Link, message: Message) -> None:
        self._emit(link, self.senders[link].send(message))

    def _emit(self, link: Link, effects: list[Segment | SetTimer]) -> None:
        for effect in effects:
            if isinstance(effect, SetTimer):
                self.timers[link].append(effect.epoch)
            else:
                self.wire[link].append(effect)

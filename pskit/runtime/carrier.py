"""Gives the links between core machines what the protocol assumes: every message once, in order.

End points are integers: client ``c`` is ``c``, shard ``j`` is ``clients + j``.
"""

from abc import ABC, abstractmethod
from typing import Any

from pskit.core.channel import Ack, Receiver, Segment, Sender, SetTimer
from pskit.core.layout import Layout
from pskit.core.messages import HEADER_BYTES, Increment, Message, Oplog, Push, Reply, Request, Unsubscribe
from pskit.emulation.network import Network
from pskit.errors import InputError
from pskit.runtime.events import DELIVER, TIMER, Event, EventQueue, too_late
from pskit.trace.schema import MESSAGE_KINDS

KIND: dict[type, int] = {
    t: MESSAGE_KINDS.index(t.__name__.lower()) for t in (Request, Reply, Oplog, Push, Unsubscribe, Ack)
}
KIND[Increment] = KIND[Oplog]
ACK_BYTES = HEADER_BYTES

NEVER = -1
"""Delivery time recorded for a message that the link lost."""


def end_name(end: int, clients: int) -> str:
    """What messages call the end point ``end``."""
    return f"client {end}" if end < clients else f"shard {end - clients}"


class Carrier(ABC):
    """Gives reliable FIFO delivery to links that lack it; how a packet travels is a subclass' `_transmit`.

    Parameters
    ----------
    network : Network
    queue : EventQueue
        Receives packets and timers, and says what time it is.
    layout : Layout
    ends : int
        Number of end points.
    retransmit : int, ns
        Retransmission time of channels on links that lose or reorder.
    """

    def __init__(
        self, network: Network, queue: EventQueue, layout: Layout, ends: int, retransmit: int
    ) -> None:
        self.network, self.queue, self.layout = network, queue, layout
        self.retransmit = retransmit
        self.sent = 0
        self._size = ends
        self._all_plain = network.reliable
        self._plain: set[int] = set()  # links without a channel, src * size + dst
        self._senders: dict[tuple[int, int], Sender] = {}
        self._receivers: dict[tuple[int, int], Receiver] = {}

    def send(self, src: int, dst: int, message: Message) -> None:
        """Send ``message`` from end point ``src`` to ``dst`` now."""
        if self._is_plain(src, dst):
            self._transmit(src, dst, message, message)
        else:
            sender = self._senders.get((src, dst)) or self._senders.setdefault((src, dst), Sender())
            self._carry_out(src, dst, sender.send(message))

    def _is_plain(self, src: int, dst: int) -> bool:
        """Whether the link needs no channel; acknowledgements would come back over the reverse one."""
        if self._all_plain or src * self._size + dst in self._plain:
            return True
        if self.network.lossy(src, dst) or self.network.lossy(dst, src):
            return False
        self._plain.add(src * self._size + dst)
        return True

    def arrive(self, dst: int, src: int, packet: Segment | Ack) -> list[Message]:
        """Messages made ready, in order, by a channel's ``packet`` from ``src`` that arrived at ``dst``."""
        if isinstance(packet, Segment):
            receiver = self._receivers.get((src, dst)) or self._receivers.setdefault((src, dst), Receiver())
            ready, ack = receiver.on_segment(packet)
            self._transmit(dst, src, ack, ack)
            return ready
        self._carry_out(dst, src, self._senders[dst, src].on_ack(packet))
        return []

    def timer(self, dst: int, src: int, epoch: int) -> None:
        """The retransmission timer of the channel from ``src`` to ``dst`` went off."""
        self._carry_out(src, dst, self._senders[src, dst].on_timer(epoch))

    def _carry_out(self, src: int, dst: int, effects: list[Segment | SetTimer]) -> None:
        for effect in effects:
            if isinstance(effect, Segment):
                self._transmit(src, dst, effect, effect.message)
            else:
                wait = self.retransmit << effect.doublings
                self.queue.add(self.queue.now + wait, TIMER, dst, src, effect.epoch)

    @abstractmethod
    def _transmit(self, src: int, dst: int, packet: Any, content: Message | Ack) -> None:
        """Put ``packet``, which holds ``content``, on its way from ``src`` to ``dst`` now."""

    def _too_late(self, src: int, dst: int, size: int) -> InputError:
        """The error of a message that would arrive after the end of emulated time."""
        clients = self._size - self.layout.shards
        link = f"from {end_name(src, clients)} to {end_name(dst, clients)}"
        return too_late(f"a message of {size} bytes on the link {link}", "[network]")

    def in_flight(self) -> list[Message]:
        """Messages on the wire or kept for retransmission or reordering."""
        packets = [e[5] for e in self._pending() if e[1] == DELIVER]
        flying = [m.message if type(m) is Segment else m for m in packets if type(m) is not Ack]
        for sender in self._senders.values():
            flying.extend(sender.unacked.values())
        for receiver in self._receivers.values():
            flying.extend(receiver.early.values())
        return flying

    def _pending(self) -> list[Event]:
        """Events that have not happened yet."""
        return self.queue.heap

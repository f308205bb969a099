"""Carries packets over the emulated network in virtual time."""

from heapq import heappush
from typing import Any

from pskit.core.channel import Ack
from pskit.core.layout import Layout
from pskit.core.messages import Message, wire_size
from pskit.emulation.network import Network
from pskit.runtime.carrier import ACK_BYTES, KIND, NEVER, Carrier
from pskit.runtime.events import DELIVER, LATEST, EventQueue, too_late
from pskit.trace.recorder import Recorder


class Transport(Carrier):
    """Sends messages, and turns arrivals back into messages in order.

    Parameters
    ----------
    network : Network
    queue : EventQueue
    layout : Layout
    recorder : Recorder
    ends : int
        Number of end points.
    retransmit : int, ns
        Retransmission time of channels on links that lose or reorder.
    """

    def __init__(
        self,
        network: Network,
        queue: EventQueue,
        layout: Layout,
        recorder: Recorder,
        ends: int,
        retransmit: int,
    ) -> None:
        super().__init__(network, queue, layout, ends, retransmit)
        self.recorder = recorder

    def _transmit(self, src: int, dst: int, packet: Any, content: Message | Ack) -> None:
        queue, number = self.queue, self.sent
        now = queue.now
        size, rows = (ACK_BYTES, 0) if isinstance(content, Ack) else wire_size(content, self.layout)
        visible_at, lost = self.network.send(now, src, dst, size)
        if visible_at > LATEST:
            link = f"from {self._end(src)} to {self._end(dst)}"
            raise too_late(f"a message of {size} bytes on the link {link}", "[network]")
        self.sent = number + 1
        self.recorder.message(
            number, KIND[type(content)], src, dst, now, NEVER if lost else visible_at, size, rows
        )
        if not lost:
            heappush(queue.heap, (visible_at, DELIVER, dst, src, queue.created, packet))
            queue.created += 1

    def _end(self, end: int) -> str:
        clients = self._size - self.layout.shards
        return f"client {end}" if end < clients else f"shard {end - clients}"

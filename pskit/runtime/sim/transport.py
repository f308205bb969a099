"""Carries packets over the emulated network in virtual time."""

from heapq import heappush
from typing import Any

import numpy as np

from pskit.core.channel import Ack
from pskit.core.layout import Layout
from pskit.core.messages import HEADER_BYTES, Message, Oplog, wire_size
from pskit.emulation.network import Network
from pskit.runtime.carrier import ACK_BYTES, KIND, NEVER, Carrier
from pskit.runtime.events import DELIVER, LATEST, Event, EventQueue
from pskit.runtime.sim.arrivals import first_of
from pskit.trace.recorder import Recorder

FAN_FROM = 8
"""Messages from which a fan is worth its making."""


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

    def send_all(self, src: int, dsts: list[int], messages: list[Message]) -> None:
        """Send ``messages`` from ``src`` to ``dsts`` now, in this order; cheaper than one by one."""
        n, now = len(dsts), self.queue.now
        if n < FAN_FROM or now > LATEST // 2 or not all(self._is_plain(src, dst) for dst in dsts):
            for dst, message in zip(dsts, messages, strict=True):
                self.send(src, dst, message)
            return
        queue, layout = self.queue, self.layout
        sizes = np.full((n, 2), (HEADER_BYTES, 0))
        for i, message in enumerate(messages):
            if type(message) is not Oplog or message.parts:
                sizes[i] = wire_size(message, layout)
        times = self.network.send_plain(now, src, dsts, sizes[:, 0])
        kinds = [KIND[type(message)] for message in messages]
        to = np.array(dsts, np.int64)
        self.recorder.messages(self.sent, kinds, src, to, now, times, sizes)
        heappush(queue.heap, first_of(times, to, src, queue.created, messages))
        self.sent += n
        queue.created += n

    def _transmit(self, src: int, dst: int, packet: Any, content: Message | Ack) -> None:
        queue, number = self.queue, self.sent
        now = queue.now
        size, rows = (ACK_BYTES, 0) if isinstance(content, Ack) else wire_size(content, self.layout)
        visible_at, lost = self.network.send(now, src, dst, size)
        if visible_at > LATEST:
            raise self._too_late(src, dst, size)
        self.sent = number + 1
        self.recorder.message(
            number, KIND[type(content)], src, dst, now, NEVER if lost else visible_at, size, rows
        )
        if not lost:
            heappush(queue.heap, (visible_at, DELIVER, dst, src, queue.created, packet, None))
            queue.created += 1

    def _pending(self) -> list[Event]:
        heap = self.queue.heap
        return heap + [event for first in heap if first[6] is not None for event in first[6].rest()]

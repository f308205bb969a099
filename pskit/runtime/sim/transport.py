"""Carries packets over the emulated network in virtual time."""

from heapq import heappush
from typing import Any

import numpy as np

from pskit.core.channel import Ack
from pskit.core.layout import Layout
from pskit.core.messages import HEADER_BYTES, Message, Oplog, ToShards, wire_size
from pskit.emulation.network import Network
from pskit.runtime.carrier import ACK_BYTES, KIND, NEVER, Carrier
from pskit.runtime.events import DELIVER, LATEST, Event, EventQueue
from pskit.runtime.sim.arrivals import Integers, first_of
from pskit.runtime.sim.ticks import Ticks
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
    ticks : Ticks or None
        Takes oplogs that carry nothing but a tick, where the shards do nothing but count and apply.
    """

    def __init__(
        self,
        network: Network,
        queue: EventQueue,
        layout: Layout,
        recorder: Recorder,
        ends: int,
        retransmit: int,
        ticks: Ticks | None = None,
    ) -> None:
        super().__init__(network, queue, layout, ends, retransmit)
        self.recorder, self._ticks = recorder, ticks
        self._shards = list(range(ends - layout.shards, ends))
        self._to_shards: Integers = np.array(self._shards)
        self._header: Integers = np.full((layout.shards, 2), (HEADER_BYTES, 0))
        self._all_shards = np.ones(layout.shards, np.bool_)

    def send_all(self, src: int, dsts: list[int], messages: list[Message]) -> None:
        """Send ``messages`` from ``src`` to ``dsts`` now, in this order; cheaper than one by one."""
        if not self._one_fan(src, dsts):
            for dst, message in zip(dsts, messages, strict=True):
                self.send(src, dst, message)
            return
        sizes = np.array([wire_size(message, self.layout) for message in messages], np.int64)
        kinds = [KIND[type(message)] for message in messages]
        to = np.array(dsts, np.int64)
        times, first = self._put_all(src, dsts, to, kinds, sizes)
        heappush(self.queue.heap, first_of(times, to, src, np.arange(first, first + len(dsts)), messages))

    def send_unit(self, src: int, unit: ToShards) -> None:
        """Send ``unit`` from ``src`` to all shards now; cheaper than one by one."""
        dsts = self._shards
        if not self._one_fan(src, dsts):
            for shard, dst in enumerate(dsts):
                self.send(src, dst, unit.to(shard))
            return
        heap, ticks = self.queue.heap, None if unit.tick.leaving else self._ticks
        loud = range(len(dsts)) if ticks is None else sorted(unit.parts)
        oplogs = [unit.to(shard) for shard in loud]
        sizes = self._header.copy()
        for shard, oplog in zip(loud, oplogs, strict=True):
            sizes[shard] = wire_size(oplog, self.layout)
        times, first = self._put_all(src, dsts, self._to_shards, KIND[Oplog], sizes)
        if ticks is not None and len(loud) < len(dsts):
            quiet = self._all_shards.copy()
            quiet[loud] = False
            ticks.add(times, self._to_shards, src, first, unit.tick, quiet)
        if len(loud) < FAN_FROM:
            for shard, oplog in zip(loud, oplogs, strict=True):
                heappush(heap, (times.item(shard), DELIVER, dsts[shard], src, first + shard, oplog, None))
        else:
            places = np.array(loud)
            heappush(heap, first_of(times[places], self._to_shards[places], src, places + first, oplogs))

    def _one_fan(self, src: int, dsts: list[int]) -> bool:
        """Whether messages to ``dsts`` can be sent together, and it pays."""
        if len(dsts) < FAN_FROM or self.queue.now > LATEST // 2:
            return False
        return self._all_plain or all(self._is_plain(src, dst) for dst in dsts)

    def _put_all(
        self, src: int, dsts: list[int], to: Integers, kinds: int | list[int], sizes: Integers
    ) -> tuple[Integers, int]:
        """Put messages to ``dsts`` (or ``to``) on their way: when they arrive, and the first number."""
        queue, first = self.queue, self.queue.created
        times = self.network.send_plain(queue.now, src, dsts, sizes[:, 0])
        self.recorder.messages(self.sent, kinds, src, to, queue.now, times, sizes)
        self.sent += len(dsts)
        queue.created += len(dsts)
        return times, first

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

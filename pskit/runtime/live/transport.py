"""Carries packets between processes: the emulated network says when, the rings carry the bytes."""

import time
from heapq import heappush
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from pskit.core.channel import Ack
from pskit.core.layout import Layout
from pskit.core.messages import Message, Push, wire_size
from pskit.core.rows import RowPools
from pskit.emulation.network import Network
from pskit.runtime.carrier import ACK_BYTES, KIND, NEVER, Carrier
from pskit.runtime.events import DELIVER, LATEST, EventQueue
from pskit.runtime.live.atomics import load_acquire
from pskit.runtime.live.bells import Bell
from pskit.runtime.live.codec import Bytes, Codec
from pskit.runtime.live.plan import RUNNING, STOP, Shared
from pskit.runtime.live.ring import READ, WRITTEN, RingReader, RingWriter
from pskit.trace.buffers import RecordBuffer

SENDING_WORDS = 6
"""Words in front of a packet: source, destination, time of sending, wire bytes, rows, number."""
PREFIX_BYTES = 256
"""More than an encoded packet has beside what `wire_size` counts twice, without its tables."""
SECONDS_BETWEEN_TRIES = 0.2e-3
LOG_WIDTH = 9
"""Columns of the log: time of sending, sender's process, number, kind, source, destination, time of delivery,
bytes, rows."""


@numba.njit(cache=True, nogil=True)
def first_filled(everything: Any, first: int, stride: int, n: int) -> int:
    """Number of the first of ``n`` rings with something in it, or -1; places in words of the arena."""
    for i in range(n):
        at = first + i * stride
        if load_acquire(everything, at + WRITTEN) != everything[at + READ]:
            return i
    return -1


class LiveTransport(Carrier):
    """The sending and receiving end of one process.

    Parameters
    ----------
    me : int
        Number of the process.
    shared : Shared
    bell : Bell
    network : Network
        The links from this process' end points are drawn here, and only here.
    mail : EventQueue
        Receives what arrives, to be handled once it is visible.
    pools : RowPools
    retransmit : int, ns
    """

    def __init__(
        self,
        me: int,
        shared: Shared,
        bell: Bell,
        network: Network,
        mail: EventQueue,
        pools: RowPools,
        retransmit: int,
    ) -> None:
        plan = shared.plan
        layout: Layout = pools.layout
        super().__init__(network, mail, layout, plan.clients + plan.shards, retransmit)
        self.posted = 0  # without those that were lost
        self._me, self._bell, self._codec = me, bell, Codec(pools)
        self._everything, self._clients, self._server = shared.everything, plan.clients, plan.server
        serving = me == plan.server
        peers = range(plan.clients) if serving else [me]
        self._writers = {
            (c if serving else plan.server): RingWriter(shared.ring(c, upward=not serving)) for c in peers
        }
        self._readers = [RingReader(shared.ring(c, upward=serving)) for c in peers]
        self._serving, self._control = serving, shared.control
        self._most_waiting = plan.ring_capacity
        self._gone: set[int] = set()
        self.pauses = 0
        self._first = plan.ring_at(peers[0], upward=serving) // 8
        self._stride = plan.ring_stride // 8
        self._logged: list[npt.NDArray[np.int64]] = []
        self._log = RecordBuffer(LOG_WIDTH)

    # -- sending -----------------------------------------------------------------------------------

    def send(self, src: int, dst: int, message: Message) -> None:
        """See `Carrier.send`; to a client that has died nothing is sent."""
        if dst not in self._gone:
            super().send(src, dst, message)

    def has_room_for(self, client: int, push: Push) -> bool:
        """Whether ``push`` to ``client`` would not wait in this process, but for pieces of a large one."""
        size, _ = wire_size(push, self.layout)
        return self._writers[client].has_room(2 * size + PREFIX_BYTES + 64 * len(self.layout.tables))

    def has_much_room(self, client: int) -> bool:
        """Whether the same holds for any push."""
        return self._writers[client].has_room(self._most_waiting)

    def forget(self, client: int) -> None:
        """``client`` has died: nothing goes there any more, and no answer of it is waited for."""
        self._gone.add(client)
        self._writers[client].give_up()
        for (_, dst), sender in self._senders.items():
            if dst == client:
                sender.unacked.clear()

    def _transmit(self, src: int, dst: int, packet: Any, content: Message | Ack) -> None:
        if dst in self._gone:
            return
        now, number = self.queue.now, self.sent
        size, rows = (ACK_BYTES, 0) if isinstance(content, Ack) else wire_size(content, self.layout)
        try:
            visible_at, lost = self.network.send(now, src, dst, size)
        except OverflowError:  # a time that no word of a link or card holds
            visible_at, lost = LATEST + 1, False
        if visible_at > LATEST:
            raise self._too_late(src, dst, size)
        self.sent = number + 1
        if lost:
            self._note((now, self._me, number, KIND[type(content)], src, dst, NEVER, size, rows))
            return
        self.posted += 1
        process = dst if dst < self._clients else self._server
        record = self._codec.encode(packet, (src, dst, now, size, rows, number))
        writer = self._writers[process]
        if writer.post(visible_at, record.nbytes, record.write_to):
            self._bell.ring(process)
            if writer.waiting > self._most_waiting and not self._serving:
                self._wait_for_room()
        else:
            self._bell.ring_if_asleep(process, visible_at)

    def _wait_for_room(self) -> None:
        """A client waits while as much waits in it as a ring holds. The server never waits, so it goes on."""
        self.pauses += 1
        (writer,) = self._writers.values()
        while writer.waiting > self._most_waiting and self._control[STOP] == RUNNING:
            time.sleep(SECONDS_BETWEEN_TRIES)
            self.flush()

    @property
    def has_channels(self) -> bool:
        """Whether this process must acknowledge and repeat, so that it cannot sleep through messages."""
        return bool(self._senders)

    @property
    def delayed(self) -> int:
        """Messages that found their ring full and waited in this process."""
        return sum(writer.delayed for writer in self._writers.values())

    def flush(self) -> bool:
        """Send what waits for room in a ring; True when nothing does any more."""
        done = True
        for process, writer in self._writers.items():
            if writer.backlog:
                done &= writer.flush()
                self._bell.ring(process)
        return done

    # -- receiving ---------------------------------------------------------------------------------

    def poll(self) -> bool:
        """Take everything out of the rings, into the queue; True when there was something."""
        found = False
        while True:
            i = first_filled(self._everything, self._first, self._stride, len(self._readers))
            if i < 0:
                return found
            found |= self._readers[i].take(self._take)

    def _take(self, visible_at: int, data: Bytes) -> None:
        (src, dst, *facts), packet = self._codec.decode(data, SENDING_WORDS)
        queue = self.queue
        heappush(queue.heap, (visible_at, DELIVER, dst, src, queue.created, packet, tuple(facts)))
        queue.created += 1

    # -- the log -----------------------------------------------------------------------------------

    def delivered(self, event: Any, t_deliver: int) -> None:
        """Take down that the message of ``event`` was consumed."""
        _, _, dst, src, _, packet, (t_send, nbytes, rows, number) = event
        content = packet.message if hasattr(packet, "message") else packet
        sender = src if src < self._clients else self._server
        self._note((t_send, sender, number, KIND[type(content)], src, dst, t_deliver, nbytes, rows))

    def log_what_is_left(self, now: int) -> None:
        """Take down what is on the way ``now``, when all have stopped, as arriving in time, or now."""
        self.poll()
        for event in self.queue.heap:
            if event[1] == DELIVER:
                self.delivered(event, max(event[0], now))
        for writer in self._writers.values():
            for visible_at, record, _ in writer.backlog:
                (src, dst, t_send, nbytes, rows, number), packet = self._codec.decode(record, SENDING_WORDS)
                facts = (t_send, nbytes, rows, number)
                self.delivered((visible_at, DELIVER, dst, src, 0, packet, facts), max(visible_at, now))

    def log(self) -> npt.NDArray[np.int64]:
        """All that was taken down: (n, `LOG_WIDTH`) int64."""
        self._logged.append(self._log.take()[0])
        return np.concatenate(self._logged)

    def _note(self, record: tuple[int, ...]) -> None:
        if self._log.add(*record):
            self._logged.append(self._log.take()[0])

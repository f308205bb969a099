"""The times of a record, in the places of the samplers.

Each of these also looks at what the replay asks: a question that the record does not answer at this moment
means that the two went different ways, and `Differs` says where.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.emulation.network import Network
from pskit.runtime.carrier import NEVER, end_name
from pskit.runtime.events import FINISH, TIMER, EventQueue
from pskit.runtime.replay.record import Computed, Differs, Record, Sent
from pskit.runtime.sim.times import Times

Array = npt.NDArray[np.int64]


class RecordedQueue(EventQueue):
    """Events happen at their recorded moments; those that had none never happen.

    Attributes
    ----------
    over : dict of int to int, ns
        When the computation that each worker has just begun is found to be over.
    """

    __slots__ = ("_timers", "over")

    def __init__(self, record: Record) -> None:
        super().__init__()
        self._timers = record.timers
        self.over: dict[int, int] = {}

    def add(self, time: int, kind: int, dst: int, src: int, payload: Any) -> None:
        if kind == TIMER:
            time = self._timers.get((src, dst, payload), NEVER)
        elif kind == FINISH:
            time = self.over.pop(dst)
        if time != NEVER:
            super().add(time, kind, dst, src, payload)


class RecordedNetwork(Network):
    """Messages arrive when they were taken in, and are lost when they were."""

    def __init__(self, cfg: Any, record: Record) -> None:
        super().__init__(cfg, cfg.run.seed)
        self._record = record
        self._sent: list[Iterator[Sent]] = [iter(messages) for messages in record.sent]
        self.sent_by_server = 0

    def send(self, now: int, src: int, dst: int, nbytes: int) -> tuple[int, bool]:
        found = next(self._sent[min(src, self._record.clients)], None)
        self.sent_by_server += src >= self._record.clients
        if found is None or found[:4] != (now, src, dst, nbytes):
            did = f"{nbytes} bytes from {self._end(src)} to {self._end(dst)} at {now} ns"
            said = "the record has no more messages of that process"
            if found is not None:
                said = (
                    f"the record has {found.nbytes} bytes from {self._end(found.src)} to "
                    f"{self._end(found.dst)} at {found.t_send} ns"
                )
            raise Differs(f"the replay sends {did}, where {said}")
        return (now, True) if found.t_deliver == NEVER else (found.t_deliver, False)

    def send_plain(self, now: int, src: int, dsts: list[int], sizes: Array) -> Array:
        arrivals = [self.send(now, src, dst, size) for dst, size in zip(dsts, sizes.tolist(), strict=True)]
        if any(lost for _, lost in arrivals):
            raise Differs(f"the record has a message from {self._end(src)} lost that no link could lose")
        return np.array([visible_at for visible_at, _ in arrivals], np.int64)

    def _end(self, end: int) -> str:
        return end_name(end, self._record.clients)


class RecordedCompute:
    """Durations of one worker's computations; stands for a `ComputeModel`."""

    def __init__(self, worker: int, computed: list[Computed], queue: RecordedQueue) -> None:
        self._worker, self._queue = worker, queue
        self._computed = iter(computed)

    def duration(self, now: int, clock: int, cost: float, first: bool) -> int:
        """See `ComputeModel.duration`."""
        found = next(self._computed, None)
        if found is None or found.t_from != now:
            said = "no more" if found is None else f"the next one at {found.t_from} ns"
            raise Differs(
                f"worker {self._worker} begins a computation of clock {clock} at {now} ns, and the record "
                f"has {said}"
            )
        self._queue.over[self._worker] = found.t
        return found.duration


class RecordedTimes(Times):
    """Takes all times of a run from its record.

    Parameters
    ----------
    cfg : Config
        Of the recorded run.
    record : Record
    """

    def __init__(self, cfg: Any, record: Record) -> None:
        super().__init__(cfg)
        self._record, self._queue = record, RecordedQueue(record)
        self._network = RecordedNetwork(cfg, record)

    def queue(self) -> EventQueue:
        return self._queue

    def network(self) -> RecordedNetwork:
        return self._network

    def compute(self, worker: int) -> Any:
        return RecordedCompute(worker, self._record.computed[worker], self._queue)

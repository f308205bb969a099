"""The event queue: integer nanoseconds, and an order at equal times that unrelated events cannot change.

Events are ordered by (time, kind, destination, source, number). The first four are facts of the event
itself. The number is that of its creation, and matters only between events of the same kind, time and two
ends, which are created in the order of their link. So adding an event never moves two others past each
other.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import heappush
from typing import Any

from pskit.errors import InputError

DELIVER, FINISH, TIMER, CALL = range(4)
"""Kinds, in the order in which they happen at equal times: a message arrives, a computation ends, a
retransmission timer goes off, a caller of `EventQueue.schedule` looks."""

LATEST = 2**63 - 1
"""End of emulated time, ns: traces hold times as int64."""

Event = tuple[int, int, int, int, int, Any, Any]
"""(time, kind, destination, source, number, payload, extra); what ``extra`` holds is the runtime's affair."""


def too_late(what: str, section: str) -> InputError:
    """The error of ``what``, for which the times in ``section`` of the config are to blame."""
    return InputError(
        f"{what} would end after the end of emulated time, which is at 2**63 - 1 ns (about 292 years): "
        f"choose shorter times in {section}, or fewer clocks"
    )


class EventQueue:
    """Pending events of one simulation; its loop pops the ``heap`` and moves ``now``."""

    __slots__ = ("created", "heap", "now")

    def __init__(self) -> None:
        self.heap: list[Event] = []
        self.now = 0
        self.created = 0

    def add(self, time: int, kind: int, dst: int, src: int, payload: Any) -> None:
        """Schedule an event for ``time`` (ns, not before now)."""
        heappush(self.heap, (time, kind, dst, src, self.created, payload, None))
        self.created += 1

    def schedule(self, time: int, call: Callable[[], None]) -> None:
        """Call ``call()`` at ``time``, after everything else of that time; for probes and viewers.

        Raises
        ------
        ValueError
            When ``time`` has passed.
        """
        if time < self.now:
            raise ValueError(f"cannot schedule a call for {time} ns: it is {self.now} ns already")
        self.add(time, CALL, -1, -1, call)


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Context: Python looks for cyclic garbage a hundred times less often.

    Pending events are many small tuples, never part of a cycle; walking over them took a fifth of a run.
    """
    threshold = gc.get_threshold()
    gc.set_threshold(100 * threshold[0], *threshold[1:])
    try:
        yield
    finally:
        gc.set_threshold(*threshold)

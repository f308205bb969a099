"""Waking a process that sleeps.

A process that goes to sleep says in its word until when messages may lie; a sender whose message becomes
visible before that rings. Each of the two writes first, then orders, then reads what the other wrote, so one
of them always notices: a message is never slept through.
"""

import contextlib
import os
import select
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

from pskit.core.kernels import compiled
from pskit.runtime.live.atomics import fence, load_acquire, store_release
from pskit.runtime.live.plan import LINE, Words

AWAKE = -1


@compiled
def announce(sleep: Any, at: int, until: int) -> None:
    """Store ``until`` in the word ``at`` before anything that is read after it."""
    store_release(sleep, at, until)
    fence()


@compiled
def wants_to_know(sleep: Any, at: int, visible_at: int) -> bool:
    """Whether the process of the word ``at`` sleeps beyond ``visible_at``; after all that was written."""
    fence()
    return bool(load_acquire(sleep, at) > visible_at)


class Bell:
    """The own bell of a process, and those of the processes that it sends to.

    Parameters
    ----------
    me : int
    processes : (processes * 8,) int64
        The words of all processes.
    own : Connection
        Reading end of the own bell.
    others : mapping of int to Connection
        Writing ends by process.
    """

    def __init__(self, me: int, sleep: Words, own: Connection, others: Mapping[int, Connection]) -> None:
        self._at, self._sleep, self._own, self._others = me * LINE, sleep, own, others
        for end in (own, *others.values()):
            os.set_blocking(end.fileno(), False)

    def ring_if_asleep(self, process: int, visible_at: int) -> None:
        """Wake ``process`` if it sleeps beyond ``visible_at``."""
        if wants_to_know(self._sleep, process * LINE, visible_at):
            ring(self._others[process])

    def ring(self, process: int) -> None:
        """Wake ``process``."""
        ring(self._others[process])

    def fall_asleep(self, mail_until: int) -> None:
        """From now on wake me for messages that become visible before ``mail_until``."""
        announce(self._sleep, self._at, mail_until)

    def sleep(self, seconds: float) -> None:
        """Sleep until the bell rings or the time is over, then be awake."""
        if select.select([self._own], [], [], seconds)[0]:
            os.read(self._own.fileno(), 4096)
        self._sleep[self._at] = AWAKE


def ring(bell: Connection) -> None:
    """Ring; a bell that has rung often and was not heard yet is full, and a dead process hears nothing."""
    with contextlib.suppress(BlockingIOError, BrokenPipeError):
        os.write(bell.fileno(), b"!")

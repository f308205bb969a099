"""The cluster of an open session: one call at a time, and ended also where nobody closes it."""

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pskit.errors import InputError
from pskit.runtime.interrupts import BrokenOff


class Held:
    """Held by a session and by everything that it has handed out; ends the cluster when none of them is left.

    Parameters
    ----------
    cluster : VirtualCluster or RealCluster
        Must not refer back to this object.
    """

    def __init__(self, cluster: Any) -> None:
        self._cluster: Any = cluster
        self._turn = threading.Lock()
        self._thread = threading.current_thread()  # that has the turn, or had it last
        self._end = weakref.finalize(self, _end, cluster, os.getpid())

    @property
    def is_open(self) -> bool:
        """Whether the session is not closed."""
        return self._cluster is not None

    @property
    def cluster(self) -> Any:
        """The cluster, to look at; InputError when the session is closed."""
        if self._cluster is None:
            raise InputError("this session is closed")
        return self._cluster

    @contextmanager
    def turn(self) -> Iterator[Any]:
        """Context: the cluster, for a call; a call that is broken off closes the session.

        Raises
        ------
        InputError
            When a call is under way: to wait for it would mean that a GET waits for what a call of another
            thread is to bring, while that call waits for the GET.
        """
        if not self._turn.acquire(blocking=False):
            other = self._thread
            where = "already" if other is threading.current_thread() else f"of the thread {other.name!r}"
            raise InputError(
                f"this session is in a call {where}: a session has one call at a time, from whatever thread; "
                "wait for that call to return, or give each thread a session of its own"
            )
        self._thread = threading.current_thread()
        try:
            yield self.cluster
        except BrokenOff:
            self.end()
            raise
        finally:
            self._turn.release()

    def end(self) -> None:
        """End everything; a second time does nothing."""
        self._cluster = None
        self._end()

    def end_after_call(self) -> None:
        """The same, once a call that another thread has under way has returned."""
        with self._turn:
            self.end()


def _end(cluster: Any, pid: int) -> None:
    if os.getpid() == pid:  # a fork has the memory of its parent, but the processes are not its own
        cluster.close()

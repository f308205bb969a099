"""How processes are started: by a fork server that has everything ready, each with one thread for maths.

The fork server belongs to the Python process and stays until that ends. If somebody else has started it
before, it has not imported and compiled everything: children then do so themselves, which takes seconds.
"""

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker
from typing import Any

from pskit.runtime.children import METHOD, single_threaded

PRELOAD = "pskit.runtime.live.preload"


@contextlib.contextmanager
def starting(*modules: str) -> Iterator[Any]:
    """Context: start processes from the `multiprocessing` context that it gives; Ctrl-C waits until its end.

    Parameters
    ----------
    modules : str
        To be imported before the fork, if this is the first start.
    """
    context: Any = multiprocessing.get_context(METHOD)
    context.set_forkserver_preload(["__main__", PRELOAD, *modules])
    with single_threaded(), _no_interrupt():
        yield context


@contextlib.contextmanager
def _no_interrupt() -> Iterator[None]:
    """Context: Ctrl-C waits until the end of it, and processes started now never see it.

    Blocking the signal is not enough for the first, as another thread may receive it for this one.
    """
    resource_tracker.ensure_running()  # it would lift the block when it is first needed
    came: list[int] = []
    handler: Any = None
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread:
        handler = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if in_main_thread:
            signal.signal(signal.SIGINT, handler)
    if came:
        raise KeyboardInterrupt

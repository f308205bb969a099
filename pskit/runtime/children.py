"""How every child process is started: by one explicit method, with one thread for maths."""

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager

from pskit.trace.machine import THREAD_VARIABLES

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"


@contextmanager
def single_threaded() -> Iterator[None]:
    """Context: processes started now use one thread in BLAS and numba."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

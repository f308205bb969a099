"""Waiting for what another process, or another thread, does."""

import contextlib
import threading
import time

PATIENCE = 60.0
"""Seconds after which what does not come has failed; no test is faster or slower for it."""


def wait_for(condition, what):
    """Return once ``condition()`` holds; ``what`` is it that then has come."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come within {PATIENCE} s"
        time.sleep(0.01)


def told(path):
    """The process id in a file that a process writes."""
    wait_for(path.exists, path)
    return int(path.read_text())


@contextlib.contextmanager
def meanwhile(what):
    """Do something in another thread while the run goes on in this one."""
    failures = []

    def guarded():
        try:
            what()
        except BaseException as error:  # shown by the test, not by the thread
            failures.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    assert not failures, failures

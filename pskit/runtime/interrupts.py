"""Ctrl-C between two events of a simulation or a session, so that what was taken down fits together.

The first one is noted; whoever goes from event to event looks whether there was one. The second one breaks
off where it comes, in the middle of an event: what is there then is no state of the protocol.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SECONDS_UNTIL_TOLD = 2.0
"""Time after the first Ctrl-C until somebody at a terminal hears what it waits for."""


class BrokenOff(KeyboardInterrupt):
    """A second Ctrl-C, in the middle of an event."""


@contextmanager
def between_events(second: str) -> Iterator[list[int]]:
    """Context: Ctrl-C is noted in the list that it gives; a second one raises `BrokenOff` where it comes.

    Elsewhere than in the main thread there is no Ctrl-C, and one that is ignored stays so.

    Parameters
    ----------
    second : str
        What a second one does, for those who wait: "leaves no trace".
    """
    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or before is None or before is signal.SIG_IGN:
        yield came
        return
    told = threading.Timer(SECONDS_UNTIL_TOLD, _tell, (second,))
    told.daemon = True

    def note(number: int, frame: FrameType | None) -> None:
        if came:
            raise BrokenOff
        came.append(number)
        told.start()

    signal.signal(signal.SIGINT, note)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)
        told.cancel()


def _tell(second: str) -> None:
    print(
        "pskit: stops when the kernel or the objective that is at work now has ended; another Ctrl-C breaks "
        f"it off at once, and {second}",
        file=sys.stderr,
        flush=True,
    )

"""What a process did beside taking in messages, and when: with the messages, all that a replay needs.

Nothing else enters from outside: what a machine of the core does follows from the order in which its process
took things in, and two events of one process never happen at the same moment.
"""

from array import array

import numpy as np
import numpy.typing as npt

from pskit.runtime.carrier import NEVER
from pskit.runtime.events import EventQueue
from pskit.trace.schema import MOMENTS, OPTIONAL

BEGAN, COMPUTED, TIMER, ENDED, PUT_OFF, CAUGHT_UP = range(len(MOMENTS))
WIDTH = len(OPTIONAL["moments"])


class Moments:
    """The moments of one process, in their order; see `pskit.trace.schema.MOMENTS`."""

    def __init__(self) -> None:
        self._taken = array("q")

    def began(self, now: int, process: int) -> None:
        """Time zero has come for ``process``."""
        self._taken.extend((BEGAN, now, process, -1, -1, -1))

    def computed(self, now: int, worker: int, due: int, duration: int) -> None:
        """A computation of ``worker``, due at ``due``, was found to be over."""
        self._taken.extend((COMPUTED, now, worker, -1, due - duration, duration))

    def timer(self, now: int, dst: int, src: int, due: int, epoch: int) -> None:
        """The retransmission timer of the channel from ``src`` to ``dst``, due at ``due``, went off."""
        self._taken.extend((TIMER, now, dst, src, due, epoch))

    def put_off(self, now: int, src: int, client: int, number: int) -> None:
        """There was no room for a push, which would have been the server's message ``number``."""
        self._taken.extend((PUT_OFF, now, client, src, -1, number))

    def caught_up(self, now: int, src: int, client: int) -> None:
        """There was room again, and the shard at end point ``src`` sent ``client`` what it was owed."""
        self._taken.extend((CAUGHT_UP, now, client, src, -1, -1))

    def ended(self, now: int, process: int, agenda: EventQueue) -> None:
        """``process`` has stopped, ``now`` it did the last thing: what is on the ``agenda`` never happens."""
        for due, _, worker, _, _, (duration, _), _ in sorted(agenda.heap):
            self.computed(NEVER, worker, due, duration)
        self._taken.extend((ENDED, now, process, -1, -1, -1))

    def table(self) -> dict[str, npt.NDArray[np.int64]]:
        """Columns of the table ``moments``."""
        columns = np.array(self._taken, np.int64).reshape(-1, WIDTH).T
        return dict(zip(OPTIONAL["moments"], columns, strict=True))

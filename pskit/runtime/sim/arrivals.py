"""Arrivals of messages that left together, of which only the next one is in the event queue.

A worker's updates are a message to every shard, a shard's push one to every client. Kept apart, thousands of
events would lie in the queue, out of the processor's cache; kept like this, a few bytes for each.
"""

from array import array
from collections.abc import Iterator
from copy import copy
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.runtime.events import DELIVER, Event

Integers = npt.NDArray[np.int64]


class Arrivals:
    """The later arrivals of a fan; every event of it carries this object as its ``extra``.

    Parameters
    ----------
    src : int
    fields : iterators
        Times, destinations, numbers and messages of all arrivals.
    """

    __slots__ = ("_fields", "_src", "following")

    def __init__(self, src: int, *fields: Iterator[Any]) -> None:
        self._src, self._fields = src, fields
        self.following: Iterator[Event] = self._events(*fields)

    def rest(self) -> Iterator[Event]:
        """What is still to come, without taking it."""
        return self._events(*map(copy, self._fields))

    def _events(
        self, times: Iterator[int], dsts: Iterator[int], numbers: Iterator[int], messages: Iterator[Any]
    ) -> Iterator[Event]:
        return zip(
            times, repeat(DELIVER), dsts, repeat(self._src), numbers, messages, repeat(self), strict=False
        )


def first_of(times: Integers, dsts: Integers, src: int, numbers: Integers, messages: list[Any]) -> Event:
    """Event of the first arrival; its ``extra`` brings the others, in the order of the event queue.

    Parameters
    ----------
    times : (n,) int64, ns
    dsts : (n,) int64
    src : int
    numbers : (n,) int64
        Of the events.
    messages : list of n
    """
    order = np.lexsort((dsts, times))
    arrivals = Arrivals(
        src,
        iter(array("q", times[order].tobytes())),
        iter(array("q", dsts[order].tobytes())),
        iter(array("q", numbers[order].tobytes())),
        iter([messages[i] for i in order.tolist()]),
    )
    return next(arrivals.following)

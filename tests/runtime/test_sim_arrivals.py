"""Fans in the event queue: the same order as with every event on its own."""

from heapq import heappop, heappush, heapreplace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pskit.runtime.events import DELIVER, Event
from pskit.runtime.sim.arrivals import first_of

FANS = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.tuples(st.integers(0, 5), st.integers(4, 9)), min_size=1)),
    max_size=6,
)


def fans(drawn: list[tuple[int, list[tuple[int, int]]]]) -> tuple[list[Event], list[tuple]]:
    """First events of the fans, and all their events, without ``extra``."""
    firsts, events, number = [], [], 0
    for src, arrivals in drawn:
        times, dsts = np.array(arrivals, np.int64).T
        messages = [f"{number + i}" for i in range(len(arrivals))]
        firsts.append(first_of(times, dsts, src, number + np.arange(len(arrivals)), messages))
        events += [
            (time, DELIVER, dst, src, number + i, messages[i]) for i, (time, dst) in enumerate(arrivals)
        ]
        number += len(arrivals)
    return firsts, events


@given(FANS)
def test_events_of_fans_happen_in_the_order_of_the_queue(drawn):
    firsts, events = fans(drawn)
    heap: list[Event] = []
    for first in firsts:
        heappush(heap, first)
    got = []
    while heap:
        event = heap[0]
        following = next(event[6].following, None)
        if following is None:
            heappop(heap)
        else:
            heapreplace(heap, following)
        got.append(event[:6])
    assert got == sorted(events)
    assert all(type(n) is int for event in got for n in event[:5])


@given(FANS.filter(bool), st.integers(0, 5))
def test_looking_at_the_rest_takes_nothing(drawn, taken):
    firsts, events = fans(drawn[:1])
    (event,) = firsts
    for _ in range(taken):
        event = next(event[6].following, event)
    rest = [e[:6] for e in event[6].rest()]
    assert rest == sorted(events)[min(taken + 1, len(events)) :]
    assert [e[:6] for e in event[6].following] == rest

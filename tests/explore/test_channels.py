"""All states of a single channel: what arrives is what was sent, in order, each once, and all of it."""

import pytest

from pskit.core.channel import Receiver, Sender
from pskit.explore.channels import Channels
from pskit.explore.links import EMPTY
from pskit.explore.liveness import Edges

KNOWN = {"Sender": {"_doublings", "_epoch", "_next", "unacked"}, "Receiver": {"early", "expected"}}
"""`_doublings` is how long a timer runs, which here is any time."""


@pytest.mark.parametrize(("messages", "states"), [(1, 9), (2, 57), (3, 313), (4, 1593), (5, 7737)])
def test_fifo_and_exactly_once_in_every_state(messages, states):
    channels, edges = Channels(), Edges()
    numbers, queue = {(EMPTY, 0, 0): 0}, [(EMPTY, 0, 0)]
    for content, sent, received in queue:
        after = [(channels.append(content, sent), sent + 1, received)] if sent < messages else []
        for arrival in channels.arrivals[content]:
            assert arrival.messages == tuple(range(received, received + len(arrival.messages)))
            after.append((arrival.rest, sent, received + len(arrival.messages)))
        for state in after:
            if state not in numbers:
                numbers[state] = len(numbers)
                queue.append(state)
            edges.add(numbers[state])
        at_end = channels.is_quiet(content) and sent == messages
        assert not at_end or received == messages
        edges.close(at_end)
    assert len(queue) == states
    assert edges.first_dead() is None


def test_a_timer_runs_while_anything_is_unacknowledged():
    channels = Channels()
    queue = [channels.append(channels.append(EMPTY, 0), 1)]
    for content in queue:
        timers = [a for a in channels.arrivals[content] if a.what == "timer"]
        assert len(timers) == bool(channels._contents[content].unacked)
        queue += {a.rest for a in channels.arrivals[content]} - set(queue)


def test_a_repeated_segment_may_arrive_later():
    channels = Channels()
    by_name = {a.what: a for a in channels.arrivals[channels.append(EMPTY, 5)]}
    assert set(by_name) == {
        "segment 0 arrives",
        "segment 0 arrives, and once more",
        "segment 0 is lost",
        "timer",
    }
    (again, *_) = channels.arrivals[by_name["segment 0 arrives, and once more"].rest]
    assert again.what == "segment 0 arrives"
    assert again.messages == ()


def test_renamed_messages_stay_in_their_places():
    channels = Channels()
    content = channels.append(channels.append(EMPTY, 1), 2)
    lost = channels.arrivals[content][2].rest
    renamed = channels.rename(lost, lambda m: m + 10)
    assert renamed != lost
    assert channels.rename(renamed, lambda m: m - 10) == lost


def test_all_that_the_ends_know_is_in_a_content():
    for end in (Sender, Receiver):
        assert set(end.__slots__) == KNOWN[end.__name__]

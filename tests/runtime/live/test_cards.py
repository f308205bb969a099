"""Shared cards behave like cards of one process, whoever sends."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pskit.emulation.network import Cards
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.cards import SharedCards
from pskit.runtime.live.starting import starting

messages = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 100), st.integers(0, 50), st.booleans()))


@given(messages)
def test_two_processes_queue_at_one_card(sent):
    """The second owner stands for a process with its own view of the same words."""
    words = np.zeros(3 * 8, np.int64)
    owners = SharedCards(words), SharedCards(words)
    plain, now = Cards(3), 0
    for card, later, duration, second in sent:
        now += later
        assert owners[second].occupy(card, now, duration) == plain.occupy(card, now, duration)


def occupy_often(arena, times):
    with arena:
        cards = SharedCards(arena.view(0, (8,), np.int64))
        for _ in range(times):
            cards.occupy(0, 0, 1)


def test_no_message_is_lost_when_two_processes_send_at_once():
    times = 20_000
    with Arena.create(4096) as arena:
        words = arena.view(0, (8,), np.int64)
        with starting() as context:
            child = context.Process(target=occupy_often, args=(arena, times))
            child.start()
        cards = SharedCards(words)
        for _ in range(times):
            cards.occupy(0, 0, 1)
        child.join()
        assert child.exitcode == 0
        child.close()
        assert words[0] == 2 * times

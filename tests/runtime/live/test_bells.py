"""Bells: who sleeps is woken for what it wants to know, and nobody else is disturbed."""

import multiprocessing
import threading

import numpy as np
import pytest

from pskit.runtime.live.bells import AWAKE, Bell
from pskit.runtime.live.plan import LINE


@pytest.fixture
def pair():
    """Two processes' bells, and the words."""
    words = np.full(2 * LINE, AWAKE, np.int64)
    ends = [multiprocessing.Pipe(duplex=False) for _ in range(2)]
    bells = [Bell(me, words, ends[me][0], {1 - me: ends[1 - me][1]}) for me in range(2)]
    yield bells, words
    for heard, rung in ends:
        heard.close()
        rung.close()


def has_rung(bell):
    """Whether a bell was rung since the last look."""
    return bell._own.poll(0)


def test_who_is_awake_is_not_rung(pair):
    (one, other), _ = pair
    one.ring_if_asleep(1, 0)
    assert not has_rung(other)


@pytest.mark.parametrize(("visible_at", "rings"), [(99, True), (100, False), (101, False)])
def test_who_sleeps_is_rung_for_what_comes_before_its_deadline(pair, visible_at, rings):
    (one, other), _ = pair
    other.fall_asleep(100)
    one.ring_if_asleep(1, visible_at)
    assert has_rung(other) == rings


def test_sleep_ends_with_the_bell_or_with_the_time(pair):
    (one, other), words = pair
    other.fall_asleep(100)
    other.sleep(0.001)
    assert words[LINE] == AWAKE
    other.fall_asleep(100)
    threading.Timer(0.01, one.ring, [1]).start()
    other.sleep(60)
    assert words[LINE] == AWAKE
    assert not has_rung(other)


def test_a_bell_that_nobody_hears_does_not_block(pair):
    (one, other), _ = pair
    for _ in range(100_000):
        one.ring(1)
    other.sleep(60)

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.core.clocks import VectorClock

STEPS = st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=60)


@settings(max_examples=100)
@given(st.integers(1, 5), STEPS)
def test_minimum_and_rises_are_those_of_a_plain_dict(members, steps):
    clock, plain = VectorClock(range(members)), dict.fromkeys(range(members), 0)
    lowest = 0
    for worker, leaves in steps:
        if worker not in plain:
            continue
        if leaves:
            del plain[worker]
            rose = clock.remove(worker)
        else:
            plain[worker] += 1
            rose = clock.tick(worker)
        now = min(plain.values(), default=lowest)
        assert rose == (now > lowest)
        assert clock.minimum == now
        assert clock.counts() == plain
        assert len(clock) == len(plain)
        lowest = now


def test_the_minimum_jumps_over_counts_that_nobody_has():
    clock = VectorClock([0, 1])
    for _ in range(5):
        assert not clock.tick(1)
    assert clock.remove(0)
    assert clock.minimum == 5


def test_it_stays_with_no_member_left():
    clock = VectorClock([3])
    assert clock.tick(3)
    assert not clock.remove(3)
    assert clock.minimum == 1


def test_without_members():
    clock = VectorClock([])
    assert (len(clock), clock.minimum) == (0, 0)


@pytest.mark.parametrize("call", ["tick", "remove"])
def test_a_stranger_is_refused(call):
    with pytest.raises(KeyError):
        getattr(VectorClock([0]), call)(1)

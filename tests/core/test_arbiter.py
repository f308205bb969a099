"""Who may start a computation."""

import math

import numpy as np
import pytest

from pskit.core.arbiter import SCHEDULES, Arbiter, Start
from pskit.core.layout import Layout, TableSpec

LAYOUT = Layout([TableSpec("x", 3, 1, "f8")])
ALL = np.arange(3, dtype=np.int32)


def make(v0=1.0, bound=None, workers=3, **more):
    return Arbiter(LAYOUT, [[w] for w in range(workers)], v0, bound=bound, **more)


def add(arbiter, worker, seq, value):
    arbiter.transit.made(worker, seq, 0, ALL, np.full((3, 1), value))


def test_thresholds():
    assert make(2.0).threshold(4) == 1.0
    assert make(2.0, schedule="constant").threshold(4) == 2.0
    assert [SCHEDULES["inverse-sqrt"](t) for t in (1, 9)] == [1.0, 1 / 3]


def test_numbers_are_drawn_and_reservations_made_in_one_step():
    arbiter = make(10.0, bound=lambda worker, clock, t: 0.5 * t)
    assert arbiter.ask(2, 0, ALL) == Start(1, 10.0, 0.0, 0.0, 0.5)
    assert arbiter.ask(0, 0, ALL) == Start(2, 10 / math.sqrt(2), 0.0, 0.5, 1.0)
    assert arbiter.reserved.tolist() == [1.0, 0.0, 0.5]
    arbiter.over(2)
    assert arbiter.ask(1, 5, ALL) == Start(3, 10 / math.sqrt(3), 0.0, 1.0, 1.5)


def test_what_is_reserved_and_what_is_unseen_count_together():
    arbiter = make(1.0, bound=lambda *_: 0.6, schedule="constant")
    assert arbiter.ask(0, 0, ALL)
    add(arbiter, 1, 0, 0.3)
    assert arbiter.ask(2, 0, ALL).unseen == 0.3
    arbiter.over(2)
    add(arbiter, 1, 1, 0.2)
    assert arbiter.ask(2, 0, ALL) is None  # 0.5 + 0.6
    assert not arbiter.closed
    arbiter.over(0)
    assert arbiter.ask(2, 0, ALL).others == 0.0


def test_a_refusal_changes_nothing():
    arbiter = make(0.5, bound=lambda *_: 1.0)
    assert arbiter.ask(0, 0, ALL)
    assert arbiter.closed
    assert arbiter.ask(1, 0, ALL) is None
    assert (arbiter.started, arbiter.reserved.tolist()) == (1, [1.0, 0.0, 0.0])


def test_an_own_update_is_no_obstacle():
    arbiter = make(0.5)
    add(arbiter, 0, 0, 9.0)
    assert arbiter.ask(0, 0, ALL)
    assert arbiter.ask(1, 0, ALL) is None


def test_without_a_bound_computations_in_flight_do_not_count():
    arbiter = make(1e-9)
    assert [arbiter.ask(w, 0, ALL).reservation for w in range(3)] == [0.0, 0.0, 0.0]


def test_each_producer_for_itself():
    together, apart = (make(1.0, variant=v, schedule="constant") for v in ("aggregate", "per_worker"))
    for arbiter in (together, apart):
        add(arbiter, 0, 0, 0.7)
        add(arbiter, 1, 0, 0.7)
    assert together.ask(2, 0, ALL) is None
    assert apart.ask(2, 0, ALL).unseen == 0.7


def test_the_printed_condition_reserves_nothing():
    arbiter = make(1.0, variant="per_worker", bound=lambda *_: 5.0)
    assert arbiter.ask(0, 0, ALL).reservation == 0.0
    assert arbiter.ask(1, 0, ALL) is not None


def test_two_arbiters_over_the_same_arrays_are_one():
    shapes = Arbiter.shapes(clients=3, workers=3, units=8, rows=32, values=32)
    state = {name: np.zeros(*how) for name, how in shapes.items()}
    one, other = (make(1.0, bound=lambda *_: 0.6, state=state) for _ in range(2))
    assert one.ask(0, 0, ALL).t == 1
    add(one, 0, 0, 0.6)
    one.over(0)
    assert other.started == 1
    assert other.ask(1, 0, ALL).unseen == 0.6
    assert one.ask(2, 0, ALL) is None


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_somebody_may_always_start_once_everything_is_seen(workers):
    """However small the threshold: nothing is unseen, nothing reserved, and 0 is not above it."""
    arbiter = make(1e-300, bound=lambda *_: 1.0, workers=workers)
    for round_ in range(20):
        worker = round_ % workers
        assert arbiter.ask(worker, 0, ALL)
        add(arbiter, worker, round_, 0.1)
        arbiter.transit.applied(worker, round_, 0, round_, np.ones(workers, np.bool_))
        arbiter.over(worker)
        for client in range(workers):
            arbiter.transit.seen(client, 0, round_ + 1)
    assert arbiter.started == 20

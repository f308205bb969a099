"""Emulated time on the wall clock, and places in the arena."""

import math
import time
from itertools import pairwise

import pytest

import pskit
from pskit.core.layout import Layout, TableSpec
from pskit.errors import InputError
from pskit.runtime.live.arena import ALIGNMENT
from pskit.runtime.live.plan import ALL_RINGS, LARGEST_RING, Plan
from pskit.runtime.live.timebase import NEVER, Timebase, scale_of
from tests.runtime.live.runs import config


@pytest.mark.parametrize("scale", [0.001, 0.1, 1.0, 3.7])
def test_emulated_time_is_real_time_by_scale(scale, monkeypatch):
    real = [5_000_000_000]
    monkeypatch.setattr(time, "monotonic_ns", lambda: real[0])
    base = Timebase(5_000_000_000, scale)
    assert base.now() == 0
    real[0] += 2_000_000_000
    assert base.now() == pytest.approx(2e9 / scale, abs=1)
    assert base.seconds_until(base.now()) == pytest.approx(0, abs=2e-9)
    assert base.seconds_until(base.now() + 10**9) == pytest.approx(scale)
    assert base.seconds_until(0) == pytest.approx(-2)


@pytest.mark.parametrize("scale", [1e-12, 1e-300])
def test_the_end_of_emulated_time_is_wrong_input(scale, monkeypatch):
    monkeypatch.setattr(time, "monotonic_ns", lambda: 6_000_000_000)
    with pytest.raises(InputError, match=rf"run.time_scale = {scale:g}: .* choose a larger time scale"):
        Timebase(5_000_000_000, scale).now()


def test_a_run_that_reaches_it_says_so():
    with pytest.raises(InputError, match="choose a larger time scale"):
        pskit.run(config(scale=1e-12, clocks=200))


def test_never_does_not_come():
    assert Timebase(0, 1.0).seconds_until(NEVER) == math.inf


def test_only_a_live_config_has_a_scale():
    assert scale_of(config(scale=0.25)) == 0.25
    with pytest.raises(ValueError, match="no time scale"):
        scale_of(config(runtime="sim"))


@pytest.mark.parametrize("rows", [1, 1000, 10_000_000])
@pytest.mark.parametrize("clients", [1, 7, 150])
def test_rings_lie_apart_and_stay_small(rows, clients):
    plan = Plan(config(cluster={"clients": clients}), Layout([TableSpec("x", rows, 100)], 3))
    places = sorted(plan.ring_at(c, upward) for c in range(clients) for upward in (True, False))
    assert all(place % ALIGNMENT == 0 for place in places)
    assert places[0] >= plan.rings_at > 0
    assert {b - a for a, b in pairwise(places)} == {plan.ring_stride}
    assert plan.gate_at == places[-1] + plan.ring_stride <= plan.committed <= plan.nbytes
    assert plan.ring_capacity <= LARGEST_RING
    assert 2 * clients * plan.ring_capacity <= ALL_RINGS + 2 * clients * ALIGNMENT

"""The verdict over a run's times."""

import numpy as np
import pytest

from pskit.runtime.live.fidelity import fidelity
from pskit.runtime.live.parts import Pace

SCALE = 0.1
SECOND = 10**9
CLOCKS = {"t_begin": np.zeros(100, np.int64), "t_end": np.full(100, SECOND)}


def judged(lateness=(0,), overshoot=(0,), overran=0, **more):
    paces = [
        Pace(np.array(lateness, np.int64), np.array([], np.int64), overran, 1.0),
        Pace(np.array([], np.int64), np.array(overshoot, np.int64), 0, 2.0),
    ]
    return fidelity(paces, more.get("clocks", CLOCKS), SCALE, more.get("seconds", 2.0), cores=2)


def test_a_run_that_keeps_its_times_is_faithful():
    found = judged([1000] * 200, [2000] * 200)
    assert found["verdict"] == "faithful"
    assert found["advice"] == ""
    assert found["lateness_us"] == pytest.approx({"p50": 0.1, "p99": 0.1, "max": 0.1})
    assert found["overshoot_us"]["max"] == pytest.approx(0.2)
    assert found["cpu_load"] == pytest.approx(0.75)
    assert found["messages"] == 200


@pytest.mark.parametrize(("share", "verdict"), [(0.02, "faithful"), (0.1, "strained"), (0.5, "not faithful")])
@pytest.mark.parametrize("which", ["lateness", "overshoot"])
def test_lateness_is_judged_by_the_length_of_a_clock(share, verdict, which):
    found = judged(**{which: [round(share * SECOND)] * 10})
    assert found["verdict"] == verdict
    assert found["late_share_of_clock"] == pytest.approx(share)


@pytest.mark.parametrize(("overran", "verdict"), [(1, "faithful"), (4, "strained"), (50, "not faithful")])
def test_clocks_that_overran_count(overran, verdict):
    found = judged(overran=overran)
    assert found["verdict"] == verdict
    assert ("longer than its modelled time" in found["reason"]) == (overran > 1)


def test_the_advice_names_a_scale_that_would_do():
    found = judged([SECOND // 10] * 10)
    assert found["advice"] == "set run.time_scale to 0.4, or use fewer workers"  # 10% late, 3% allowed


def test_a_run_that_is_late_without_working_much_was_not_alone():
    found = judged([SECOND // 10] * 10, seconds=100.0)
    assert "the run itself kept the processors busy for 2% of the time" in found["reason"]
    assert found["advice"].startswith("leave the machine to this run; where that is not possible, set run.")


def test_one_late_message_in_a_thousand_does_not_decide():
    assert judged([0] * 999 + [SECOND])["verdict"] == "faithful"


def test_a_run_without_a_clock_has_a_verdict_too():
    nothing = {name: np.empty(0, np.int64) for name in CLOCKS}
    assert judged([], [], clocks=nothing)["verdict"] == "faithful"

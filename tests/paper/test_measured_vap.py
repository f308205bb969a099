"""What batches are measured for under VAP, on small ensembles."""

import numpy as np
import pytest

import pskit
from pskit.analysis.starts import started
from pskit.errors import InputError
from pskit.repro.batches import seeded
from pskit.repro.measured import vap
from pskit.runtime.gate import TRAFFIC


def config(policy="vap", clocks=12, app=None, v0=0.5, schedule="inverse-sqrt", **run):
    ps = {"policy": policy} | ({"v0": v0, "v_schedule": schedule} if policy == "vap" else {"slack": 2})
    given = {"name": "absolute", "dim": 3, "noise": 0.0, "distance": 0.2, "schedule": "inverse-sqrt-t"}
    return pskit.Config(
        app=given | {"clocks": clocks, "step": 0.5} | (app or {}),
        ps=ps,
        cluster={"clients": 3, "placement": "separate"},
        run={"eval_every": clocks, "diverge_factor": 1e6} | run,
    )


QUADRATIC = {
    "name": "pskit.repro.measured.vap:Reserving",
    "noise": 1.0,
    "distance": None,
    "schedule": "constant",
    "step": 0.1,
}


def test_the_order_is_that_of_the_starts():
    trace = pskit.run(config(), threads=1)
    one, gate = started(trace), trace.columns("starts")
    assert one.worker.tolist() == gate["worker"].tolist()
    assert one.clock.tolist() == gate["clock"].tolist()
    np.testing.assert_allclose(one.eta, 0.5 / np.sqrt(gate["t"]))
    off = np.abs(one.views - one.x[:-1]).max(axis=1)
    np.testing.assert_allclose(off, gate["distance"], atol=1e-12)
    np.testing.assert_allclose(one.x[-1], trace.table("x").ravel(), atol=1e-12)


def test_the_order_is_no_other_under_essp():
    trace = pskit.run(config("essp"), threads=1)
    one, steps = started(trace), trace.steps()
    assert (one.clock * 3 + one.worker).tolist() == steps.order.tolist()
    np.testing.assert_array_equal(one.views, steps.views[steps.order])


def test_a_run_that_records_no_views_or_stopped_is_refused():
    with pytest.raises(InputError, match="recorded no views"):
        started(pskit.run(pskit.Config(app={"name": "mf", "clocks": 1, "clock_fraction": 0.01}), threads=1))
    cut = pskit.run(config("essp", app=QUADRATIC | {"step": 1e200}), threads=1)
    assert cut.status == "diverged"
    with pytest.raises(InputError, match="did it come to its end"):
        started(cut)


def test_theorem_1_is_checked_after_every_computation():
    columns = vap.bounded([seeded(config(), "run.seed", seed) for seed in (1, 2)])
    assert columns["violations"].tolist() == [0, 0]
    assert columns["distance"].shape == columns["regret"].shape == columns["bound"].shape == (2, 36)
    assert 0.2 < columns["distance"].max() <= 1 + 1e-9
    assert (columns["regret"] <= columns["bound"]).all()
    np.testing.assert_allclose((columns["regret"] / columns["bound"]).max(axis=1), columns["over"])
    assert (columns["gradient"] <= 1).all()
    # The bound of the first computation by hand: eta L^2 / 2 + F^2 / eta + sqrt(d) L v0, F^2 = .2^2 / 2.
    lipschitz = 1.0
    by_hand = 0.5 * lipschitz**2 / 2 + 0.02 / 0.5 + np.sqrt(3) * lipschitz * 0.5
    np.testing.assert_allclose(columns["bound"][:, 0], by_hand, rtol=1e-9)


def test_views_that_are_too_far_away_are_counted(monkeypatch):
    """Nothing is reserved if no L_inf is known, and then views are off by more than v_t."""
    monkeypatch.setattr("pskit.apps.regression.Regression.lipschitz_inf", lambda self, cfg: None)
    columns = vap.bounded([config(v0=0.1, clocks=30)])
    assert columns["violations"][0] > 0
    assert columns["distance"].max() > 1


def test_a_threshold_of_nothing_is_a_serial_execution():
    columns = vap.floor([config(app=QUADRATIC, v0=1e-9, schedule="constant", clocks=200)])
    np.testing.assert_allclose(columns["floor"], columns["serial"])
    assert columns["in_flight"][0] <= 1 + 1e-9
    assert columns["waiting"][0] > 0.4
    assert columns["gradient"][0] < vap.Reserving.LARGEST


def test_a_wide_threshold_is_worse_than_serial_and_the_exact_floor_is_known():
    wide = config(app=QUADRATIC, v0=1e9, schedule="constant", clocks=400)
    columns = vap.floor([seeded(wide, "run.seed", seed) for seed in range(4)])
    h = np.linspace(1.0, 0.25, 3)
    exact = (0.1 / (h * (2 - 0.1 * h))).sum()
    assert columns["serial"].mean() == pytest.approx(exact, rel=0.25)
    assert columns["floor"].sum() > 1.02 * columns["serial"].sum()


def test_traffic_is_per_computation():
    one = vap.floor([config(app=QUADRATIC, schedule="constant", clocks=150)])
    assert [one[f"sync_{kind}"][0] for kind in ("asked", "granted", "announced", "applied", "over")] == [
        1.0
    ] * 5
    assert one["sync_messages"][0] == pytest.approx(sum(one[f"sync_{kind}"][0] for kind in TRAFFIC))
    essp = vap.floor([config("essp", app=QUADRATIC, clocks=150)])
    assert essp["sync_messages"].tolist() == essp["sync_bytes"].tolist() == [0.0]


def test_a_run_without_a_stationary_part_is_refused():
    with pytest.raises(ValueError, match="a run of 36 computations has no stationary part"):
        vap.floor([config("essp", app=QUADRATIC)])


def test_a_run_that_diverged_has_an_infinite_floor():
    columns = vap.floor([config("essp", app=QUADRATIC | {"step": 50.0}, clocks=40)])
    assert columns["floor"].tolist() == [np.inf]

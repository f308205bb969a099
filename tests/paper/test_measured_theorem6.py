"""What batches are measured for: the variance and its terms, on small ensembles."""

import numpy as np
import pytest

import pskit
import theory
from pskit.analysis.variance import TERMS
from pskit.repro.batches import seeded
from pskit.repro.measured import theorem6

CLOCKS = 12


def config(**app):
    given = {"name": "quadratic", "dim": 2, "clocks": CLOCKS, "step": 0.1, **app}
    return pskit.Config(
        app=given, ps={"policy": "ssp", "slack": 2}, cluster={"clients": 3, "placement": "separate"}
    )


@pytest.fixture(scope="module")
def one_schedule():
    return theorem6.variance([seeded(config(), "app.noise_seed", seed) for seed in range(8)])


def test_the_terms_add_up_and_the_trace_accounts_for_everything(one_schedule):
    for name in ("closure", "closure_view", "final_error", "view_error"):
        assert one_schedule[name].max() < 1e-12, name
    total = one_schedule["terms"][:5].sum(axis=0)
    np.testing.assert_allclose(total, np.diff(one_schedule["var"]), atol=1e-13)
    views = one_schedule["terms"].sum(axis=0)
    np.testing.assert_allclose(views, np.diff(one_schedule["var_view"]), atol=1e-13)


def test_a_view_with_other_updates_is_noticed():
    (run,) = theorem6.Ensemble([theorem6.measure(theorem6.run(config(), threads=1), "population")]).runs
    assert theorem6.view_error(run) < 1e-12
    c, p, q = (int(i[-1]) for i in np.nonzero(run.included))
    run.included[c, p, q] -= 1
    assert theorem6.view_error(run) > 1e-3


def test_the_recursion_is_beside_runs_of_one_schedule(one_schedule):
    reads = 3 * CLOCKS
    assert one_schedule["exact"].shape == one_schedule["terms"].shape == (len(TERMS), reads - 1)
    assert one_schedule["exact_var"].shape == (reads + 1,)
    assert np.isfinite(one_schedule["z_terms"]).all()
    assert 0.2 < np.abs(one_schedule["z_mean"]).max() < 6
    assert one_schedule["delay_law"].sum() == pytest.approx(1)
    assert one_schedule["along"].shape == (8, len(TERMS))
    # The mean over the runs is the measured term itself, along the curve.
    half = slice((reads - 1) // 2, None)
    measured, curve = 8 / 7 * one_schedule["terms"][:, half], one_schedule["exact"][:, half]
    wanted = (measured * curve).sum(axis=1) / (curve**2).sum(axis=1)
    np.testing.assert_allclose(one_schedule["along"].mean(axis=0), wanted, rtol=1e-9)
    # Terms against a recursion of the other form, with the noise that the runs have.
    run = theorem6.measure(theorem6.run(seeded(config(), "app.noise_seed", 0), threads=1), "population")
    known = theory.linear_recursion(
        theory.prefix_visibility(run.included), run.eta, [1.0, 0.25], [1.0, 1.0], run.x[0], run.x_star
    )
    terms = theory.linear_terms(known, run.eta, [1.0, 0.25], [1.0, 1.0])
    for name, row in zip(TERMS, one_schedule["exact"], strict=True):
        np.testing.assert_allclose(row, terms[name][: reads - 1], atol=1e-14)


def test_schedules_drawn_anew_have_no_exact_curve():
    columns = theorem6.variance([seeded(config(random_start=True), "run.seed", seed) for seed in range(3)])
    assert "predicted" in columns
    assert "exact" not in columns
    assert columns["var"][0] > 0  # of the start


def test_other_losses_have_the_identity_alone():
    cfg = config(name="logistic", noise=0.5)
    columns = theorem6.variance([seeded(cfg, "run.seed", seed) for seed in range(3)])
    assert columns["closure"].max() < 1e-12
    assert "predicted" not in columns


def test_scores():
    found = theorem6.in_errors(np.array([1e-16, 0.3, 0.3]), np.array([0.0, 0.1, 0.0]), 1.0)
    assert found.tolist() == [0.0, pytest.approx(3.0), np.inf]


def test_powers_of_the_step():
    found = theorem6.scaling([seeded(config(clocks=40), "run.seed", 1)])
    table, steps = found["interpolating"][0], found["interpolating_steps"]
    per_distance = np.abs(table[:, :7] / table[:, 7:])
    powers = np.log2(per_distance[2] / per_distance[1]) / np.log2(steps[2] / steps[1])
    for name, power in (("fresh_noise", 2), ("stale1", 2), ("stale2", 3), ("stale3", 4)):
        assert powers[TERMS.index(f"ref:{name}")] == pytest.approx(power, abs=0.1)
    assert found["floor"].shape == (1, len(found["floor_steps"]), 8)
    assert (found["floor"][..., TERMS.index("ref:stale1")] > 0).all()
    assert found["iid_floor"].shape == (1, len(found["floor_steps"]))

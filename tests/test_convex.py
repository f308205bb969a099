"""Convex runs and ensembles against the theory."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import pskit
import theory
from pskit.apps import make_app
from pskit.convex import ensemble, measure
from pskit.errors import InputError

POLICIES = {
    "ssp": {"policy": "ssp", "slack": 3},
    "essp": {"policy": "essp", "slack": 3},
    "bsp": {"policy": "bsp"},
}


def config(app="absolute", policy="essp", clocks=20, clients=3, step=0.3, **keys):
    noise = {"noise": 0.0, "distance": 0.2} if app == "absolute" else {}
    return pskit.Config(
        app={
            "name": app,
            "dim": 3,
            "step": step,
            "schedule": "inverse-sqrt-t",
            "clocks": clocks,
            **noise,
            **keys,
        },
        ps=POLICIES[policy],
        cluster={"clients": clients, "placement": "separate"},
    )


@pytest.fixture(scope="module")
def apps():
    return ensemble({app: config(app) for app in ("absolute", "huber", "logistic", "quadratic")}, range(3))


@pytest.mark.parametrize("app", ["absolute", "huber", "logistic", "quadratic"])
@pytest.mark.parametrize("comparator", ["run", "population"])
def test_the_ladder_of_pathwise_bounds(app, comparator):
    for policy in POLICIES:
        cfg = config(app, policy, samples=50) if app != "quadratic" else config(app, policy)
        run = measure(pskit.run(cfg, threads=1), comparator)
        levels = run.levels()
        ladder = [levels[name] for name in ("R", "C0", "C1", "C2") if name in levels]
        assert all(a <= b + 1e-12 for a, b in pairwise(ladder))
        assert len(ladder) == (2 if app == "quadratic" else 4)
        if app != "absolute":
            assert levels["R_reference"] <= levels["C3"] + 1e-12
        assert levels["R"] == pytest.approx(run.mean_regret, rel=1e-12)
        assert run.final_error < 1e-14


DATA = {
    "one row twice": "1 1 2 3\n-1 1 2 3\n",
    "a column twice": "1 2 2\n-1 1 1\n-1 -3 -3\n1 -1 -1\n",
    "large targets": "1e140 1 2\n-1e140 2 1\n",
    "small features": "1 1e-140 0\n-1 2e-140 1e-140\n-1 -1e-140 -3e-140\n1 -1e-140 2e-140\n",
}


@pytest.mark.parametrize(
    ("app", "data"),
    [(app, data) for app in ("absolute", "huber") for data in DATA]
    + [("logistic", data) for data in DATA if data != "large targets"],
)
def test_runs_on_data_of_all_kinds_are_measured(app, data, tmp_path):
    file = tmp_path / "samples.txt"
    file.write_text(DATA[data])
    cfg = pskit.Config(
        app={"name": app, "data": str(file), "clocks": 12, "schedule": "inverse-sqrt-t"},
        ps=POLICIES["essp"],
        cluster={"clients": 3},
    )
    run = pskit.run(cfg, threads=1)
    for comparator in ("run", "population"):
        one = measure(run, comparator)
        rng = np.random.default_rng(0)
        terms = make_app(app).terms(cfg)
        if comparator == "run":  # no point nearby has a smaller sum
            size = np.abs(one.x_star).max() * 1e-3
            near = [terms.values(one.x_star + size * rng.normal(size=one.dim)).sum() for _ in range(20)]
            assert min(near) >= one.f_star.sum() * (1 - 1e-12)
        levels = one.levels()
        ladder = [levels[name] for name in ("R", "C0", "C1", "C2")]
        assert all(a <= b + 1e-9 * abs(b) for a, b in pairwise(ladder))


def test_the_certificate_is_the_regret_where_terms_are_linear_between_view_and_minimiser(apps):
    """Without noise an absolute loss is |a.(x - x*)|: linear from x* to any point."""
    levels = apps["absolute"].levels()
    np.testing.assert_allclose(levels["C0"], levels["R"], rtol=1e-9)


def test_certificates_do_not_depend_on_the_order_of_reference(apps):
    for run in apps["huber"].runs:
        parts, order = run.certificate(run.x_star), run.order
        x = np.concatenate([run.x[:1], run.x[0] + np.cumsum(run.u[order], axis=0)])
        again = theory.regret_certificate(run.eta[order], run.g[order], x, run.views[order], run.x_star)
        assert sum(again) == pytest.approx(sum(parts), rel=1e-8)


@pytest.mark.parametrize("app", ["absolute", "huber", "logistic", "quadratic"])
def test_the_terms_of_the_variance_add_up(app, apps):
    arguments = apps[app].variance()
    terms = theory.thm6_terms(**arguments)
    parts = {name: arguments[name] for name in ("x", "x_next", "delta", "delta_next")}
    closure = theory.thm6_closure(**parts, terms=terms)
    assert max(np.max(closure.reference), np.max(closure.view)) <= 1e-10
    assert arguments["x"].shape == (59, 3, 3)
    assert arguments["eta"].shape == (59,)
    assert np.abs(terms["ref:stale1"]).max() > 0


def test_fresh_gradients_are_of_the_same_sample(apps):
    for run in apps["quadratic"].runs:
        h = np.linspace(1, 0.25, 3)
        np.testing.assert_allclose(run.g - run.fresh, h * (run.views - run.x[:-1]), atol=1e-14)
        np.testing.assert_allclose(run.fresh[0], run.g[0], atol=1e-15)


def test_one_comparator_and_one_f2_for_all(apps):
    runs = apps["huber"]
    assert len({tuple(run.x_star) for run in runs.runs}) == 1
    assert max(run.F2 for run in runs.runs) == runs.F2
    assert np.sum((runs.first.x[0] - runs.first.x_star) ** 2) / 2 <= runs.F2
    assert runs.mean_regret.shape == (3,)
    assert runs.moments().n_runs == 3
    assert "A1" in runs.assumptions().verdict
    with pytest.raises(InputError, match="known L"):
        apps["quadratic"].assumptions()


def test_processes_change_no_result():
    configs = {policy: config("huber", policy, clocks=8) for policy in POLICIES}
    alone, together = ensemble(configs, range(3)), ensemble(configs, range(3), jobs=2)
    for policy in configs:
        assert [run.seed for run in together[policy].runs] == [0, 1, 2]
        for a, b in zip(alone[policy].runs, together[policy].runs, strict=True):
            for name in ("x", "views", "g", "f", "f_star", "fresh", "included", "order"):
                assert np.array_equal(getattr(a, name), getattr(b, name))


def test_terms_that_are_not_those_of_the_run_are_refused(tmp_path):
    file = tmp_path / "samples.txt"
    file.write_text("1 1 2 3\n-1 0 1 1\n2 1 1 0\n")
    cfg = pskit.Config(
        app={"name": "absolute", "data": str(file), "clocks": 12, "schedule": "inverse-sqrt-t"},
        ps=POLICIES["essp"],
        cluster={"clients": 3},
    )
    trace = pskit.run(cfg, threads=1)
    assert len(measure(trace)) == 36
    file.write_text("1 1 2 3\n-1 0 1 1\n2 1 1 0.5\n")
    with pytest.raises(InputError, match=r"term \d+ is .*the trace has .*the file of app.data"):
        measure(trace)


def test_a_script_without_guard_is_told(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import pskit\nfrom pskit.convex import ensemble\n"
        'cfg = pskit.Config(app={"name": "absolute", "clocks": 2, "noise": 0.0}, cluster={"clients": 2})\n'
        'ensemble({"a": cfg}, range(4), jobs=2)\n'
    )
    root = Path(__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment)
    assert done.returncode == 1
    assert "under `if __name__ ==" in done.stderr


def test_schedule_and_noise_have_seeds_of_their_own():
    cfg = {"q": config("quadratic", "ssp", noise=0.5)}
    same_schedule = ensemble(cfg, [7, 7], noise_seeds=[1, 2])["q"].runs
    same_noise = ensemble(cfg, [7, 8], noise_seeds=[1, 1])["q"].runs
    assert np.array_equal(same_schedule[0].included, same_schedule[1].included)
    assert np.array_equal(same_schedule[0].order, same_schedule[1].order)
    assert not np.allclose(same_schedule[0].x, same_schedule[1].x)
    assert np.array_equal(same_schedule[0].x, same_noise[0].x)
    assert not np.array_equal(same_noise[0].included, same_noise[1].included)
    np.testing.assert_array_equal(same_noise[0].f_star, same_noise[1].f_star)
    for run in same_noise:
        np.testing.assert_allclose(
            run.g - np.linspace(1, 0.25, 3) * (run.views - run.x_star), _noise(same_noise[0])
        )


def _noise(run):
    return run.g - np.linspace(1, 0.25, 3) * (run.views - run.x_star)


def test_the_exact_recursion_fits_an_ensemble_of_one_schedule():
    """Mean and covariance of x_t of 100 runs with fresh noise, at five reads: all |z| < 4."""
    cfg = config("quadratic", "essp", clocks=15, step=0.15, noise=0.7, distance=1.0)
    runs = ensemble({"q": cfg}, [3] * 100, noise_seeds=range(100))["q"]
    one = runs.first
    exact = theory.linear_recursion(
        (one.included, one.order), one.eta, np.linspace(1, 0.25, 3), np.full(3, 0.49), one.x[0], one.x_star
    )
    x = runs.each(lambda run: run.x)
    for t in (5, 12, 22, 33, 44):
        sample, cov = x[:, t], exact.cov[t]
        z = (sample.mean(axis=0) - exact.mean[t]) / np.sqrt(np.diag(cov) / 100)
        assert np.abs(z).max() < 4
        trace_sd = np.sqrt(2 * np.sum(cov**2) / 99)  # of normal samples
        assert abs(np.trace(np.cov(sample.T)) - np.trace(cov)) < 4 * trace_sd


def test_seeds_that_do_not_pair():
    with pytest.raises(ValueError, match="got 3 seeds and 2 noise_seeds"):
        ensemble({"a": config()}, range(3), noise_seeds=range(2))
    with pytest.raises(ValueError, match="got 0 seeds"):
        ensemble({"a": config()}, [])


def test_only_convex_runs_can_be_measured():
    mf = pskit.Config(
        app={"name": "mf", "rank": 2, "clocks": 1, "clock_fraction": 0.01}, cluster={"clients": 2}
    )
    with pytest.raises(InputError, match="'mf' is not convex"):
        ensemble({"mf": mf}, [0])
    with pytest.raises(ValueError, match="comparator must be"):
        measure(pskit.run(config(clocks=2), threads=1), comparator="best")

"""Gamma of a run: by hand, by a NumPy twin of the run, and by the theory's own facts."""

import numpy as np
import pytest

import pskit
import theory
from pskit.analysis.gamma import run_moments
from pskit.analysis.trace import Trace
from pskit.apps import make_app
from pskit.core.layout import Layout, TableSpec
from pskit.errors import InputError
from pskit.trace.manifest import describe_layout
from pskit.trace.recorder import Recorder
from pskit.trace.steps import StepLog

POLICIES = {
    "ssp": {"policy": "ssp", "slack": 3},
    "essp": {"policy": "essp", "slack": 3},
    "essp, deltas": {"policy": "essp", "slack": 2, "push": "deltas"},
    "bsp": {"policy": "bsp"},
    "two shards": {"policy": "essp", "slack": 2, "shards": 2},
    "small cache": {"policy": "ssp", "slack": 2, "shards": 3, "cache_rows": 2},
}


def config(policy="ssp", app="huber", clients=3, clocks=25, seed=0, **more):
    return pskit.Config(
        app={"name": app, "dim": 4, "step": 0.3, "schedule": "inverse-sqrt-t", "clocks": clocks, **more},
        ps=POLICIES[policy],
        cluster={"clients": clients, "placement": "separate"},
        run={"seed": seed, "eval_every": clocks},
    )


@pytest.fixture(scope="module")
def runs():
    return {policy: pskit.run(config(policy), threads=1) for policy in POLICIES}


def hand_trace():
    """Case 16 of the theory's golden numbers as a run would record it: two workers, slack 1, three clocks."""
    layout = Layout([TableSpec("x", 1, 1, "f8")])
    recorder = Recorder(layout, 2)
    recorder.steps = StepLog(layout)
    u = [[-1.0, -0.5], [0.5, -0.25], [0.25, -0.125]]
    # The shard applies clock by clock; for each read its version and the first own update added on top.
    copies = {(0, 0): (0, 0), (0, 1): (0, 0), (1, 0): (0, 0), (1, 1): (3, 1), (2, 0): (4, 2), (2, 1): (2, 1)}
    views = {(0, 0): 0.0, (0, 1): 0.0, (1, 0): -1.0, (1, 1): -1.0, (2, 0): -1.25, (2, 1): -1.75}
    for (c, p), (version, own_from) in copies.items():
        t, row = 10 * c + p, np.zeros(1, np.int32)
        recorder.read(
            t, p, c, row, np.array([version]), np.array([own_from], np.int32), c + 1, row.copy(),
            np.ones(1, bool), 0,
        )  # fmt: skip
        recorder.steps.view(t, p, c, row, [np.array([[views[c, p]]])])
        recorder.steps.step(p, c, 0.5, np.array([-2 * u[c][p]]), 0.0)
        recorder.update(p, c, 0, c, 2 * c + p, t, t, t, abs(u[c][p]), abs(u[c][p]))
    manifest = {
        "status": "finished",
        "workers": 2,
        "layout": describe_layout(layout),
        "trace": {"sampling": recorder.sampling},
        "config": {"app": {"name": "hand"}, "ps": {"policy": "ssp", "slack": 1}},
    }
    return Trace(manifest, recorder.finish(), {"initial:x": np.zeros((1, 1))})


def test_the_hand_trace():
    steps = hand_trace().steps()
    assert steps.included.tolist() == [[[0, 0], [0, 0]], [[1, 0], [2, 1]], [[2, 2], [1, 2]]]
    assert steps.x[:, 0].tolist() == [0, -1, -1.5, -1, -1.25, -1, -1.125]
    np.testing.assert_allclose(steps.gamma.ubar, [0.375, 0.375, 0.4375, 0.4375, 0.1875, 0.1875])
    np.testing.assert_allclose(steps.gamma.gamma, [0, 8 / 3, 8 / 7, 0, 0, 4], rtol=1e-12)
    assert steps.counts.n.tolist() == [0, 1, 1, 0, 0, 2]
    assert steps.counts.k.tolist() == [1, 1, 1, 0, 1, 0]
    assert steps.gamma.gamma_eta is None  # no known L
    assert hand_trace().moments().mu == pytest.approx((8 / 3 + 8 / 7 + 4) / 6)


def included_by_counting(trace):
    """Sets of (worker, clock) in each view, per row, straight from the lines of the trace."""
    reads, updates, workers = trace.columns("reads"), trace.columns("updates"), trace.manifest["workers"]
    sets = {}
    for i in range(len(reads["t"])):
        seen = {
            (int(w), int(c))
            for w, c, j, k in zip(
                *(updates[n] for n in ("worker", "clock", "shard", "apply_index")), strict=True
            )
            if j == reads["shard"][i] and k < reads["version"][i]
        }
        me = int(reads["worker"][i])
        seen |= {(me, c) for c in range(reads["own_from"][i], reads["own_upto"][i] - 1)}
        sets[int(reads["clock"][i]) * workers + me, int(reads["row"][i])] = seen
    return sets


@pytest.mark.parametrize("policy", POLICIES)
def test_included_clocks_are_those_of_the_lines(policy, runs):
    trace = runs[policy]
    steps, sets = trace.steps(), included_by_counting(trace)
    included = steps.included if steps.per_row else steps.included[:, :, None]
    groups = included.shape[2]
    for t in range(len(steps)):
        c, p = divmod(t, 3)
        patterns = {tuple(row) for row in included[c, p].tolist()}
        wanted = set()
        for row in range(4):
            counts = [len({k for w, k in sets[t, row] if w == q and k < steps.clocks}) for q in range(3)]
            assert all((q, k) in sets[t, row] for q in range(3) for k in range(counts[q]))  # a prefix
            wanted.add(tuple(counts))
        assert patterns == wanted
    assert groups <= 4
    assert steps.per_row == (policy == "small cache") or policy == "two shards"


@pytest.mark.parametrize("policy", POLICIES)
def test_a_numpy_twin_of_the_run(policy, runs):
    """Views and gradients follow from start, terms and included updates alone."""
    trace = runs[policy]
    cfg = pskit.Config(**trace.config)
    steps, terms = trace.steps(), make_app(cfg.app.name).terms(cfg)
    np.testing.assert_allclose(terms.gradients(steps.views), steps.g, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(terms.values(steps.views), steps.f, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(steps.eta, 0.3 / np.sqrt(np.arange(1, len(steps) + 1)), rtol=1e-15)
    np.testing.assert_allclose(steps.x[-1], trace.table("x")[:, 0], rtol=0, atol=1e-14)
    if not steps.per_row:
        seen = theory.prefix_visibility(steps.included)
        np.testing.assert_allclose(terms.start + seen @ steps.u, steps.views, atol=1e-14)


@pytest.mark.parametrize("policy", POLICIES)
def test_facts_of_the_theory(policy, runs):
    steps = runs[policy].steps()
    counts, P, s = steps.counts, steps.workers, steps.slack
    assert counts.n.sum() == counts.k.sum()
    assert max(counts.n.max(), counts.k.max()) <= theory.n_max(P, s, steps.per_row)
    assert steps.gamma.gamma.max() <= P * (2 * s + 1) * (1 + 1e-12)
    assert (steps.read_start >= 0).all()
    assert np.array_equal(np.sort(steps.order), np.arange(len(steps)))
    missing_steps = np.zeros(len(steps))
    if not steps.per_row:
        seen, index = theory.prefix_visibility(steps.included), np.arange(len(steps))
        differs = seen != (index[None] < index[:, None])
        np.fill_diagonal(differs, False)
        missing_steps = differs @ np.linalg.norm(steps.u, axis=1)
        assert (steps.gamma.b <= missing_steps + 1e-12).all()
        assert (steps.gamma.b <= steps.lipschitz * (differs @ steps.eta) + 1e-12).all()


def test_pushed_rows_are_fresher(runs):
    pull, eager = runs["ssp"].steps(), runs["essp"].steps()
    for measure in (lambda s: s.counts.missing, lambda s: s.read_start, lambda s: s.gamma.gamma):
        assert measure(eager).mean() < measure(pull).mean()


def test_one_worker_is_never_stale():
    steps = pskit.run(config(clients=1, app="quadratic", noise=0.3), threads=1).steps()
    assert not steps.gamma.b.any()
    assert not steps.gamma.gamma.any()
    assert not steps.counts.n.any()
    assert np.array_equal(steps.views, steps.x[:-1])


def test_bsp_lacks_the_current_clock_only(runs):
    steps = runs["bsp"].steps()
    assert steps.counts.n.tolist() == [0, 1, 2] * steps.clocks
    assert not steps.counts.extra.any()


def test_moments_of_one_run_and_of_several():
    traces = [pskit.run(config("essp", seed=seed), threads=1) for seed in range(4)]
    one = traces[0].moments()
    assert isinstance(one, theory.Moments)
    assert one.n_runs == 1
    assert one.ci_mu[0] < one.mu < one.ci_mu[1]
    several = run_moments([trace.steps() for trace in traces])
    assert several.n_runs == 4
    assert several.mu == pytest.approx(np.mean([trace.moments().mu for trace in traces]))
    assert several.ci_mu[0] < several.mu < several.ci_mu[1]
    other = pskit.run(config("ssp", clocks=5), threads=1).steps()
    with pytest.raises(InputError, match="equal workers, slack and reads"):
        run_moments([traces[0].steps(), other])


def test_certificates_hold_for_any_comparator(runs):
    for trace in runs.values():
        steps = trace.steps()
        cfg = pskit.Config(**trace.config)
        terms = make_app(cfg.app.name).terms(cfg)
        for x_star in (terms.minimiser(), np.full(4, 0.3)):
            parts = steps.certificate(x_star)
            regret = (steps.f - terms.values(x_star)).sum()
            assert regret <= parts.A + parts.B + parts.S + 1e-10
            displaced = steps.lipschitz * steps.gamma.b.sum()
            assert displaced + 1e-12 >= parts.S
            assert steps.largest_distance(x_star) == pytest.approx(
                max(0.5 * np.sum((x - x_star) ** 2) for x in steps.x[:-1])
            )


def test_a_policy_without_slack_needs_one_for_its_windows():
    cfg = pskit.Config(
        app={"name": "huber", "dim": 2, "clocks": 4}, ps={"policy": "asp"}, cluster={"clients": 2}
    )
    trace = pskit.run(cfg, threads=1)
    with pytest.raises(InputError, match="'asp' has no slack, so give one"):
        trace.moments()
    assert trace.moments(slack=4).n_reads == 8


def test_runs_without_views_say_why(tmp_path):
    mf = pskit.run(
        pskit.Config(
            app={"name": "mf", "rank": 2, "clocks": 1, "clock_fraction": 0.01}, cluster={"clients": 2}
        ),
        threads=1,
    )
    with pytest.raises(InputError, match="'mf' is not convex"):
        mf.steps()
    large = pskit.Config(app={"name": "quadratic", "dim": 70_000, "clocks": 15}, cluster={"clients": 2})
    trace = pskit.run(large, threads=1)
    with pytest.raises(InputError, match=r"'quadratic' is too large for it: .* run.trace=full"):
        trace.steps()
    diverged = pskit.run(config(app="quadratic", step=1e30, clocks=60), threads=1)
    with pytest.raises(InputError, match="this one is diverged"):
        diverged.steps()


def test_an_application_that_reads_twice_is_told(runs):
    trace = runs["ssp"]
    columns = {name: dict(trace.columns(name)) for name in trace.names}
    columns["views"] = {name: np.concatenate([v, v[:1]]) for name, v in columns["views"].items()}
    tables = {
        f"initial:{t['name']}": trace.table(t["name"], "initial") for t in trace.manifest["layout"]["tables"]
    }
    with pytest.raises(InputError, match="did not make exactly one read of all rows and one step"):
        Trace(trace.manifest, columns, tables).steps()

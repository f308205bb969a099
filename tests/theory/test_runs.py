"""Certificates, counts and gamma on simulated runs (acceptance tests 4, 5, 8, 9, 10)."""

import numpy as np
import pytest

import theory

KINDS = [(kind, eager) for kind in ("absolute", "huber") for eager in (False, True)]


def every(runs):
    return [run for group in runs.values() for run in group]


def half_distance(run):
    return float(((run.x - run.x_star) ** 2).sum(axis=1).max() / 2)


def test_certificates_in_order(runs):
    for run in every(runs):
        A, B, S = theory.regret_certificate(run.eta_t, run.g, run.x, run.views, run.x_star)
        regret, F2 = run.losses.sum(), half_distance(run)
        b = theory.gamma(run.x, run.views, run.u, run.P, run.s).b
        k = theory.counts(run.vc).k
        c0, c1 = A + B + S, A + B + run.L * b.sum()
        c2 = float(theory.delay_adaptive_regret(run.eta_t, run.L, F2, k))
        T = run.eta_t.size
        c3 = float(theory.thm3_regret(0.5, run.L, F2, run.P, run.s, T))
        assert regret <= c0 + 1e-12
        assert c0 <= c1 + 1e-12
        assert c1 <= c2 <= c3


def test_certificate_is_equality_for_linear_losses(runs):
    run = runs["absolute", False][0]
    A, B, S = theory.regret_certificate(run.eta_t, run.g, run.x, run.views, run.x_star)
    linear = np.sum(run.g * (run.views - run.x_star))
    assert pytest.approx(linear, rel=1e-12) == A + B + S
    lhs, rhs = theory.lemma_a1(run.x_star, run.x[:-1], run.x[1:], run.views, run.g, run.eta_t)
    np.testing.assert_allclose(lhs, rhs, atol=1e-13)


def test_certificate_of_seeds_at_once(runs):
    group = runs["huber", True][:3]
    stack = [np.stack([getattr(r, name) for r in group]) for name in ("g", "x", "views")]
    together = theory.regret_certificate(group[0].eta_t, *stack, group[0].x_star)
    for i, run in enumerate(group):
        one = theory.regret_certificate(run.eta_t, run.g, run.x, run.views, run.x_star)
        np.testing.assert_allclose([part[i] for part in together], one, rtol=1e-12)


def test_certificate_does_not_depend_on_the_order(runs):
    for run in every(runs)[::6]:
        clock_major = sum(theory.regret_certificate(run.eta_t, run.g, run.x, run.views, run.x_star))
        o = run.order
        x = np.concatenate([np.zeros((1, 3)), np.cumsum(run.u[o], axis=0)])
        started = sum(theory.regret_certificate(run.eta_t[o], run.g[o], x, run.views[o], run.x_star))
        assert started == pytest.approx(clock_major, rel=1e-8)


def test_certificate_refuses_a_projection(runs):
    run = runs["absolute", False][0]
    x = run.x.copy()
    x[40:] *= 0.99
    with pytest.raises(ValueError, match="no projection"):
        theory.regret_certificate(run.eta_t, run.g, x, run.views, run.x_star)


def test_smooth_regret_at_the_reference(runs):
    for eager in (False, True):
        for run in runs["huber", eager]:
            b = theory.gamma(run.x, run.views, run.u, run.P, run.s).b
            norms = np.linalg.norm(run.g, axis=1)
            bound = theory.smooth_regret(run.eta_t, norms, half_distance(run), 1 / 0.1, b)
            assert run.reference_losses.sum() <= float(bound)


def test_counts_add_up_and_stay_below_n_max(runs):
    for run in every(runs):
        count = theory.counts(run.vc)
        assert count.n.sum() == count.k.sum()
        assert np.array_equal(count.n, count.missing + count.extra)
        assert max(count.n.max(), count.k.max()) <= theory.n_max(run.P, run.s)
        visible = theory.prefix_visibility(run.vc)
        T = len(visible)
        disagree = visible ^ np.tri(T, k=-1, dtype=bool)
        assert np.array_equal(count.n, disagree.sum(axis=1))
        assert np.array_equal(count.k, disagree.sum(axis=0))
        np.testing.assert_allclose(visible @ run.u, run.views, atol=1e-12)


def test_rows_of_different_age(runs):
    run = runs["absolute", True][0]
    older = np.maximum.accumulate(
        np.maximum(run.vc - 2, np.arange(len(run.vc))[:, None, None] - run.s), axis=0
    )
    older = np.clip(older, 0, run.vc)
    both = np.stack([run.vc, older], axis=2)
    count = theory.counts(both)
    assert count.n.sum() == count.k.sum()
    assert np.all(count.missing == theory.counts(older).missing)
    assert np.all(count.extra == theory.counts(run.vc).extra)
    assert max(count.n.max(), count.k.max()) <= theory.n_max(run.P, run.s, per_row=True)


def test_gamma_within_its_range(runs):
    for run in every(runs):
        found = theory.gamma(run.x, run.views, run.u, run.P, run.s, L=run.L, eta=0.5)
        assert np.all(found.gamma <= float(theory.lemma4_gamma(run.P, run.s)) * (1 + 1e-12))
        np.testing.assert_allclose(found.gamma_eta * run.eta_t * run.L, found.b)
        sizes = theory.lemma4_ubar(0.5, run.L, run.P, run.s, run.eta_t.size)
        assert np.all(found.ubar <= sizes.value * (1 + 1e-12))
        vectors = theory.gamma_vectors(run.x, run.views, run.u, run.P, run.s)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), found.gamma, atol=1e-12)


def test_eager_is_fresher_than_pull(runs):
    def means(group):
        missing = np.mean([theory.counts(r.vc).missing.mean() for r in group])
        unread = np.mean([theory.read_start_counts(r.vc, r.order).mean() for r in group])
        gamma = np.stack([theory.gamma(r.x, r.views, r.u, r.P, r.s).gamma for r in group])
        return missing, unread, theory.gamma_moments(gamma, 4, 3).mu

    for kind in ("absolute", "huber"):
        for pull, eager in zip(means(runs[kind, False]), means(runs[kind, True]), strict=True):
            assert eager < 0.9 * pull


def test_no_slack(schedule):
    vc, order = schedule(4, 0, 30, np.random.default_rng(0), False, 0.3)
    count = theory.counts(vc)
    assert count.n.max() <= theory.n_max(4, 0) == 3
    assert np.all(theory.read_start_counts(vc, order) <= 3)
    u = np.random.default_rng(1).normal(size=(120, 2))
    x = np.concatenate([np.zeros((1, 2)), np.cumsum(u, axis=0)])
    assert np.all(np.isfinite(theory.gamma(x, theory.prefix_visibility(vc) @ u, u, 4, 0).gamma))


def test_single_worker_is_never_stale(schedule):
    vc, order = schedule(1, 2, 20, np.random.default_rng(0), False, 0.3)
    assert theory.counts(vc).n.sum() == 0
    assert theory.read_start_counts(vc, order).sum() == 0
    assert theory.n_max(1, 2) == 0


def test_tail_that_vanishes_keeps_its_digits():
    P, s, T = 2, 1, 400
    u = (0.9 ** np.arange(T))[:, None]
    x = np.concatenate([np.zeros((1, 1)), np.cumsum(u, axis=0)])
    views = x[:-1] - np.concatenate([np.zeros((1, 1)), u[:-1]])
    found = theory.gamma(x, views, u, P, s)
    first = (T - 20) // P * P  # same place in a clock as the last, far from the end of the run
    assert found.ubar[first] == pytest.approx(u[first - 2 : first + 4].sum() / 6, rel=1e-12)


def test_kappa():
    for P, s in ((4, 3), (32, 0), (1, 0), (7, 2)):
        kappa = theory.lemma4_ubar(1.0, 1.0, P, s, 40 * P).details["kappa"]
        assert kappa.max() <= 2
        assert kappa.max() > 1 or P == 1
    assert theory.lemma4_ubar(1, 1, 32, 0, 320).details["kappa"].max() == pytest.approx(1.76, abs=0.01)
    w = theory.lemma4_weights(3, 4, 900)
    h, H = theory.harmonic_sums(900)
    assert w.sum() <= h
    assert w @ w <= H
    assert w.max() <= 1


def test_half_open_window():
    assert np.all(theory.lemma4_weights(4, 0, 20, half_open=True) == 0)
    full, half = theory.lemma4_weights(2, 1, 10), theory.lemma4_weights(2, 1, 10, half_open=True)
    last = np.arange(1, 11) ** -0.5
    np.testing.assert_allclose(full[2:4] - half[2:4], last[4:6].sum() / 6)  # clock 2 lacks clock 3
    np.testing.assert_allclose(half[8:10], full[8:10])  # the last clock has no later one
    np.testing.assert_allclose(theory.lemma4_weights(2, 50, 10), last.sum() / 202)

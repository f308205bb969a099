"""Theorems 6 and 2: the identity, its prediction under A1 and A2, the iid-delay model, the recursion."""

import numpy as np
import pytest

import theory
from theory.thm6 import REFERENCE


def logistic_ensemble(seed, N=200, d=3):
    """One step of N seeds of logistic regression with displaced views."""
    rng = np.random.default_rng(seed)
    rows, x, delta, after = (rng.normal(size=(N, d)) * scale for scale in (1, 2, 0.5, 0.4))

    def gradient(at):
        return rows / (1 + np.exp(-np.sum(rows * at, axis=1, keepdims=True)))

    h, g, eta = gradient(x), gradient(x + delta), 0.3
    return {"x": x, "x_next": x - eta * g, "g": g, "h": h, "delta": delta, "delta_next": after}, eta


@pytest.mark.parametrize("seed", range(4))
def test_identity(seed):
    arrays, eta = logistic_ensemble(seed)
    terms = theory.thm6_terms(**arrays, eta=eta)
    parts = {name: arrays[name] for name in ("x", "x_next", "delta", "delta_next")}
    closure = theory.thm6_closure(**parts, terms=terms)
    assert closure.reference < 1e-12
    assert closure.view < 1e-12
    printed = theory.thm6_as_printed(terms)
    assert sum(printed.values()) == pytest.approx(sum(terms.values()), rel=1e-12)


def test_identity_for_many_steps_and_vap_views():
    """Theorem 2: delta_t bounded by v_t; all t at once, with the remainder bound on the view terms."""
    rng = np.random.default_rng(3)
    T, N, d, v0, eta = 40, 60, 2, 0.5, 0.2
    x = np.empty((T + 1, N, d))
    x[0] = rng.normal(size=(N, d))
    delta = v0 / np.sqrt(np.arange(1, T + 2))[:, None, None] * rng.uniform(-1, 1, (T + 1, N, d))
    hessian = np.diag([1.0, 0.5])
    g, h = np.empty((2, T, N, d))
    for t in range(T):
        noise = rng.normal(size=(N, d))
        h[t], g[t] = x[t] @ hessian + noise, (x[t] + delta[t]) @ hessian + noise
        x[t + 1] = x[t] - eta / np.sqrt(t + 1) * g[t]
    eta_t = eta / np.sqrt(np.arange(1, T + 1))
    terms = theory.thm6_terms(x[:-1], x[1:], g, h, delta[:-1], delta[1:], eta_t)
    closure = theory.thm6_closure(x[:-1], x[1:], delta[:-1], delta[1:], terms)
    assert np.max(closure.reference) < 1e-10
    assert np.max(closure.view) < 1e-10
    sd = np.sqrt(x.var(axis=1).sum(axis=-1))
    bound = theory.thm2_remainder(d, v0, np.arange(1, T + 1), sd[:-1], sd[1:], eta_t=eta_t, M=1.0)
    for name in ("view:cross", "view:vardelta", "ref:stale1"):
        assert np.all(np.abs(terms[name]) <= bound.details[name])
    assert np.all(sum(np.abs(terms[n]) for n in bound.details) <= bound.value)
    assert theory.thm2_drift(0.1, 2.0) == pytest.approx(0.1 * theory.thm2_drift_printed(2.0))


def test_a_wrong_next_reference_shows_in_the_closure():
    arrays, eta = logistic_ensemble(0)
    terms = theory.thm6_terms(**arrays, eta=eta)
    parts = {name: arrays[name] for name in ("x", "x_next", "delta", "delta_next")}
    parts["x_next"] = parts["x_next"] * 1.01
    assert theory.thm6_closure(**parts, terms=terms).reference > 1e-3


def test_prediction_from_moments_when_gamma_is_independent():
    """A full product of a base ensemble with the values of gamma: A2 holds exactly in it."""
    rng = np.random.default_rng(1)
    N, J, d, eta = 7, 5, 2, 0.2
    x, h = rng.normal(size=(2, N, d))
    factors = rng.normal(size=(N, d, d))
    hessian = factors @ factors.transpose(0, 2, 1)
    ubar, ubar_next = rng.uniform(0.1, 1, (2, N))
    values = rng.normal(size=(J, d)) + 0.5
    base, which = (m.ravel() for m in np.meshgrid(np.arange(N), np.arange(J), indexing="ij"))
    delta = ubar[base, None] * values[which]
    g = h[base] + np.einsum("nij,nj->ni", hessian[base], delta)
    x_next = x[base] - eta * g
    terms = theory.thm6_terms(x[base], x_next, g, h[base], delta, np.zeros_like(delta), eta)
    samples = theory.Thm6Samples(x[base], x_next, h[base], hessian[base], ubar[base], ubar_next[base])
    moments = theory.vector_moments(values)
    predicted = theory.thm6_from_moments(moments, samples, eta)
    for name in REFERENCE:
        assert predicted[name] == pytest.approx(terms[name], rel=1e-10, abs=1e-14)
    stored = theory.thm6_sample_moments(samples)
    assert theory.thm6_from_moments(moments, stored, eta) == predicted
    var_delta = stored.ubar[0] * np.trace(moments.var) + stored.ubar[1] * moments.mu @ moments.mu
    assert var_delta == pytest.approx(delta.var(axis=0).sum(), rel=1e-12)
    # gamma of the next step, independent again: all pairs (gamma_t, gamma_{t+1})
    both = np.repeat(np.arange(len(base)), J), np.tile(np.arange(J), len(base))
    after = ubar_next[base[both[0]], None] * values[both[1]]
    arrays = [a[both[0]] for a in (x[base], x_next, g, h[base], delta)]
    full = theory.thm6_terms(*arrays, after, eta)
    defect = theory.thm6_defect(full, predicted)
    assert set(defect) == set(full)
    for name, gap in defect.items():
        assert abs(gap) < 1e-12, name


def test_defect_on_runs_is_the_failure_of_a2(runs):
    """x_t contains the updates that the view lacks: cov(x, delta) is far from what A2 predicts."""
    group = runs["huber", False]
    t = 120
    x, views, u = (np.stack([getattr(r, n) for r in group]) for n in ("x", "views", "u"))
    vectors = theory.gamma_vectors(x, views, u, 4, 3)
    ubar = theory.gamma(x, views, u, 4, 3).ubar
    moments = theory.vector_moments(vectors[:, 100:140])
    d = x.shape[-1]
    zeros = np.zeros((len(group), d))
    samples = theory.Thm6Samples(x[:, t], x[:, t + 1], zeros, np.eye(d), ubar[:, t], ubar[:, t + 1])
    m = theory.thm6_sample_moments(samples)
    delta = views[:, t] - x[:, t]
    measured = np.mean(np.sum((x[:, t] - x[:, t].mean(0)) * (delta - delta.mean(0)), axis=1))
    assert abs(measured) > 3 * abs(m.cov_x_ubar @ moments.mu)


@pytest.mark.parametrize("delay", [0, 1])
@pytest.mark.parametrize("a", [0.05, 0.4, 0.9])
def test_stationary_variance(delay, a):
    h, sig2 = 2.0, 3.0
    eta = a / h
    probs = np.eye(2)[delay][: delay + 1]
    _, var = theory.delay_moments(h, np.full(4000, eta), probs, sig2, 1.0)
    closed = [eta**2 * sig2 / (a * (2 - a)), eta**2 * sig2 * (1 + a) / ((1 - a) * a * (2 + a))]
    assert var[-1] == pytest.approx(closed[delay], rel=1e-9)


def test_delay_model_against_simulation():
    rng = np.random.default_rng(0)
    N, T, h, sig2, x0 = 20000, 60, 1.0, 0.5, 2.0
    probs = np.array([0.2, 0.5, 0.0, 0.3])
    eta = 0.4 / np.sqrt(np.arange(1, T + 1))
    x = np.empty((T + 1, N))
    x[0] = x0
    for t in range(T):
        delay = rng.choice(4, p=probs, size=N)
        old = x[np.maximum(t - delay, 0), np.arange(N)]
        x[t + 1] = x[t] - eta[t] * (h * old + np.sqrt(sig2) * rng.normal(size=N))
    mean, var = theory.delay_moments(h, eta, probs, sig2, x0)
    for t in (3, 10, 30, 60):
        assert abs(x[t].mean() - mean[t]) < 4 * np.sqrt(var[t] / N)
        assert abs(x[t].var() - var[t]) < 4 * var[t] * np.sqrt(2 / N)


def test_delay_model_modes_at_once():
    eta, probs = np.full(20, 0.3), [0.5, 0.5]
    mean, var = theory.delay_moments([1.0, 0.5], eta, probs, 1.0, [1.0, 2.0])
    assert mean.shape == var.shape == (21, 2)
    for i, (h, x0) in enumerate(((1.0, 1.0), (0.5, 2.0))):
        one = theory.delay_moments(h, eta, probs, 1.0, x0)
        np.testing.assert_allclose((mean[:, i], var[:, i]), one, rtol=1e-13)


@pytest.mark.parametrize("delay", range(6))
def test_largest_stable_step_of_a_fixed_delay(delay):
    probs = np.eye(delay + 1)[delay]
    wanted = 2 * np.sin(np.pi / (2 * (2 * delay + 1))) / 4.0
    assert theory.largest_stable_step([4.0, 1.0], probs) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_largest_stable_step_is_where_the_radius_is_one(seed):
    probs = np.random.default_rng(seed).dirichlet(np.full(seed + 2, 0.7))
    K = probs.size
    step = theory.largest_stable_step(1.0, probs)

    def radius(a):
        total = np.zeros((K * K, K * K))
        for k, p in enumerate(probs):
            A = np.diag(np.ones(K - 1), -1)
            A[0, 0] += 1
            A[0, k] -= a
            total += p * np.kron(A, A)
        return np.abs(np.linalg.eigvals(total)).max()

    assert radius(step * (1 - 1e-6)) < 1 < radius(step * (1 + 1e-6))


CASES = [(4, 3, 30, False, 0.3), (4, 3, 30, True, 1.5), (3, 0, 20, False, 0.3), (1, 0, 12, False, 0.3)]


@pytest.mark.parametrize(("P", "s", "clocks", "eager", "spread"), CASES)
def test_forms_of_the_recursion_agree(schedule, P, s, clocks, eager, spread):
    rng = np.random.default_rng(2)
    vc, order = schedule(P, s, clocks, rng, eager, spread)
    roots = rng.normal(size=(2, 3, 3))
    hessian, noise = roots @ roots.transpose(0, 2, 1) / 3
    eta = 0.3 / np.sqrt(np.arange(1, P * clocks + 1))
    problem = (eta, hessian, noise, [1.0, 2.0, 3.0], [0.0, 1.0, 0.0])
    matrix = theory.linear_recursion(theory.prefix_visibility(vc), *problem)
    ring = theory.linear_recursion((vc, order), *problem)
    for name in ("mean", "cov", "cov_x_view", "cov_x_noise", "cov_view"):
        first, second = getattr(matrix, name), getattr(ring, name)
        assert np.abs(first - second).max() <= 1e-14 * max(np.abs(first).max(), 1e-300), name
    mean, cov, cov_x_view, cov_x_noise = ring
    assert mean.shape == (P * clocks + 1, 3)
    assert cov.shape == (P * clocks + 1, 3, 3)
    assert cov_x_view.shape == cov_x_noise.shape == (P * clocks, 3, 3)
    terms = theory.linear_terms(ring, eta, hessian, noise)
    total = np.trace(cov, axis1=1, axis2=2)
    change = sum(terms[name] for name in REFERENCE)
    np.testing.assert_allclose(change, np.diff(total), atol=1e-13 * total.max())


def test_recursion_against_an_ensemble(schedule):
    vc, order = schedule(4, 3, 25, np.random.default_rng(4), True, 1.0)
    T, N, d = 100, 4000, 2
    hessian, noise = np.array([[1.0, 0.3], [0.3, 0.5]]), np.array([[1.0, -0.4], [-0.4, 0.6]])
    eta, star = 0.4 / np.sqrt(np.arange(1, T + 1)), np.array([0.5, -1.0])
    found = theory.linear_recursion((vc, order), eta, hessian, noise, [2.0, 2.0], star)
    seen = theory.prefix_visibility(vc)
    zeta = np.random.default_rng(5).normal(size=(N, T, d)) @ np.linalg.cholesky(noise).T
    u = np.zeros((N, T, d))
    for t in order:
        view = 2.0 + u[:, seen[t]].sum(axis=1)
        u[:, t] = -eta[t] * ((view - star) @ hessian + zeta[:, t])
    x = 2.0 + np.concatenate([np.zeros((N, 1, d)), np.cumsum(u, axis=1)], axis=1)
    for t in (5, 40, 100):
        error = np.sqrt(np.diag(found.cov[t]) / N)
        assert np.all(np.abs(x[:, t].mean(axis=0) - found.mean[t]) < 4 * error)
        total = np.trace(found.cov[t])
        assert abs(x[:, t].var(axis=0).sum() - total) < 4 * np.sqrt(2 * np.sum(found.cov[t] ** 2) / N)
    view = np.einsum("ts,nsd->ntd", seen, u)
    h, delta = (x[:, :-1] - star) @ hessian + zeta, view + 2.0 - x[:, :-1]
    terms = theory.linear_terms(found, eta, hessian, noise)
    t, groups = 40, 40  # every term as a mean over sub-ensembles, which give its error
    parts = [a.reshape(groups, N // groups, d) for a in (x[:, t], x[:, t + 1], -u[:, t] / eta[t], h[:, t])]
    gaps = [a.reshape(groups, N // groups, d) for a in (delta[:, t], delta[:, t + 1])]
    unbiased = N // groups / (N // groups - 1)
    for name, values in theory.thm6_terms(*parts, *gaps, eta[t]).items():
        error = unbiased * values.std(ddof=1) / np.sqrt(groups)
        assert abs(unbiased * values.mean() - terms[name][t]) < 4.5 * error, name


def test_recursion_without_noise_or_with_one_mode(schedule):
    vc, order = schedule(2, 1, 10, np.random.default_rng(0), False, 0.3)
    eta = np.full(20, 0.1)
    quiet = theory.linear_recursion((vc, order), eta, [1.0, 2.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0])
    assert np.all(quiet.cov == 0)
    assert np.all(np.isfinite(quiet.mean))
    one = theory.linear_recursion((vc, order), eta, 1.0, 1.0, 1.0, 0.0)
    np.testing.assert_allclose(one.mean[:, 0], quiet.mean[:, 0], rtol=1e-13)


@pytest.mark.parametrize(("P", "s", "clocks", "eager"), [(16, 2, 6, True), (9, 4, 8, False)])
def test_many_reads_at_once(schedule, P, s, clocks, eager):
    """The ring takes in reads together that do not see each other; the matrix knows no such groups."""
    vc, order = schedule(P, s, clocks, np.random.default_rng(6), eager, 0.1)
    problem = (np.full(P * clocks, 0.05), [1.0, 0.4], [1.0, 2.0], [1.0, 2.0], [0.0, 1.0])
    matrix = theory.linear_recursion(theory.prefix_visibility(vc), *problem)
    ring = theory.linear_recursion((vc, order), *problem)
    for name in ("mean", "mean_view", "cov", "cov_x_view", "cov_x_noise", "cov_view"):
        first, second = getattr(matrix, name), getattr(ring, name)
        assert np.abs(first - second).max() <= 1e-13 * np.abs(first).max(), name


@pytest.mark.parametrize("form", ["matrix", "ring"])
def test_a_random_start(schedule, form):
    """Without noise x_t is linear in the start: four starts with the wanted mean and covariance are exact."""
    vc, order = schedule(3, 2, 8, np.random.default_rng(7), False, 0.5)
    views = theory.prefix_visibility(vc) if form == "matrix" else (vc, order)
    roots = np.array([[1.0, 0.2], [0.5, 0.8]])
    hessian, eta, star, middle = np.array([[1.0, 0.3], [0.3, 0.6]]), np.full(24, 0.2), np.ones(2), np.zeros(2)
    starts = [middle + sign * np.sqrt(2) * root for root in roots for sign in (-1, 1)]
    each = [theory.linear_recursion(views, eta, hessian, [0.0, 0.0], x0, star) for x0 in starts]
    found = theory.linear_recursion(views, eta, hessian, [0.0, 0.0], middle, star, roots.T @ roots)
    x, view = (np.stack([getattr(one, name) for one in each]) for name in ("mean", "mean_view"))
    np.testing.assert_allclose(found.mean, x.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.mean_view, view.mean(axis=0), atol=1e-12)
    x, view = x - x.mean(axis=0), view - view.mean(axis=0)
    for cov, a, b in ((found.cov, x, x), (found.cov_x_view, x[:, :-1], view), (found.cov_view, view, view)):
        np.testing.assert_allclose(cov, np.einsum("nti,ntj->tij", a, b) / 4, atol=1e-12)
    with pytest.raises(ValueError, match="x0_cov"):
        theory.linear_recursion(views, eta, hessian, [0.0, 0.0], middle, star, -np.eye(2))

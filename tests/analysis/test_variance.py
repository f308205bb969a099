"""Theorem 6 on runs: errors of sampled terms, predictions from moments, many steps in one recursion."""

import numpy as np
import pytest

import theory
from pskit.analysis import variance
from pskit.analysis.variance import TERMS
from tests.theory.conftest import make_schedule


def ensemble_of(rng, runs, steps=3, dim=2):
    """Correlated samples of everything that a term is made of."""
    x, noise, delta, after = rng.normal(size=(4, steps, runs, dim))
    h = 0.5 * x + noise
    delta = delta - 0.4 * x
    g = h + 0.7 * delta
    eta = np.array([0.3, 0.2, 0.1])[:steps]
    x_next = x - eta[:, None, None] * g
    return {"x": x, "x_next": x_next, "g": g, "h": h, "delta": delta, "delta_next": after, "eta": eta}


def test_sampled_terms_are_those_of_the_theorem_without_bias():
    arrays = ensemble_of(np.random.default_rng(0), 12)
    found, known = variance.sampled_terms(**arrays), theory.thm6_terms(**arrays)
    assert found.value.shape == found.error.shape == (7, 3)
    for name, row in zip(TERMS, found.value, strict=True):
        np.testing.assert_allclose(row, known[name] * 12 / 11, rtol=1e-12)


def test_the_error_of_a_term_is_its_spread_over_ensembles():
    rng = np.random.default_rng(1)
    found = [variance.sampled_terms(**ensemble_of(rng, 60)) for _ in range(300)]
    spread = np.std([one.value for one in found], axis=0)
    stated = np.mean([one.error for one in found], axis=0)
    np.testing.assert_allclose(stated, spread, rtol=0.2)


@pytest.mark.parametrize("pooled", [False, True])
def test_predictions_are_those_of_the_theory_read_by_read(pooled):
    rng = np.random.default_rng(2)
    x, h, vectors = rng.normal(size=(3, 9, 5, 2))
    ubar, eta, hessian = rng.uniform(0.1, 1, (9, 5)), np.full(5, 0.2), np.diag([1.0, 0.5])
    found = variance.predicted_terms(x, h, ubar, vectors, eta, hessian, pooled)
    moments = theory.vector_moments(vectors if pooled else vectors[:, 2])
    samples = theory.Thm6Samples(x[:, 2], x[:, 3], h[:, 2], hessian, ubar[:, 2], ubar[:, 3])
    wanted = theory.thm6_from_moments(moments, samples, 0.2)
    assert found.terms[:, 2].tolist() == [wanted[name] for name in TERMS]
    change = found.var_delta[3] - found.var_delta[2]
    if pooled:
        assert change == pytest.approx(wanted["view:vardelta"], rel=1e-12)


def test_a_displacement_with_equal_steps_has_the_predicted_size():
    rng = np.random.default_rng(3)
    x, h, vectors = rng.normal(size=(3, 20, 4, 2))
    ubar = np.full((20, 4), 0.3)
    found = variance.predicted_terms(x, h, ubar, vectors, np.full(4, 0.1), np.eye(2), False)
    np.testing.assert_allclose(found.var_delta, (0.3 * vectors).var(axis=0).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize(("noise_var", "start_var"), [(2.0, 0.0), (0.0, 3.0)])
def test_many_steps_in_one_recursion(noise_var, start_var):
    """Scaled modes against one recursion per step, made with another form of it."""
    rng = np.random.default_rng(4)
    vc, order = make_schedule(3, 2, 12, rng, False, 0.5)
    curvature, steps = np.array([1.0, 0.3]), (0.05, 0.2)
    found = variance.terms_at_steps(vc, order, steps, curvature, noise_var, start_var)
    for step, one in zip(steps, found, strict=True):
        eta, noise = np.full(36, step), np.full(2, noise_var)
        known = theory.linear_recursion(
            theory.prefix_visibility(vc), eta, curvature, noise, [0, 0], [0, 0], np.full(2, start_var)
        )
        terms = theory.linear_terms(known, eta, curvature, noise)
        for name, row in zip(TERMS, one.terms, strict=True):
            np.testing.assert_allclose(row, terms[name][:35], rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(one.var, np.einsum("tii->t", known.cov[:-1]), rtol=1e-12)


def test_without_delay_the_iid_law_is_exact():
    eta, curvature = np.full(30, 0.1), np.array([1.0, 0.5])
    var, law = variance.iid_variance(np.zeros(30, np.int64), eta, curvature, 1.0, np.ones(2))
    assert law.tolist() == [1.0]
    contraction = (1 - 0.1 * curvature) ** 2
    np.testing.assert_allclose(var[-1], (0.01 * (1 - contraction**30) / (1 - contraction)).sum(), rtol=1e-12)


def test_checkpoints_are_twenty_steps_of_every_worker_in_turn():
    at = variance.checkpoints(399)
    assert len(np.unique(at)) == 20
    assert at.min() > 4
    assert at.max() < 399
    assert set(at % 4) == {0, 1, 2, 3}
    assert variance.late(399) == slice(199, 399)

"""Minimisers against SciPy's own solvers, and against the conditions that make one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize, root

from pskit.apps.huber import HuberLoss
from pskit.apps.logistic import LogisticLoss
from pskit.apps.minimise import check_not_separable, least_absolute, newton
from pskit.errors import InputError


def problem(seed, n=60, d=4, noise=0.5):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d))
    truth = rng.normal(size=d)
    return rows, rows @ truth + noise * rng.standard_t(2, size=n), rng.integers(0, 4, n).astype(float), rng


@pytest.mark.parametrize("seed", range(4))
def test_logistic_against_a_root_of_the_gradient(seed):
    rows, targets, weights, rng = problem(seed)
    labels = np.where(targets + rng.logistic(size=len(targets)) > 0, 1.0, -1.0)
    found = newton(lambda z: LogisticLoss().local(z, labels), rows, weights, np.zeros(4))

    def gradient(x):
        return rows.T @ (weights * -labels / (1 + np.exp(labels * (rows @ x))))

    independent = root(gradient, found + 1e-3, tol=1e-15, method="hybr").x
    np.testing.assert_allclose(found, independent, rtol=1e-12, atol=1e-12)
    assert np.abs(gradient(found)).max() < 1e-12 * weights.sum()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("threshold", [0.05, 1.0])
def test_huber_against_quadratic_programming_by_its_pieces(seed, threshold):
    rows, targets, weights, _ = problem(seed)
    loss = HuberLoss(threshold)
    found = newton(lambda z: loss.local(z, targets), rows, weights, np.zeros(4))

    def total(x):
        r = np.abs(rows @ x - targets)
        return weights @ np.where(r < threshold, r**2 / (2 * threshold), r - threshold / 2)

    rough = minimize(
        total, np.zeros(4), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 9000}
    )
    np.testing.assert_allclose(found, rough.x, atol=1e-5)
    # On the piece of the minimiser the condition is linear: solve it exactly.
    inner = np.abs(rows @ found - targets) < threshold
    a, w = rows[inner], weights[inner]
    push = rows[~inner].T @ (weights[~inner] * np.sign(rows[~inner] @ found - targets[~inner]))
    exact = np.linalg.solve((a * w[:, None]).T @ a / threshold, a.T @ (w * targets[inner]) / threshold - push)
    np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_least_absolute_meets_d_samples_and_has_a_multiplier(seed):
    rows, targets, weights, _ = problem(seed)
    x = least_absolute(rows, targets, weights)
    residual = rows @ x - targets
    met = (np.abs(residual) < 1e-9) & (weights > 0)
    assert met.sum() == 4
    np.testing.assert_allclose(x, np.linalg.solve(rows[met], targets[met]), rtol=1e-12)
    push = rows[~met].T @ (weights[~met] * np.sign(residual[~met]))
    multiplier = np.linalg.solve((rows[met] * weights[met, None]).T, -push)
    assert np.abs(multiplier).max() <= 1 + 1e-9
    # and no point of a dual programme is better
    dual = linprog(-targets, A_eq=rows.T, b_eq=np.zeros(4), bounds=list(zip(-weights, weights, strict=True)))
    assert weights @ np.abs(residual) == pytest.approx(-dual.fun, rel=1e-9)


def test_least_absolute_in_one_dimension_is_a_weighted_median():
    targets = np.array([5.0, -1.0, 2.0, 9.0])
    assert least_absolute(np.ones((4, 1)), targets, np.array([1.0, 1.0, 5.0, 1.0]))[0] == 2.0


def test_without_noise_the_truth_is_found():
    rows, _, weights, rng = problem(7)
    truth = rng.normal(size=4)
    np.testing.assert_allclose(least_absolute(rows, rows @ truth, weights), truth, rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31))
def test_what_a_hyperplane_separates_is_refused(seed):
    rng = np.random.default_rng(seed)
    rows, way = rng.normal(size=(20, 3)), rng.normal(size=3)
    labels = np.sign(rows @ way)
    with pytest.raises(InputError, match="separable"):
        check_not_separable(rows, labels, "these")
    flipped = np.concatenate([labels, -labels])  # every point in both classes
    check_not_separable(np.concatenate([rows, rows]), flipped, "those")


def test_quasi_complete_separation_has_no_minimiser_either():
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    with pytest.raises(InputError, match="no minimiser"):
        check_not_separable(rows, np.array([1.0, -1.0, 1.0, -1.0]), "these")


def test_newton_says_when_there_is_no_minimiser():
    with pytest.raises(InputError, match="no well determined minimiser"):
        newton(lambda z: LogisticLoss().local(z, np.ones(3)), np.ones((3, 1)), np.ones(3), np.zeros(1))

"""Minimisers against SciPy's own solvers, and against the conditions that make one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize, root

from pskit.apps.huber import HuberLoss
from pskit.apps.logistic import LogisticLoss
from pskit.apps.minimise import check_not_separable, least_absolute, newton
from pskit.data.samples import Samples
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
    with pytest.raises(InputError, match="Newton's method finds no minimiser"):
        newton(lambda z: LogisticLoss().local(z, np.ones(3)), np.ones((3, 1)), np.ones(3), np.zeros(1))


def harmed(kind, rows, rng):
    """Rows with something that ordinary data may have."""
    rows = rows.copy()
    match kind:
        case "a column twice":
            rows[:, 1] = -2 * rows[:, 0]
        case "a column of zeros":
            rows[:, 1] = 0
        case "few different rows":
            rows = rows[rng.integers(0, 2, len(rows))]
        case "fewer rows than columns":
            rows = rows[:2]
        case "columns of very different sizes":
            rows *= 10.0 ** rng.uniform(-140, 140, rows.shape[1])
    return rows


KINDS = (
    "a column twice",
    "a column of zeros",
    "few different rows",
    "fewer rows than columns",
    "columns of very different sizes",
)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31), size=st.floats(-5, 5), log_threshold=st.floats(-2, 2))
def test_any_rows_have_a_minimiser_that_the_gradient_vanishes_at(kind, seed, size, log_threshold):
    rows, targets, weights, rng = problem(seed, n=20)
    rows = harmed(kind, rows, rng)
    targets, weights = 10**size * targets[: len(rows)], weights[: len(rows)] + 1
    columns = np.maximum(np.abs(rows).max(axis=0), 1e-300)
    huber = HuberLoss(10**log_threshold)
    # To rounding: that of the targets, in units of the threshold.
    exact = 1e-11 * len(rows) * max(1.0, 1e-3 * np.abs(targets).max() / huber.threshold)
    x = huber.minimise(Samples(rows, targets, "made up"), weights, np.zeros(4))
    slope = huber.local(rows @ x, targets).slope
    assert np.abs((rows / columns).T @ (weights * slope)).max() <= exact * weights.sum()

    labels = np.concatenate([np.ones(len(rows)), -np.ones(len(rows))])  # every row in both classes
    twice, heavier = np.concatenate([rows, rows]), np.concatenate([weights, np.ones(len(rows))])
    logistic = LogisticLoss()
    x = logistic.minimise(Samples(twice, labels, "made up"), heavier, np.zeros(4))
    slope = logistic.local(twice @ x, labels).slope
    assert np.abs((twice / columns).T @ (heavier * slope)).max() <= 1e-9 * heavier.sum()
    if kind == "fewer rows than columns":  # each row has its own prediction, ln of its odds
        np.testing.assert_allclose(rows @ x, np.log(weights), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**31), size=st.floats(-140, 140))
def test_no_point_is_better_than_the_least_absolute_one(kind, seed, size):
    rows, targets, weights, rng = problem(seed, n=20)
    rows = harmed(kind, rows, rng)
    targets, weights = 10**size * targets[: len(rows)], weights[: len(rows)] + 1
    columns = np.maximum(np.abs(rows).max(axis=0), 1e-300)
    if kind == "columns of very different sizes":
        targets = targets / 10**size  # else the minimiser may be too large
    x = least_absolute(rows, targets, weights)
    a, y = rows / columns, targets / np.abs(targets).max()
    found = weights @ np.abs(rows @ x - targets) / np.abs(targets).max()
    dual = linprog(-y, A_eq=a.T, b_eq=np.zeros(4), bounds=list(zip(-weights, weights, strict=True)))
    assert found == pytest.approx(-dual.fun, rel=1e-7, abs=1e-9)


def test_targets_far_above_what_rounding_can_tell_are_named():
    rows, _, weights, rng = problem(3)
    targets = 1e140 * rng.normal(size=len(rows))
    with pytest.raises(InputError, match=r"mine data: Newton.*app.threshold = 1, targets up to"):
        HuberLoss(1.0).minimise(Samples(rows, targets, "mine"), weights, np.zeros(4))
    with pytest.raises(InputError, match=r"mine: the minimiser has coordinates above 1e\+150"):
        least_absolute(1e-30 * rows, targets, weights, "mine")


def test_rows_of_very_different_sizes_are_minimised_or_named():
    messages = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows, targets = rng.normal(size=(24, 1)) * 10.0 ** rng.uniform(-5, 5, (24, 1)), rng.normal(size=24)
        try:
            x = least_absolute(rows, targets, np.ones(24), "mine")
        except InputError as error:
            messages.append(str(error))
        else:  # a weighted median of the points at which a loss is 0
            best = min(np.abs(rows * p - targets[:, None]).sum() for p in targets / rows[:, 0])
            assert np.abs(rows @ x - targets).sum() <= best * (1 + 1e-9)
    assert 0 < len(messages) < 6
    for message in messages:
        assert "mine: the linear programme" in message
        assert "very different sizes" in message


def test_a_linear_programme_that_fails_is_told(monkeypatch):
    class Failed:
        status, message, x, fun = 4, "numerical difficulties", None, None

    monkeypatch.setattr("scipy.optimize.linprog", lambda *a, **k: Failed)
    with pytest.raises(InputError, match=r"mine: the linear programme .* fails: numerical difficulties"):
        least_absolute(np.ones((3, 1)), np.ones(3), np.ones(3), "mine")
    with pytest.raises(InputError, match=r"mine: the linear programme .* fails: numerical difficulties"):
        check_not_separable(np.ones((3, 1)), np.ones(3), "mine")

"""What is said of the terms of Theorem 6, on made-up ensembles whose terms are known."""

import numpy as np
import pytest

from figures.variances import factor, iid_error, noise, own_checkpoints
from pskit.analysis.variance import TERMS, checkpoints, estimated, root_mean_square
from pskit.repro.measured.theorem6 import along

READS = 400
NAME = "view:cross"


def ensemble(runs, seed, spread=30.0):
    """Columns of an ensemble: terms of size 1 under noise of ``spread``, and a prediction of .01."""
    rng = np.random.default_rng(seed)
    exact = np.where(np.arange(READS) % 3, 1.0, -1.0) * np.ones((len(TERMS), 1))
    products = (
        (exact[..., None] + spread * rng.standard_normal((len(TERMS), READS, runs))) * (runs - 1) / runs
    )
    found = estimated(products)
    return {
        "terms": found.value,
        "error_terms": found.error,
        "exact": exact,
        "along": along(products, exact),
        "predicted": 0.01 * exact,
    }


@pytest.mark.parametrize("runs", [30, 200])
def test_a_factor_does_not_depend_on_the_number_of_runs(runs):
    found = [factor(ensemble(runs, seed), NAME) for seed in range(20)]
    assert np.mean([each.value for each in found]) == pytest.approx(100, rel=0.15)
    assert sum(each.low <= 100 <= each.high for each in found) >= 14  # 90% intervals: 18 on average
    columns = ensemble(runs, 0)
    biased = root_mean_square(columns["terms"][0]) / root_mean_square(columns["predicted"][0])
    assert biased > 200  # what the plain root mean squares say


def test_the_noise_is_the_standard_error_over_the_term():
    assert noise(ensemble(100, 1), NAME) == pytest.approx(3.0, rel=0.05)


def test_a_term_that_is_not_there_is_not_found():
    columns = ensemble(200, 3)
    columns["along"] = columns["along"] - 1
    found = factor(columns, NAME)
    assert found.low < 0 < found.high


def test_checkpoints_at_which_two_curves_are_the_same_are_left_out():
    curve = np.linspace(1, 2, READS)
    other = curve.copy()
    other[100:] *= 1.1
    at = checkpoints(READS)
    assert own_checkpoints(other, curve).tolist() == at[at >= 100].tolist()
    assert own_checkpoints(curve * (1 + 1e-14), curve).size == 0
    rows = np.stack([curve, other])
    assert own_checkpoints(rows, np.stack([curve, curve])).tolist() == at[at >= 100].tolist()


def test_the_error_of_the_iid_law_begins_where_there_is_a_variance():
    t, wrong = iid_error(
        {"exact_var": np.array([0.0, 1.0, 2.0, 4.0]), "iid_var": np.array([0.0, 1.0, 1.0, 5.0])}
    )
    assert t.tolist() == [2, 3]
    assert wrong.tolist() == [-0.5, 0.25]

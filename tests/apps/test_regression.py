"""The convex applications with samples: losses, constants, terms, draws, and data of a user's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.apps import make_app
from pskit.apps.absolute import AbsoluteLoss
from pskit.apps.huber import HuberLoss
from pskit.apps.logistic import LogisticLoss
from pskit.apps.terms import constants
from pskit.errors import InputError

LOSSES = {"absolute": AbsoluteLoss(), "huber": HuberLoss(0.3), "logistic": LogisticLoss()}
NAMES = list(LOSSES)


def targets_of(name, values):
    return np.sign(values) + (values == 0) if name == "logistic" else values


@pytest.mark.parametrize("name", NAMES)
@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), min_size=1, max_size=8))
def test_values_slopes_and_bends(name, pairs):
    loss = LOSSES[name]
    z, y = np.array(pairs).T
    y = targets_of(name, y)
    value, slope, bend = loss.local(z, y)
    assert (value >= 0).all()
    assert (np.abs(slope) <= 1).all()
    assert (bend <= loss.bend).all()
    for i, (a, b) in enumerate(zip(z.tolist(), y.tolist(), strict=True)):
        assert loss.one(a, b) == pytest.approx((value[i], slope[i]), rel=1e-12, abs=1e-300)
    step = 1e-6
    kinks = {"absolute": np.abs(z - y) < 1e-4, "huber": np.abs(np.abs(z - y) - 0.3) < 1e-4}
    smooth = ~kinks.get(name, np.zeros(len(z), bool))
    high, low = loss.local(z + step, y), loss.local(z - step, y)
    np.testing.assert_allclose(((high.value - low.value) / (2 * step))[smooth], slope[smooth], atol=1e-6)
    np.testing.assert_allclose(((high.slope - low.slope) / (2 * step))[smooth], bend[smooth], atol=1e-5)
    # The slope is a subgradient: the loss lies above every tangent.
    other = loss.local(z[::-1], y).value
    assert (other >= value + slope * (z[::-1] - z) - 1e-9).all()


def test_losses_far_out_are_finite_and_silent():
    z = np.array([-1e300, -800.0, 800.0, 1e300])
    for name, loss in LOSSES.items():
        value, slope, _ = loss.local(z, targets_of(name, np.ones(4)))
        assert np.isfinite(value).all()
        assert (np.abs(slope) <= 1).all()


def test_losses_are_equal_when_they_are_the_same_function():
    assert HuberLoss(0.1) == HuberLoss(0.1) != HuberLoss(0.2)
    assert AbsoluteLoss() == AbsoluteLoss()
    assert hash(LogisticLoss()) == hash(LogisticLoss())
    assert AbsoluteLoss() != LogisticLoss()


@pytest.mark.parametrize("name", NAMES)
def test_constants_hold_and_are_attained(name, config):
    terms = make_app(name).terms(config(3, name=name, dim=4, clocks=40, samples=50))
    rng = np.random.default_rng(0)
    at = [rng.normal(size=(len(terms), 4)) * scale for scale in (0.1, 10.0)]
    gradients = [terms.gradients(x) for x in at]
    norms = [np.linalg.norm(g, axis=1).max() for g in gradients]
    assert max(norms) <= terms.lipschitz * (1 + 1e-12)
    assert norms[1] > 0.9 * terms.lipschitz  # far out, where the loss is steep
    assert max(np.abs(g).max() for g in gradients) <= terms.lipschitz_inf
    if name == "absolute":
        assert terms.smoothness == np.inf
        assert constants(terms)["smoothness"] is None
    else:
        change = np.linalg.norm(gradients[1] - gradients[0], axis=1)
        assert (change <= terms.smoothness * np.linalg.norm(at[1] - at[0], axis=1) * (1 + 1e-12)).all()


@pytest.mark.parametrize("name", NAMES)
def test_terms_are_what_the_run_evaluates(name, config, lockstep):
    """The lockstep run adds all of a clock's updates at its end, so its views are known."""
    cfg = config(
        3, name=name, dim=4, clocks=12, step=0.3, schedule="inverse-sqrt-t", samples=40, noise_seed=8
    )
    app = make_app(name)
    done, terms = lockstep(app, cfg), app.terms(cfg)
    x = terms.start.copy()
    for clock in range(12):
        mine = slice(3 * clock, 3 * clock + 3)
        gradients = terms.gradients(x)[mine]
        x = x - (0.3 / np.sqrt(np.arange(3 * clock + 1, 3 * clock + 4))) @ gradients
    np.testing.assert_allclose(done.tables["x"][:, 0], x, rtol=1e-12)
    assert done.costs == {(w, c): [1] for w in range(3) for c in range(12)}
    everything = np.array([terms.loss.local(terms.samples.rows @ x, terms.samples.targets).value.mean()])
    assert done.metrics[-1]["loss"] == pytest.approx(everything[0])


@pytest.mark.parametrize("name", NAMES)
def test_minimisers_of_run_and_population(name, config):
    terms = make_app(name).terms(config(4, name=name, dim=3, clocks=60, samples=80))
    for found, weights in (
        (terms.minimiser(), np.bincount(terms.drawn.ravel(), minlength=80)),
        (terms.population(), np.ones(80)),
    ):
        near = np.concatenate([[np.zeros(3)], 1e-4 * np.random.default_rng(1).normal(size=(50, 3))]) + found
        losses = [terms.loss.local(terms.samples.rows @ x, terms.samples.targets).value for x in near]
        totals = np.array(losses) @ weights
        assert totals[0] == totals.min()
    assert terms.values(terms.minimiser()).sum() <= terms.values(terms.population()).sum()
    assert terms.comparator("run") == pytest.approx(terms.minimiser())
    with pytest.raises(ValueError, match="comparator must be"):
        terms.comparator("best")


def test_without_noise_the_absolute_loss_is_zero_at_the_truth_exactly_as_far_as_asked(config):
    terms = make_app("absolute").terms(config(8, name="absolute", dim=5, noise=0.0, distance=0.2, clocks=100))
    assert terms.minimiser() is terms.population()
    assert np.abs(terms.values(terms.minimiser())).max() < 1e-15
    assert np.linalg.norm(terms.start - terms.minimiser()) == pytest.approx(0.2, rel=1e-12)
    assert terms.lipschitz == pytest.approx(1, rel=1e-15)


def test_seeds_of_data_noise_and_schedule_are_apart(config):
    def terms(seed=0, **keys):
        return make_app("huber").terms(
            config(2, seed=seed, name="huber", dim=3, samples=30, clocks=20, **keys)
        )

    drawn = terms(seed=1, noise_seed=5).drawn
    assert np.array_equal(drawn, terms(seed=2, noise_seed=5).drawn)
    assert np.array_equal(drawn, terms(seed=5).drawn)
    assert not np.array_equal(drawn, terms(seed=1, noise_seed=6).drawn)
    assert np.array_equal(terms(seed=1).samples.rows, terms(seed=2).samples.rows)
    assert not np.array_equal(terms().samples.rows, terms(data_seed=1).samples.rows)


def test_draws_are_with_replacement_from_all_samples(config):
    drawn = make_app("absolute").terms(config(4, name="absolute", samples=10, clocks=500)).drawn
    assert drawn.shape == (500, 4)
    shares = np.bincount(drawn.ravel(), minlength=10) / drawn.size
    assert np.abs(shares - 0.1).max() < 4 * np.sqrt(0.09 / drawn.size)


def test_separable_synthetic_labels_are_refused_with_the_reason(config):
    with pytest.raises(InputError, match=r"synthetic data: the two classes are separable .* no minimiser"):
        make_app("logistic").tables(config(2, name="logistic", noise=0.0))


def test_a_run_may_draw_separable_samples_though_the_data_are_not(config):
    terms = make_app("logistic").terms(config(1, name="logistic", dim=5, clocks=3))
    assert np.isfinite(terms.population()).all()
    with pytest.raises(InputError, match="samples of synthetic data that a run drew: the two classes"):
        terms.minimiser()


def test_data_of_a_users_own(tmp_path, config, lockstep):
    file = tmp_path / "mine.csv"
    file.write_text("y,a,b\n1,2,0\n0,1,1\n1,0,3\n0,2,1\n1,1,-1\n")
    cfg = config(2, name="logistic", data=str(file), clocks=3)
    app = make_app("logistic")
    terms = app.terms(cfg)
    assert terms.samples.targets.tolist() == [1, -1, 1, -1, 1]
    assert terms.dim == 2
    assert terms.lipschitz == 3
    assert lockstep(app, cfg).tables["x"].shape == (2, 1)
    assert app.describe(cfg).startswith("logistic loss in 2 dimensions, mine.csv data: 5 samples, L = 3;")
    file.write_text("2 1\n0 1\n")
    with pytest.raises(InputError, match=r"mine.csv: a logistic loss needs targets -1 and 1, or 0 and 1"):
        make_app("logistic").terms(cfg)
    file.write_text("1 1\n1 2\n")
    with pytest.raises(InputError, match="both of them"):
        make_app("logistic").terms(cfg)


def test_what_cannot_be_computed_with_is_named(config):
    for keys in ({"noise": 1e200}, {"distance": 1e200}):
        with pytest.raises(InputError, match=r"synthetic data: the targets reach .*e\+(199|200)"):
            make_app("absolute").terms(config(2, name="absolute", **keys))
    with pytest.raises(InputError, match=r"app.threshold = 1e-300: must be 1e-150 or more"):
        make_app("huber").terms(config(2, name="huber", threshold=1e-300))


def test_what_vap_asks_for(config):
    cfg = config(2, name="huber", dim=3, step=0.5, schedule="inverse-sqrt-t")
    app = make_app("huber")
    assert app.lipschitz_inf(cfg) == app.terms(cfg).lipschitz_inf <= 1
    assert app.step_at(cfg, 1, 7, 16) == 0.125
    assert make_app("quadratic").lipschitz_inf(config(name="quadratic")) is None
    assert make_app("quadratic").step_at(config(name="quadratic", step=0.5), 0, 0, 9) == 0.5

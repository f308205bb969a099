from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pskit.apps import make_app
from pskit.apps.quadratic import Quadratic, clocks_ahead, curvatures, excess, minimiser, slope

Run = Callable[..., Any]


def test_it_is_known_by_name() -> None:
    assert isinstance(make_app("quadratic"), Quadratic)


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_the_loss_is_0_at_the_minimiser_only(dim: int) -> None:
    best = minimiser(dim)
    assert excess(best, curvatures(dim), best) == 0
    assert excess(best + 1, curvatures(dim), best) == pytest.approx(curvatures(dim).sum() / 2)
    assert curvatures(dim).shape == best.shape == (dim, 1)
    assert ((curvatures(dim) >= 0.25) & (curvatures(dim) <= 1)).all()


def test_the_gradient_by_finite_differences() -> None:
    h, best = curvatures(4), minimiser(4)
    x = np.linspace(-1, 2, 4).reshape(4, 1)
    found = slope(x, h, best)
    for i in range(4):
        e = np.zeros((4, 1))
        e[i] = 1e-6
        rise = (excess(x + e, h, best) - excess(x - e, h, best)) / 2e-6
        assert found[i, 0] == pytest.approx(rise, abs=1e-8)


@pytest.mark.parametrize("schedule", ["constant", "inverse-sqrt"])
def test_without_noise_it_is_gradient_descent_of_all_workers(
    config: Run, lockstep: Run, schedule: str
) -> None:
    cfg = config(3, name="quadratic", dim=6, noise=0.0, step=0.1, schedule=schedule, clocks=20)
    done = lockstep(Quadratic(), cfg)
    clocks = np.arange(20)
    steps = 0.1 / np.sqrt(clocks + 1) if schedule == "inverse-sqrt" else np.full(20, 0.1)
    shrink = np.prod(1 - 3 * steps * curvatures(6), axis=1)
    np.testing.assert_allclose(done.tables["x"][:, 0], minimiser(6)[:, 0] * (1 - shrink), rtol=1e-12)
    assert done.metrics[0]["loss"] == pytest.approx(curvatures(6).sum() / 2)
    losses = [m["loss"] for m in done.metrics]
    assert losses == sorted(losses, reverse=True)


def test_the_noise_has_its_size_is_fresh_and_every_workers_own(config: Run, lockstep: Run) -> None:
    dim, step, noise = 2000, 1e-9, 3.0
    cfg = config(2, name="quadratic", dim=dim, noise=noise, step=step, clocks=70)
    one = config(1, name="quadratic", dim=dim, noise=noise, step=step, clocks=70)
    both, first = (lockstep(Quadratic(), c).tables["x"][:, 0] / step for c in (cfg, one))
    second = both - first
    for total in (first, second):
        drift = 70 * curvatures(dim)[:, 0] * minimiser(dim)[:, 0]
        assert np.std(total - drift) == pytest.approx(noise * np.sqrt(70), rel=0.1)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.98


def test_the_noise_is_drawn_ahead_without_changing_it(config: Run, lockstep: Run) -> None:
    short = lockstep(Quadratic(), config(name="quadratic", dim=3, clocks=65, step=0.01))
    long = lockstep(Quadratic(), config(name="quadratic", dim=3, clocks=130, step=0.01))
    assert [m["loss"] for m in short.metrics] == [m["loss"] for m in long.metrics[:66]]


def test_a_clock_costs_its_dimensions(config: Run, lockstep: Run) -> None:
    done = lockstep(Quadratic(), config(2, name="quadratic", dim=3, clocks=2))
    assert done.costs == {(w, c): [3] for w in range(2) for c in range(2)}
    assert done.reads == {(w, c): [(0, 1, 2)] for w in range(2) for c in range(2)}


def test_a_diverging_run_does_not_warn(config: Run, lockstep: Run) -> None:
    done = lockstep(Quadratic(), config(1, name="quadratic", dim=2, step=1e30, clocks=12))
    assert not np.isfinite(done.metrics[-1]["loss"])


def test_describe(config: Run) -> None:
    line = Quadratic().describe(config(name="quadratic", dim=1000, noise=0.5, step=0.01))
    assert line.startswith(
        "quadratic in 1,000 dimensions, curvature 0.25 to 1, gradient noise 0.5; step 0.01"
    )


def test_huge_noise_does_not_warn(config: Run, lockstep: Run) -> None:
    done = lockstep(Quadratic(), config(1, name="quadratic", dim=2, noise=1.7e308, step=1e-3, clocks=3))
    assert not np.isfinite(done.metrics[-1]["loss"])


@pytest.mark.parametrize("dim", [1, 1024, 1025, 10**5, 10**9])
def test_the_noise_drawn_ahead_is_bounded(dim: int, config: Run) -> None:
    numbers = clocks_ahead(dim) * dim
    assert dim <= numbers <= max(dim, 1 << 16)
    assert clocks_ahead(dim) == 64 or dim > 1024
    assert Quadratic().working_bytes(config(name="quadratic", dim=dim)) > 8 * numbers


def test_blocks_of_noise_change_nothing(config: Run, lockstep: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    cfg = config(name="quadratic", dim=4, clocks=9, step=0.01)
    before = lockstep(Quadratic(), cfg).tables["x"]
    monkeypatch.setattr("pskit.apps.quadratic._NOISE_NUMBERS", 12)
    assert np.array_equal(lockstep(Quadratic(), cfg).tables["x"], before)


def test_chosen_curvatures_and_distance(config: Run, lockstep: Run) -> None:
    cfg = config(name="quadratic", curvature=(1, 0.5, 0.25), distance=0.2, noise=0.0, step=0.1, clocks=5)
    done, terms = lockstep(Quadratic(), cfg), Quadratic().terms(cfg)
    assert cfg.app.dim == 3
    assert np.linalg.norm(terms.start - terms.population()) == pytest.approx(0.2)
    expected = terms.best * (1 - (1 - 0.1 * np.array([1, 0.5, 0.25])) ** 5)
    np.testing.assert_allclose(done.tables["x"][:, 0], expected, rtol=1e-12)
    assert done.metrics[0]["loss"] == pytest.approx(float(terms.values(terms.start)[0]))
    assert Quadratic().describe(cfg).startswith("quadratic in 3 dimensions, curvature 0.25 to 1")


def test_a_random_start_is_as_far_away_and_follows_the_noise_seed(config: Run, lockstep: Run) -> None:
    keys = {
        "name": "quadratic",
        "dim": 4,
        "distance": 3.0,
        "random_start": True,
        "noise_seed": 5,
        "clocks": 1,
    }
    cfg, other = config(seed=1, **keys), config(seed=2, **keys)
    starts = [lockstep(Quadratic(), c).initial["x"] for c in (cfg, other)]
    assert np.array_equal(*starts)
    assert np.linalg.norm(starts[0] - minimiser(4, 3.0)) == pytest.approx(3.0)
    assert not np.array_equal(
        starts[0], lockstep(Quadratic(), config(**keys | {"noise_seed": 6})).initial["x"]
    )


def test_the_noise_of_the_terms_is_that_of_the_run(config: Run, lockstep: Run) -> None:
    keys = {"name": "quadratic", "dim": 3, "noise": 2.0, "step": 1e-3, "clocks": 70}
    cfg = config(2, seed=4, noise_seed=9, **keys)
    terms = Quadratic().terms(cfg)
    x = terms.start.copy()
    for clock in range(70):
        x = x - 1e-3 * sum(terms.curvature * (x - terms.best) + terms.noise[2 * clock + w] for w in range(2))
    np.testing.assert_allclose(lockstep(Quadratic(), cfg).tables["x"][:, 0], x, rtol=1e-12)


def test_the_minimiser_of_a_run(config: Run) -> None:
    terms = Quadratic().terms(config(3, name="quadratic", dim=4, noise=0.7, clocks=11))
    best = terms.minimiser()
    np.testing.assert_allclose(terms.gradients(best).sum(axis=0), 0, atol=1e-12 * 33)
    assert terms.values(best).sum() < terms.values(terms.population()).sum()
    interpolating = Quadratic().terms(config(3, name="quadratic", dim=4, noise=0.0, clocks=11))
    assert not interpolating.gradients(interpolating.minimiser()).any()
    assert interpolating.smoothness == 1
    assert interpolating.lipschitz == np.inf

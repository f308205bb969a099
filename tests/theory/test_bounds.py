"""Closed-form bounds, run-level intervals, moments and diagnostics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import theory


def test_bound_is_a_number_with_reasons():
    bound = theory.thm3_regret(0.5, 1.0, 1.0, 4, 3, 1000)
    assert float(bound) == bound.value
    assert bound + 1 == bound.value + 1
    assert 2 * bound == 2 * bound.value
    assert bound == pytest.approx(bound.value)
    assert bound < theory.thm3_regret(0.5, 1.0, 1.0, 4, 4, 1000)
    assert np.sqrt(bound) == np.sqrt(bound.value)
    assert sum(bound.details.values()) == pytest.approx(bound.value)
    assert bound.assumptions
    assert "1410.8043" in bound.source
    with pytest.raises(AttributeError):
        bound.value = 1.0
    sweep = theory.thm3_regret([0.5, 0.1], 1.0, 1.0, 4, [[3], [4]], 1000)
    assert np.asarray(sweep).shape == (2, 2)
    with pytest.raises(TypeError, match="not one number"):
        float(sweep)


def test_thm1():
    a = {"eta": 0.5, "L": 2.0, "F2": 1.5, "d": 3, "v0": 0.7, "T": 200}
    h = np.cumsum(np.arange(1, 201) ** -0.5)
    wanted = 0.5 * 4 / 2 * (5 + h[194]) + 1.5 * np.sqrt(195) / 0.5 + np.sqrt(3) * 2 * 0.7 * h[199]
    assert theory.thm1_regret(**a, r=5) == pytest.approx(wanted, rel=1e-13)
    per_pair = theory.thm1_regret(**a, aggregate=False, P=4)
    assert per_pair.details["staleness"] == pytest.approx(3 * theory.thm1_regret(**a).details["staleness"])
    printed = theory.thm1_regret_printed(**a)
    assert printed == pytest.approx((0.5 * 4 + 3 + np.sqrt(3) * 1.4) * np.sqrt(200), rel=1e-13)
    ratio = theory.thm1_regret(**a).details["staleness"] / printed.details["staleness"]
    assert 1.85 < ratio <= 2  # the factor that the paper lost


def test_thm1_staleness_is_attained():
    """d = 1, views at distance v_t on the wrong side of a kink: the printed last term is too small."""
    T, v0, L = 400, 1.0, 1.0
    staleness = sum(L * v0 / np.sqrt(t) for t in range(1, T + 1))
    assert staleness > theory.thm1_regret_printed(1, L, 1, 1, v0, T).details["staleness"]
    assert staleness == pytest.approx(theory.thm1_regret(1, L, 1, 1, v0, T).details["staleness"], rel=1e-13)


@given(
    P=st.integers(1, 100),
    s=st.integers(0, 50),
    T=st.integers(1, 10**6),
    F=st.floats(0.01, 10),
    L=st.floats(0.01, 10),
)
def test_thm3_best_step(P, s, T, F, L):
    best = theory.thm3_optimal(L, F, P, s, T)
    assert theory.thm3_regret(best.details["eta"], L, F**2, P, s, T, exact=False) == pytest.approx(
        float(best), rel=1e-12
    )
    assert theory.thm3_regret(best.details["eta"], L, F**2, P, s, T) <= best
    assert float(best) <= 0.5 * float(theory.thm3_ho2013(L, F, P, s, T))
    assert theory.thm3_optimal(L, F, P, s, T, per_row=True) >= best


def test_delay_adaptive_regret_constant_step():
    k = np.array([3, 0, 2, 1])
    eta = 1.0 / np.sqrt(4 / 2 + 6)
    bound = theory.delay_adaptive_regret(np.full(4, eta), 1.0, 1.0, k)
    assert bound == pytest.approx(2 * np.sqrt(4 / 2 + 6), rel=1e-13)
    rising = theory.delay_adaptive_regret([0.5, 0.25, 0.5], 1.0, 1.0, [0, 0, 0])
    assert rising.details["distance"] == pytest.approx(4.0)  # 1/.5 + (4 - 2), the fall does not count


def test_worse_in_every_argument():
    """Regret bounds grow with s, P and the drift; centre and tail with the moments."""
    for bounds in (
        theory.thm3_regret(0.5, 1, 1, 4, np.arange(6), 100),
        theory.thm3_regret(0.5, 1, 1, np.arange(1, 9), 3, 100),
        theory.thm1_regret(0.5, 1, 1, 3, np.linspace(0, 2, 5), 100),
        theory.thm5_center(0.5, 1, 1, 100, np.linspace(0, 9, 5)),
    ):
        assert np.all(np.diff(bounds.value) > 0)


def test_clopper_pearson():
    for k, n, delta in ((0, 1, 0.5), (3, 100, 1e-12), (50, 100, 0.05), (99, 100, 0.01)):
        from scipy.stats import binom

        upper = float(theory.clopper_pearson_upper(k, n, delta))
        assert binom.cdf(k, n, upper) == pytest.approx(delta, rel=1e-9)
    everything = theory.clopper_pearson_upper(10, 10, 0.05)
    assert float(everything) == 1.0
    assert everything.vacuous is True
    # 1 - u = (1e-308 / 10)^(1/9) to leading order: 1 but for rounding, where SciPy's inverse is undefined
    assert float(theory.clopper_pearson_upper(1, 10, 1e-308)) == 1.0


def test_weights_of_more_workers_than_reads():
    """One incomplete clock holds all reads, however many workers there are."""
    few = theory.lemma4_weights(5, 1, 5)
    np.testing.assert_allclose(theory.lemma4_weights(5 * 10**11, 1, 5), few / 10**11, rtol=1e-15)
    assert theory.lemma4_weights(7, 2, 5)[0] == pytest.approx((np.arange(1, 6) ** -0.5).sum() / 35, rel=1e-15)


def test_maurer_pontil():
    z = np.array([0.1, 0.4, 0.2, 0.5])
    log = np.log(2 / 0.05)
    wanted = z.mean() + np.sqrt(2 * z.var(ddof=1) * log / 4) + 7 * 2 * log / 9
    bound = theory.maurer_pontil_upper(z, 2.0, 0.05)
    assert bound == pytest.approx(wanted, rel=1e-13)
    assert bound.vacuous is True
    many = np.random.default_rng(0).random((200, 400))
    upper = theory.maurer_pontil_upper(many, 1.0, 0.05)
    assert np.mean(upper.value < 0.5) <= 0.05
    assert not np.any(upper.vacuous)


def test_run_tail():
    z = np.arange(100.0)
    bound = theory.run_tail(z, [96.0, 1000.0], 0.05)
    assert bound.details["exceedances"].tolist() == [3, 0]
    assert bound.details["level"] == pytest.approx(0.95)
    np.testing.assert_allclose(bound.value, theory.clopper_pearson_upper([3, 0], 100, 0.05).value)


def test_moments():
    rng = np.random.default_rng(0)
    table = rng.gamma(2, 1, (30, 400)) + rng.random((30, 1))
    found = theory.gamma_moments(table, 4, 3)
    assert found.mu == pytest.approx(table.mean())
    assert found.var == pytest.approx(found.within + found.between)
    w = theory.lemma4_weights(4, 3, 400)
    assert found.mu_weighted == pytest.approx(np.sum(w * table.mean(axis=0)) / w.sum())
    assert found.ci_mu[0] < found.mu < found.ci_mu[1]
    assert found.ci_var[0] < found.var < found.ci_var[1]
    assert (found.n_runs, found.n_reads) == (30, 400)
    half = (found.ci_mu[1] - found.ci_mu[0]) / 2
    assert half > 1.3 * 1.96 * np.sqrt(
        found.var / table.size
    )  # runs differ: the naive interval is too narrow
    assert theory.gamma_moments(table, 4, 3) == found
    one = theory.gamma_moments(table[0], 4, 3)
    assert one.ci_mu[0] < one.mu < one.ci_mu[1]
    assert theory.gamma_moments([1.0], 1, 0).ci_mu == (0.0, 1.0)


def test_interval_for_the_mean_covers():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        low, high = theory.gamma_moments(rng.gamma(2, 1, (8, 1)) + rng.random((8, 20)), 8, 3).ci_mu
        covered += low < 2.5 < high
    assert 0.88 <= covered / 200 <= 0.99


def test_diagnostics_on_runs(runs):
    for group in runs.values():
        x, views, u = (np.stack([getattr(r, n) for r in group]) for n in ("x", "views", "u"))
        found = theory.gamma(x, views, u, 4, 3)
        report = theory.check_assumptions(
            found.gamma, 4, 3, 0.5, 1.0, x=x, ubar=found.ubar, x_star=group[0].x_star
        )
        assert report.A1["ljung_box_p"] < 1e-3
        assert "A1 fails" in report.verdict
        assert set(report.A2) == {"corr_distance", "t_distance", "corr_ubar", "t_ubar"}
        assert set(report.acf) == {1, 4, 12, 28}
        assert report.A1["T_eff"] <= 240


def test_same_schedule_different_problem(runs):
    def gammas(kind):
        return np.stack([theory.gamma(r.x, r.views, r.u, r.P, r.s).gamma for r in runs[kind, False]])

    test = theory.same_schedule_test(gammas("huber"), gammas("absolute"))
    assert test.p < 0.05  # A2 fails: the same timing, another problem, another gamma
    same = theory.same_schedule_test(gammas("huber"), gammas("huber"))
    assert same.difference == same.t == 0
    assert same.p == 1

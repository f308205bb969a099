"""SymPy derivations turned into numbers and compared with the NumPy functions."""

import numpy as np
import pytest
import sympy as sp

import theory
from theory.derivations import (
    delay_model,
    intervals,
    lemma4,
    lemma_a1,
    lemma_a2,
    linear,
    thm1,
    thm2,
    thm3,
    thm5,
    thm6,
)


def number(expression, values):
    return float(sp.N(expression.subs(values), 30))


def test_lemma_a1():
    assert lemma_a1.gap() == 0
    assert sp.expand(lemma_a1.gap_as_printed() + lemma_a1.eta * lemma_a1.g.dot(lemma_a1.g)) == 0
    vectors = np.random.default_rng(0).normal(size=(4, 2))
    names = (lemma_a1.star, lemma_a1.x, lemma_a1.view, lemma_a1.g)
    values = {
        s: v for symbols, row in zip(names, vectors, strict=True) for s, v in zip(symbols, row, strict=True)
    }
    star, x, view, g = vectors
    found = theory.lemma_a1(star, x, x - 0.3 * g, view, g, 0.3)
    for side, wanted in zip(found, lemma_a1.sides(), strict=True):
        assert side == pytest.approx(number(wanted, values | {lemma_a1.eta: 0.3}), rel=1e-12)


def test_lemma_a2():
    assert lemma_a2.sharpness() == sp.Rational(1, 2)
    third = lemma_a2.logistic_third_derivative()
    assert sp.simplify(third - 1 / (6 * sp.sqrt(3))) == 0
    gap = lemma_a2.remainder(sp.log(1 + sp.exp(lemma_a2.z)), sp.Rational(1, 2))
    for r in (0.01, 0.3, 2.0):
        assert abs(number(gap, {lemma_a2.r: r})) <= float(theory.lemma_a2_remainder(float(third), r))


def test_lemma4():
    assert lemma4.telescoped_upper() == lemma4.telescoped_lower() == 0
    for clock in (1, 2, 5):
        many = 4000
        kappa = theory.lemma4_ubar(1, 1, many, 0, many * clock).details["kappa"][-1]
        assert kappa == pytest.approx(number(lemma4.kappa_many_workers(), {lemma4.clock: clock}), rel=0.02)
        assert kappa <= 2


def test_thm1():
    values = {thm1.eta: 0.5, thm1.L: 2.0, thm1.F2: 1.5, thm1.v0: 0.7, thm1.d: 3}
    for T, r in ((9, 0), (9, 4), (1, 0)):
        wanted = number(thm1.regret(T, r), values)
        assert theory.thm1_regret(0.5, 2.0, 1.5, 3, 0.7, T, r=r) == pytest.approx(wanted, rel=1e-12)
    for T in (2, 10, 1000):
        at = values | {thm1.T: T}
        low, printed = number(thm1.lower_end_of_staleness(), at), number(thm1.printed_staleness(), at)
        assert theory.thm1_regret_printed(0.5, 2.0, 1.5, 3, 0.7, T).details["staleness"] == pytest.approx(
            printed
        )
        assert theory.thm1_regret(0.5, 2.0, 1.5, 3, 0.7, T).details["staleness"] >= low
        assert T == 2 or low > printed


def test_thm2():
    assert sp.simplify(thm2.drift_coefficient() + 2 * thm2.eta_t) == 0
    values = {
        thm2.d: 3,
        thm2.v0: 0.7,
        thm2.t: 5,
        thm2.sd_t: 0.4,
        thm2.sd_next: 0.3,
        thm2.eta_t: 0.1,
        thm2.smooth: 2.0,
    }
    found = theory.thm2_remainder(3, 0.7, 5, 0.4, 0.3, eta_t=0.1, M=2.0)
    assert found == pytest.approx(number(thm2.remainder(), values), rel=1e-13)
    assert theory.thm2_drift(0.1, 5.0) == pytest.approx(5 * number(thm2.drift_coefficient(), values))


def test_thm3():
    values = {thm3.L: 2.0, thm3.F: 0.7, thm3.T: 100, thm3.N: 12, thm3.eta: 0.3}
    best = theory.thm3_optimal(2.0, 0.7, 4, 3, 100)
    assert best.details["eta"] == pytest.approx(number(thm3.best_step(), values), rel=1e-13)
    assert best == pytest.approx(number(thm3.best_value(), values), rel=1e-13)
    plain = theory.thm3_regret(0.3, 2.0, 0.49, 4, 3, 100, exact=False)
    assert plain == pytest.approx(number(thm3.regret(), values), rel=1e-13)
    ratio = float(best) / float(theory.thm3_ho2013(2.0, 0.7, 4, 3, 100))
    assert ratio**2 == pytest.approx(number(thm3.ratio_to_ho(), {thm3.P: 4, thm3.s: 3}), rel=1e-13)
    step, value = thm3.constant_step()
    eta = number(step, values)
    delays = np.zeros(100)
    delays[:12] = 1
    found = theory.delay_adaptive_regret(np.full(100, eta), 2.0, 0.49, delays)
    assert found == pytest.approx(number(value, values), rel=1e-13)


def test_thm5():
    for zero in (thm5.printed_minus_bernstein, thm5.bennett_minus_h, thm5.chi_rule):
        assert zero() == 0
    assert thm5.two_point_moments() == (0, thm5.sigma)
    assert all(sp.simplify(limit - thm5.sigma / 2) == 0 for limit in thm5.small_lambda())
    case = {"eta": 0.5, "L": 1.0, "P": 4, "s": 3, "T": 1000, "mu_gamma": 3.0, "var_gamma": 2.5}
    symbols = {
        thm5.eta: 0.5,
        thm5.L: 1.0,
        thm5.P: 4,
        thm5.s: 3,
        thm5.T: 1000,
        thm5.sigma: 2.5,
        thm5.tau: 0.02,
    }
    log = theory.thm5_tail(0.02, **case, method="paper").details["log"]
    assert log == pytest.approx(-number(thm5.printed(), symbols), rel=1e-13)
    sums = {thm5.eps: 20.0, thm5.V: 0.25 * 2.5 * theory.harmonic_sums(1000)[1], thm5.M: 12.5}
    for method, expression in (("bernstein_centred", thm5.bernstein()), ("bennett", thm5.bennett())):
        log = theory.thm5_tail(0.02, **case, method=method).details["log"]
        assert log == pytest.approx(-number(expression, sums), rel=1e-12)
    inverse = number(thm5.bernstein_inverse(), sums | {thm5.log_inverse: sp.log(20)})
    assert theory.thm5_deviation(0.05, **case) == pytest.approx(inverse / 1000, rel=1e-13)


@pytest.mark.parametrize("method", ["two_point", "per_term"])
def test_thm5_one_term_minimum(method):
    """T = 1: the minimum over lambda, found by SymPy's root finder."""
    psi = (thm5.two_point() if method == "two_point" else thm5.per_term()).subs({thm5.U: 25, thm5.sigma: 2.5})
    eps = 8.0
    lam = sp.nsolve(sp.diff(psi, thm5.lam) - eps, thm5.lam, 0.2)
    found = theory.thm5_tail(eps, 1.0, 1.0, 4, 3, 1, 3.0, 2.5, method=method).details["log"]
    assert found == pytest.approx(float(psi.subs(thm5.lam, lam) - lam * eps), rel=1e-10)


def test_thm6():
    assert thm6.gaps() == (0, 0)
    assert set(thm6.independent_gaps().values()) == {0}


@pytest.mark.parametrize("delay", [0, 1, 2])
def test_delay_model(delay):
    variance = number(
        delay_model.stationary_variance(delay), {delay_model.a: 0.3, delay_model.h: 2, delay_model.sig2: 3}
    )
    _, var = theory.delay_moments(2.0, np.full(600, 0.15), np.eye(delay + 1)[delay], 3.0, 1.0)
    assert var[-1] == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_largest_stable_step(share):
    condition = delay_model.mixture_condition()
    step = theory.largest_stable_step(1.0, [1 - share, share])
    for factor, sign in ((1 - 1e-6, 1), (1 + 1e-6, -1)):
        assert np.sign(number(condition, {delay_model.p: share, delay_model.a: step * factor})) == sign


def test_linear():
    vc = [[[0, 0], [0, 0]], [[1, 0], [2, 1]], [[2, 1], [3, 2]]]
    order = [0, 1, 2, 4, 3, 5]  # worker 0 runs ahead: read 3 holds an update of the next clock
    vc[1][1][0] = 3
    wanted = linear.unroll(vc, order)
    values = {linear.lam: 0.8, linear.eta: 0.5, linear.sig2: 2.0, linear.start: 1.5}
    eta = 0.5 / np.sqrt(np.arange(1, 7))
    problem = (eta, 0.8, 2.0, 1.5, 0.0)
    for schedule in ((vc, order), theory.prefix_visibility(vc)):
        found = theory.linear_recursion(schedule, *problem)
        for name, expressions in wanted.items():
            exact = [number(sp.sympify(e), values) for e in expressions]
            np.testing.assert_allclose(getattr(found, name).ravel(), exact, rtol=1e-12, atol=1e-15)
    assert found.cov_x_noise[4, 0, 0] != 0  # x_5 holds update 4, which saw update 5


def test_intervals():
    for k, n in ((0, 20), (3, 20)):
        upper = float(theory.clopper_pearson_upper(k, n, 0.05))
        assert number(intervals.tail(k, n), {intervals.prob: upper}) == pytest.approx(0.05, rel=1e-9)
    assert theory.clopper_pearson_upper(0, 20, 0.05) == pytest.approx(
        number(intervals.no_hits(20), {intervals.delta: 0.05})
    )

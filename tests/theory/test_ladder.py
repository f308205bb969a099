"""The ladder of Theorem 5: order, limits, monotonicity, extremes, and a true iid law below it."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theory
from theory._sums import clock_nodes
from theory.chernoff import per_term
from theory.concentration import bennett_inverse

CASE = {"eta": 0.5, "L": 1.0, "P": 4, "s": 3, "T": 1000, "mu_gamma": 3.0, "var_gamma": 2.5}
LADDER = ("paper", "bernstein", "bernstein_centred", "bennett", "per_term", "two_point")


def a_law(rng, top, size=6):
    """Values, probabilities, mean and variance of a random law on [0, top]."""
    values, probs = top * rng.random(size), rng.dirichlet(np.ones(size))
    mean = float(probs @ values)
    return (values, probs), mean, float(probs @ (values - mean) ** 2)


@given(
    seed=st.integers(0, 10**6),
    P=st.integers(1, 64),
    s=st.integers(0, 16),
    log_T=st.floats(0, 7),
    reach=st.floats(1e-3, 0.999),
)
def test_each_rung_is_at_most_the_one_before(seed, P, s, log_T, reach):
    law, mean, variance = a_law(np.random.default_rng(seed), P * (2 * s + 1))
    T = int(10**log_T)
    eta = 0.3
    tau = reach * eta * (max(law[0]) - mean) * theory.harmonic_sums(T)[0] / T
    logs = [
        theory.thm5_tail(tau, eta, 1.0, P, s, T, mean, variance, method=m, law=law).details["log"]
        for m in (*LADDER, "cramer")
    ]
    for above, below in pairwise(logs):
        assert below <= above + 1e-9 * max(1, abs(above))
    assert logs[0] <= 0


@pytest.mark.parametrize("method", [*LADDER, "chi_bernstein"])
def test_monotone(method):
    def log(**change):
        found = theory.thm5_tail(**({"tau": 0.01} | CASE | change), method=method)
        return np.asarray(found.details["log"])

    for name, values in {
        "s": np.arange(3, 12),
        "P": np.arange(4, 20),
        "tau": -np.geomspace(1e-5, 0.05, 9)[::-1],
        "var_gamma": np.linspace(0, 40, 9),
    }.items():
        logs = log(**{name: abs(values)})
        assert np.all(np.diff(logs) >= -1e-12 * np.abs(logs[1:])), name


@pytest.mark.parametrize("method", [*LADDER, "cramer", "chi_bernstein"])
def test_limits(method):
    law = ([0.0, 1.0], [0.5, 0.5])
    for P, s, T in ((1, 0, 1), (1, 0, 1000), (2, 0, 1), (1, 3, 50)):
        tail = theory.thm5_tail(0.1, 0.5, 1.0, P, s, T, 0.5, 0.25, method=method, law=law)
        assert 0 <= float(tail) <= 1
        assert isinstance(tail.vacuous, bool)
    still = theory.thm5_tail(0.01, **(CASE | {"var_gamma": 0.0}), method=method, law=([3.0], [1.0]))
    if method in ("bennett", "per_term", "two_point", "cramer"):
        assert float(still) == 0
    else:
        assert 0 < float(still) < 1
    beyond = theory.thm5_tail(10.0, **CASE, method=method, law=law)
    assert float(beyond) < 1e-80


def test_no_room_above_the_mean():
    full = CASE | {"mu_gamma": 28.0, "var_gamma": 0.0}
    for method in LADDER[2:]:
        assert float(theory.thm5_tail(0.01, **full, method=method)) == 0


def test_vacuous_is_said_and_not_clipped():
    tail = theory.thm5_tail(1e-12, **CASE, method="paper")
    assert float(tail) == 1.0
    assert tail.vacuous is True
    assert "vacuous" in str(tail)
    center = theory.thm5_center(1e-6, 1.0, 1.0, 10, 3.0)
    assert float(center) > 1e5
    assert center.vacuous is True
    sweep = theory.thm5_tail(np.array([1e-12, 0.05]), **CASE)
    assert sweep.vacuous.tolist() == [True, False]


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("method", LADDER)
def test_units_do_not_matter(method, scale):
    one = theory.thm5_tail(0.02, **CASE, method=method)
    other = theory.thm5_tail(0.02 * scale, **(CASE | {"eta": 0.5 * scale}), method=method)
    assert float(other) == pytest.approx(float(one), rel=1e-12)


def test_log_survives_underflow():
    tail = theory.thm5_tail(3.0, **(CASE | {"T": 10**6}), method="paper")
    assert float(tail) == 0
    assert -np.inf < tail.details["log"] < -745
    assert tail.details["log"] == pytest.approx(
        -(10**12 * 9) / (5 * 0.25 * (np.log(1e6) + 1) + 14e6 * 2), rel=1e-3
    )


@pytest.mark.parametrize("T", [1, 7, 300])
def test_chernoff_rungs_against_mpmath(T):
    mpmath.mp.dps = 40
    eta, P, s = mpmath.mpf("0.5"), 4, 3
    law = ([0.0, 2.0, 5.0, 11.0], [0.25, 0.25, 0.375, 0.125])
    mean = sum(v * p for v, p in zip(*law, strict=True))
    variance = sum(p * (v - mean) ** 2 for v, p in zip(*law, strict=True))
    U = P * (2 * s + 1) - mean
    tau = 0.4 * 0.5 * (11 - mean) * theory.harmonic_sums(T)[0] / T
    q = mpmath.mpf(variance) / U**2
    families = {
        "per_term": lambda x: mpmath.log(1 + q * (mpmath.exp(x * U) - 1 - x * U)),
        "two_point": lambda x: mpmath.log((q * mpmath.exp(x * U) + mpmath.exp(-x * q * U)) / (1 + q)),
        "cramer": lambda x: mpmath.log(
            sum(p * mpmath.exp(x * (v - mean)) for v, p in zip(*law, strict=True))
        ),
    }
    for method, psi in families.items():

        def slope(lam, psi=psi):
            return (
                sum(
                    mpmath.diff(psi, lam * eta / mpmath.sqrt(t)) * eta / mpmath.sqrt(t)
                    for t in range(1, T + 1)
                )
                - T * tau
            )

        found = theory.thm5_tail(tau, float(eta), 1.0, P, s, T, mean, variance, method=method, law=law)
        low, high = mpmath.mpf("1e-9"), mpmath.mpf(1)
        while slope(high) < 0:
            high *= 2
        lam = mpmath.findroot(slope, (low, high), solver="anderson", tol=1e-12)
        wanted = mpmath.exp(-lam * T * tau + sum(psi(lam * eta / mpmath.sqrt(t)) for t in range(1, T + 1)))
        assert float(found) == pytest.approx(float(wanted), rel=1e-9), method


@given(T=st.integers(1, 30000), level=st.integers(0, 9), power=st.integers(0, 8))
def test_clock_nodes_sum_exactly(T, level, power):
    t, weight = clock_nodes(T, level)
    every = np.arange(1, T + 1) ** -0.5
    for f in (lambda a: a**power, lambda a: np.log(np.cosh(2.0**level / 2 * a))):
        assert weight @ f(t**-0.5) == pytest.approx(f(every).sum(), rel=1e-12)
    assert weight.sum() == pytest.approx(T, rel=1e-13)


@pytest.mark.parametrize("T", [1, 63, 64, 65, 1000, 10**6])
def test_harmonic_sums_exact(T):
    t = np.arange(1, T + 1, dtype=np.longdouble)[::-1]
    h, total = theory.harmonic_sums(T)
    assert h == pytest.approx(float((t**-0.5).sum()), rel=1e-15)
    assert total == pytest.approx(float((1 / t).sum()), rel=1e-15)
    assert h <= 2 * np.sqrt(T) - 1
    assert total <= np.log(T) + 1 + 1e-15


@pytest.mark.parametrize("method", [*LADDER, "cramer"])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
def test_deviation_inverts_the_tail(method, delta):
    law, mean, variance = a_law(np.random.default_rng(3), 28.0)
    case = CASE | {"mu_gamma": mean, "var_gamma": variance}
    tau = theory.thm5_deviation(delta, **case, method=method, law=law)
    assert float(theory.thm5_tail(float(tau), **case, method=method, law=law)) == pytest.approx(
        delta, rel=1e-9
    )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    P=st.sampled_from([1, 2, 4, 64]),
    s=st.sampled_from([0, 1, 16]),
    T=st.sampled_from([1, 2, 3, 5, 64, 65, 1000]),
    size=st.tuples(st.floats(-6, 6), st.floats(-6, 6)),
    log_delta=st.floats(-20, -0.01),
    log_variance=st.sampled_from([0.0, 0.0, -12.0, -300.0, -308.0]),
)
def test_the_deviation_reaches_delta_and_no_more(seed, P, s, T, size, log_delta, log_variance):
    law, mean, variance = a_law(np.random.default_rng(seed), P * (2 * s + 1))
    eta, L = 10.0 ** np.array(size)
    delta, steps = 10**log_delta, []
    for method in (*LADDER, "cramer", "chi_bernstein"):
        var = variance if method == "cramer" else variance * 10**log_variance
        case = {"eta": eta, "L": L, "P": P, "s": s, "T": T, "mu_gamma": mean, "var_gamma": var}
        tau = theory.thm5_deviation(delta, **case, method=method, law=law).value
        assert theory.thm5_tail(tau, **case, method=method, law=law) <= delta
        assert theory.thm5_tail(tau * (1 - 1e-9), **case, method=method, law=law) >= delta * (1 - 1e-6)
        steps.append(tau)
    for above, below in pairwise(steps[: len(LADDER)]):
        assert below <= above * (1 + 1e-9)


def test_per_term_against_mpmath_where_the_variance_is_tiny():
    """Terms in which e^(x U) sigma is small although e^(x U) overflows the other form."""
    mpmath.mp.dps = 60
    q = mpmath.mpf(10) ** -300
    found, first, second = per_term(1e-300).derivatives(np.array([500.0, 620.0, 680.0, 695.0, 800.0]))
    for i, x in enumerate((500, 620, 680, 695, 800)):
        inside = 1 + q * (mpmath.exp(x) - 1 - x)
        slope = q * (mpmath.exp(x) - 1) / inside
        assert found[i] == pytest.approx(float(mpmath.log(inside)), rel=1e-9, abs=1e-13)
        assert first[i] == pytest.approx(float(slope), rel=1e-9, abs=1e-13)
        assert second[i] == pytest.approx(float(q * mpmath.exp(x) / inside - slope**2), rel=1e-9, abs=1e-13)


def test_bennett_against_mpmath_where_the_variance_is_tiny():
    for V in (1e-300, 1e-308, 5e-324, 1e-90, 1e-110):
        log = float(np.asarray(theory.bennett_tail(3.0, V, 2.0).details["log"]))
        r = mpmath.mpf(6) / mpmath.mpf(V)
        wanted = mpmath.mpf(V) / 4 * ((1 + r) * mpmath.log(1 + r) - r)
        assert log == pytest.approx(-float(wanted), rel=1e-13)
        back = bennett_inverse(np.float64(-log), np.float64(V), np.float64(2.0))
        assert float(back) == pytest.approx(3.0, rel=1e-12)


def test_deviation_sweeps_and_ends():
    sweep = theory.thm5_deviation(
        np.array([0.5, 0.1]), **(CASE | {"T": np.array([[100], [1000]])}), method="two_point"
    )
    assert np.shape(sweep.value) == (2, 2)
    assert np.all(np.diff(sweep.value, axis=1) > 0)
    for method in ("bennett", "two_point", "cramer"):
        assert (
            float(
                theory.thm5_deviation(0.1, **(CASE | {"var_gamma": 0.0}), method=method, law=([3.0], [1.0]))
            )
            == 0
        )
    # one term: P(gamma = 28) = 1/4 > delta, so the bound jumps over delta at the end of the law
    ends = {"eta": 0.5, "L": 1.0, "P": 4, "s": 3, "T": 1, "mu_gamma": 7.0, "var_gamma": 147.0}
    law = ([0.0, 28.0], [0.75, 0.25])
    tau = float(theory.thm5_deviation(0.2, **ends, method="cramer", law=law))
    assert tau == pytest.approx(0.5 * 21, rel=1e-9)
    assert float(theory.thm5_tail(tau, **ends, method="cramer", law=law)) <= 0.2


@pytest.mark.parametrize("chi", [1, 3, 28])
def test_chi_rule(chi):
    one = theory.thm5_tail(0.02, **CASE, method="bernstein").details["log"]
    many = theory.thm5_tail(0.02, **CASE, method="chi_bernstein", chi=chi).details["log"]
    assert many == pytest.approx(one / chi, rel=1e-12)


def test_chi_bound_holds_for_block_dependence_where_the_iid_bound_does_not():
    chi, T, eta = 12, 600, 0.5
    rng = np.random.default_rng(5)
    a = eta / np.sqrt(np.arange(1, T + 1))
    gamma = np.repeat(rng.choice([0.0, 28.0], p=[0.9, 0.1], size=(20000, T // chi)), chi, axis=1)
    excess = (gamma - 2.8) @ a / T
    tau = float(np.quantile(excess, 0.95))
    case = {"eta": eta, "L": 1.0, "P": 4, "s": 3, "T": T, "mu_gamma": 2.8, "var_gamma": 28**2 * 0.09}
    true = float(np.mean(excess >= tau))
    assert float(theory.thm5_tail(tau, **case, method="two_point")) < true
    assert float(theory.thm5_tail(tau, **case, method="chi_bernstein", chi=chi)) > true


@pytest.mark.parametrize("T", [40, 400])
def test_true_iid_tail_lies_below_every_rung(T):
    rng = np.random.default_rng(7)
    law, mean, variance = a_law(rng, 28.0)
    eta, N = 0.5, 40000
    a = eta / np.sqrt(np.arange(1, T + 1))
    excess = np.zeros(N)
    for weight in a:
        excess += weight * (rng.choice(law[0], p=law[1], size=N) - mean)
    case = {"eta": eta, "L": 1.0, "P": 4, "s": 3, "T": T, "mu_gamma": mean, "var_gamma": variance}
    for share in (0.3, 0.03, 0.003):
        tau = float(np.quantile(excess, 1 - share)) / T
        hits = int(np.sum(excess >= T * tau))
        lower = 1 - float(theory.clopper_pearson_upper(N - hits, N, 1e-6))
        for method in (*LADDER, "cramer"):
            assert float(theory.thm5_tail(tau, **case, method=method, law=law)) >= lower, method


def test_counts_and_steps_variants():
    case = {"tau": 0.05, "eta": 0.5, "L": 1.0, "P": 4, "s": 3, "T": 1000}
    H = theory.harmonic_sums(1000)[1]
    found = theory.thm5_tail_counts(**case, mu_k=5.0, var_k=4.0)
    wanted = -((1000 * 0.05) ** 2) / (2 * 0.25 * 4 * H + 2 / 3 * 0.5 * 12 * 50)
    assert found.details["log"] == pytest.approx(wanted, rel=1e-12)
    assert theory.thm5_tail_counts(**case, mu_k=5.0, var_k=4.0, per_row=True) > found
    steps = theory.thm5_tail_steps(**case, mu_eta=2.3, var_eta=2.0)
    largest = 28 * theory.lemma4_weights(4, 3, 1000).max()
    wanted = -((1000 * 0.05) ** 2) / (2 * 0.25 * 2 * H + 2 / 3 * 0.5 * largest * 50)
    assert steps.details["log"] == pytest.approx(wanted, rel=1e-12)
    alone = theory.thm5_tail_counts(0.05, 0.5, 1.0, 1, 3, 100, 0.0, 0.0)
    assert float(alone) == 0


def test_own_schedule_through_bernstein_and_bennett():
    a = 0.5 / np.sqrt(np.arange(1, 1001))
    V, M = 2.5 * float(a @ a), 0.5 * 25
    by_hand = theory.bernstein_tail(20.0, V, M), theory.bennett_tail(20.0, V, M)
    for found, method in zip(by_hand, ("bernstein_centred", "bennett"), strict=True):
        assert float(found) == pytest.approx(float(theory.thm5_tail(0.02, **CASE, method=method)), rel=1e-10)

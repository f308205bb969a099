"""Bad input: a ValueError that names the argument, the value and the rule."""

import numpy as np
import pytest

import theory

TAIL = {"tau": 0.02, "eta": 0.5, "L": 1.0, "P": 4, "s": 3, "T": 1000, "mu_gamma": 3.0, "var_gamma": 2.5}
CENTER = {"eta": 0.5, "L": 1.0, "F2": 1.0, "T": 1000, "mu_gamma": 3.0}
THM1 = {"eta": 0.5, "L": 1.0, "F2": 1.0, "d": 3, "v0": 1.0, "T": 10}
COUNTS = {"tau": 0.02, "eta": 0.5, "L": 1.0, "P": 4, "s": 3, "T": 100, "mu_k": 3.0, "var_k": 2.5}


@pytest.mark.parametrize(
    ("function", "good", "name", "value", "rule"),
    [
        (theory.thm5_tail, TAIL, "var_gamma", -1.0, "got -1, but must be >= 0"),
        (theory.thm5_tail, TAIL, "mu_gamma", 28.5, r"got 28.5, but must be <= P\(2s\+1\)"),
        (theory.thm5_tail, TAIL, "mu_gamma", -0.1, "got -0.1, but must be >= 0"),
        (theory.thm5_tail, TAIL, "tau", 0, "got 0, but must be > 0"),
        (theory.thm5_tail, TAIL, "tau", -0.1, "got -0.1, but must be > 0"),
        (theory.thm5_tail, TAIL, "tau", [0.1, -2.0], r"got -2 at index \(1,\), but must be > 0"),
        (theory.thm5_tail, TAIL, "T", 0, "got 0, but must be a whole number >= 1"),
        (theory.thm5_tail, TAIL, "T", 10.5, "got 10.5, but must be a whole number"),
        (theory.thm5_tail, TAIL, "P", 0, "whole number >= 1"),
        (theory.thm5_tail, TAIL, "s", -1, "whole number >= 0"),
        (theory.thm5_tail, TAIL, "eta", float("nan"), "got nan, but must be finite"),
        (theory.thm5_tail, TAIL, "L", float("inf"), "got inf, but must be finite"),
        (theory.thm5_tail, TAIL, "eta", "half", "must be a number"),
        (theory.thm5_tail, TAIL, "tau", [], "empty array"),
        (theory.thm5_tail, TAIL, "method", "hoeffding", "must be one of paper"),
        (theory.thm5_tail, TAIL, "chi", 2, "must be 1 unless"),
        (theory.thm5_tail, TAIL | {"method": "chi_bernstein"}, "chi", 0.5, "must be >= 1"),
        (theory.thm5_tail, TAIL | {"method": "cramer"}, "law", None, "needs the pair"),
        (theory.thm5_tail, TAIL | {"method": "cramer"}, "law", ([1.0], [0.9]), "add up to 1"),
        (theory.thm5_tail, TAIL | {"method": "cramer"}, "law", ([1.0, 2.0], [1.0]), "shapes must be equal"),
        (theory.thm5_tail, TAIL | {"method": "cramer"}, "law", ([99.0], [1.0]), r"<= P\(2s\+1\)"),
        (theory.thm5_tail, TAIL | {"method": "cramer"}, "law", ([1.0, 2.0], [1.5, -0.5]), "must be >= 0"),
        (theory.thm5_deviation, {k: v for k, v in TAIL.items() if k != "tau"}, "delta", 1.0, "> 0 and < 1"),
        (theory.thm5_center, CENTER, "F2", -1.0, ">= 0"),
        (theory.thm5_center, CENTER, "T", 0, "whole number >= 1"),
        (theory.thm5_tail_counts, COUNTS, "mu_k", 12.5, "<= N_max"),
        (theory.thm1_regret, THM1, "r", 10, "must be < T"),
        (theory.thm1_regret, THM1 | {"aggregate": False}, "P", None, "must be given"),
        (theory.thm3_regret, {"eta": 0.5, "L": 1, "F2": 1, "P": 4, "s": 3}, "T", 0, "whole number >= 1"),
        (theory.thm3_optimal, {"L": 1, "P": 4, "s": 3, "T": 10}, "F", 0, "> 0"),
        (theory.n_max, {"P": 4}, "s", -1, ">= 0"),
        (theory.harmonic_sums, {}, "T", 0, ">= 1"),
        (theory.harmonic_sums, {}, "T", 1e18, r"T: got 1e\+18, but must be 2\^53 at most"),
        (theory.harmonic_sums, {}, "T", 10**400, "T: got a whole number of more than 308 digits"),
        (theory.thm5_tail, TAIL, "mu_gamma", 10**400, "got a whole number of more than 308 digits"),
        (theory.thm5_tail, TAIL, "tau", [0.1, 10**400], "got a whole number of more than 308 digits"),
        (theory.lemma4_weights, {"P": 1, "s": 0}, "T", 10**11, r"T: got 1e\+11, but must be 1e\+07 at most"),
        (theory.gamma, {"views": 0.5, "u": 0.5, "P": 1, "s": 0}, "x", 0.5, r"x: got shape \(\), but must be"),
        (theory.gamma_moments, {"gamma": [1.0], "P": 4, "s": 3}, "seed", 0.5, "seed: got 0.5"),
        (theory.lemma4_weights, {"P": 4, "s": 3}, "T", [5, 6], "one whole number"),
        (theory.lemma_a2_remainder, {"M3": 1.0}, "rho", -1, ">= 0"),
        (theory.thm2_remainder, {"d": 2, "v0": 1, "t": 1, "sd_t": 1}, "sd_next", -1, ">= 0"),
        (theory.clopper_pearson_upper, {"n": 5, "delta": 0.1}, "k", 6, "must be <= n"),
        (theory.maurer_pontil_upper, {"z_max": 1, "delta": 0.1}, "z", [0.5, 2.0], "<= z_max"),
        (theory.maurer_pontil_upper, {"z_max": 1, "delta": 0.1}, "z", [0.5], "at least 2 runs"),
        (theory.run_tail, {"thresholds": 1.0, "delta": 0.1}, "z", [[1.0]], "one value per run"),
        (theory.largest_stable_step, {"probs": [1.0]}, "h", 0.0, "> 0"),
        (theory.largest_stable_step, {"h": 1.0}, "probs", [0.5, 0.6], "add up to 1"),
    ],
)
def test_message_names_argument_value_and_rule(function, good, name, value, rule):
    with pytest.raises(ValueError, match=rule) as caught:
        function(**(good | {name: value}))
    assert str(caught.value).startswith(name)


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError, match=r"tau \(3,\), s \(2,\).*do not broadcast"):
        theory.thm5_tail(**(TAIL | {"tau": [0.1, 0.2, 0.3], "s": [3, 4]}))


def test_seeds_of_unequal_length():
    ragged = [[1.0, 2.0, 3.0], [1.0, 2.0]]
    for call in (
        lambda: theory.gamma_moments(ragged, 4, 3),
        lambda: theory.check_assumptions(ragged, 4, 3, 0.5, 1.0),
        lambda: theory.gamma_moments([np.ones(3), np.ones(2)], 4, 3),
    ):
        with pytest.raises(
            ValueError, match=r"gamma: got rows of unequal shape \[\(2,\), \(3,\)\].*same length"
        ):
            call()


def test_gamma_arrays():
    x, u = np.zeros((9, 2)), np.zeros((8, 2))
    for name, arguments in {
        "views": (x, np.zeros((7, 2)), u),
        "x": (np.zeros((5, 2)), u, u),
        "u": (x, u, np.full((8, 2), np.nan)),
    }.items():
        with pytest.raises(ValueError, match=name):
            theory.gamma(*arguments, 4, 1)
    with pytest.raises(ValueError, match=r"views: got \|view - x\| = 1"):
        theory.gamma(x, np.ones((8, 2)) * [1, 0], u, 4, 1)
    with pytest.raises(ValueError, match="needs both or neither"):
        theory.gamma(x, u, u, 4, 1, L=1.0)
    with pytest.raises(ValueError, match="gamma: got 29"):
        theory.gamma_moments([29.0, 1.0], 4, 3)


def test_views_and_orders():
    vc = np.array([[[0, 0], [0, 0]], [[1, 0], [0, 1]]])
    theory.read_start_counts(vc, [0, 1, 2, 3])
    for bad, order, words in (
        (vc[:, 0], [0, 1, 2, 3], "vc: got shape"),
        (vc + 5, [0, 1, 2, 3], "at most the 2 clocks"),
        (vc - 1, [0, 1, 2, 3], "whole number >= 0"),
        (vc, [0, 1, 2], "order: got shape"),
        (vc, [2, 1, 0, 3], "out of turn"),
    ):
        with pytest.raises(ValueError, match=words):
            theory.read_start_counts(bad, order)
    early = vc.copy()
    early[1, 0, 1] = 2
    with pytest.raises(ValueError, match="only 1 updates have started"):
        theory.read_start_counts(early, [0, 1, 2, 3])
    problem = (np.full(4, 0.1), [1.0], [1.0], [1.0], [0.0])
    with pytest.raises(ValueError, match="must be at most 1"):
        theory.linear_recursion((early, [0, 1, 2, 3]), *problem)
    without_own = vc.copy()
    without_own[1, 0, 0] = 0
    with pytest.raises(ValueError, match="exactly its 1 own"):
        theory.linear_recursion((without_own, [0, 1, 2, 3]), *problem)


def test_linear_recursion_arguments():
    seen = np.tri(4, k=-1, dtype=bool)
    good = {
        "included": seen,
        "eta_t": np.full(4, 0.1),
        "hessian": [1.0],
        "noise_cov": [1.0],
        "x0": [1.0],
        "x_star": [0.0],
    }
    theory.linear_recursion(**good)
    for name, value, words in (
        ("included", seen | seen.T, "included: got reads 0 and 1"),
        ("included", np.eye(4, dtype=bool), "included: got reads 0 and 0"),
        ("included", seen[:3], "included: got shape"),
        ("included", seen * 2, "true or false"),
        ("eta_t", np.zeros(4), "eta_t: got 0"),
        ("eta_t", np.ones(3), "included: got shape"),
        ("hessian", [1.0, 2.0], "hessian: got shape"),
        ("noise_cov", [-1.0], "eigenvalue -1"),
        ("x_star", [0.0, 1.0], "x0, x_star"),
    ):
        with pytest.raises(ValueError, match=words):
            theory.linear_recursion(**(good | {name: value}))
    with pytest.raises(ValueError, match="must be symmetric"):
        theory.linear_recursion(
            **(good | {"hessian": [[1, 2], [0, 1]], "noise_cov": [1, 1], "x0": [0, 0], "x_star": [0, 0]})
        )


def test_ensembles():
    a = np.zeros((5, 2))
    with pytest.raises(ValueError, match=r"g: got shape \(4, 2\).*same seeds"):
        theory.thm6_terms(a, a, a[:4], a, a, a, 0.1)
    with pytest.raises(ValueError, match="eta: got 0"):
        theory.thm6_terms(a, a, a, a, a, a, 0.0)
    with pytest.raises(ValueError, match="x: got shape"):
        theory.thm6_terms(*[np.zeros(3)] * 6, 0.1)
    samples = theory.Thm6Samples(a, a, a, np.eye(2), np.ones(5), np.ones(5))
    with pytest.raises(ValueError, match=r"moments: got mu \(1,\)"):
        theory.thm6_from_moments(theory.gamma_moments([1.0, 2.0], 4, 3), samples, 0.1)
    with pytest.raises(ValueError, match="needs both"):
        theory.check_assumptions(np.ones((2, 5)), 4, 3, 0.5, 1.0, x=np.ones((2, 5, 1)))

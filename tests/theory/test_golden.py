"""Every golden case, to the tolerances of the specification."""

from fractions import Fraction

import numpy as np
import pytest

import theory

COMMON = ("eta", "L", "P", "s", "T", "mu_gamma", "var_gamma")


def close(value, text, rel=1e-9):
    assert float(value) == pytest.approx(float(text), rel=rel, abs=1e-300)


def fraction(text):
    return float(Fraction(text))


def test_harmonic_sums(golden):
    given, wanted = golden["harmonic_sums"]
    h, total = theory.harmonic_sums(given["T"])
    close(h, wanted["H_half"], 1e-14)
    close(total, wanted["H_one"], 1e-14)


def test_center(golden):
    given, wanted = golden["thm5_center"]
    arguments = {k: given[k] for k in ("eta", "L", "F2", "T", "mu_gamma")}
    close(theory.thm5_center(**arguments), wanted["paper"])
    close(theory.thm5_center(**arguments, exact=True), wanted["exact_sums"])


@pytest.mark.parametrize(
    ("case", "method"),
    [
        ("thm5_tail_paper", "paper"),
        ("thm5_tail_bernstein_exact_sum", "bernstein"),
        ("thm5_tail_bernstein_centred", "bernstein_centred"),
        ("thm5_tail_bennett_centred", "bennett"),
    ],
)
def test_tail(golden, case, method):
    given, wanted = golden[case]
    close(theory.thm5_tail(given["tau"], **{k: given[k] for k in COMMON}, method=method), wanted["bound"])


def test_inverse(golden):
    given, wanted = golden["thm5_bernstein_inverse"]
    close(theory.thm5_deviation(given["delta"], **{k: given[k] for k in COMMON}), wanted["tau"])


def test_lemma4(golden):
    given, wanted = golden["lemma4_weights"]
    w = theory.lemma4_weights(given["P"], given["s"], given["T"])
    for t in given["t"]:
        close(w[t - 1], wanted[f"t{t}"])
    kappa = theory.lemma4_ubar(1, 1, given["P"], given["s"], given["T"]).details["kappa"]
    close(kappa.max(), wanted["kappa_max"])
    assert kappa.argmax() + 1 == wanted["kappa_argmax"]
    close(w.sum(), wanted["sum_w"])


def test_thm3(golden):
    given, wanted = golden["thm3"]
    a = {k: given[k] for k in ("eta", "L", "F2", "P", "s", "T")}
    b = {k: given[k] for k in ("L", "F", "P", "s", "T")}
    assert theory.n_max(4, 3) == wanted["N_max"]
    assert theory.n_max(4, 3, per_row=True) == wanted["N_max_per_row"]
    close(theory.thm3_regret(**a), wanted["worst_exact"])
    close(theory.thm3_regret(**a, per_row=True), wanted["worst_exact_per_row"])
    close(theory.thm3_optimal(**b), wanted["opt"])
    close(theory.thm3_optimal(**b, per_row=True), wanted["opt_per_row"])
    close(theory.thm3_ho2013(**b), wanted["ho2013"])


def test_clopper_pearson(golden):
    given, wanted = golden["clopper_pearson_upper"]
    upper = theory.clopper_pearson_upper(given["k"], given["n"], given["delta"])
    close(upper.value[0], wanted["k0"])
    close(upper.value[1], wanted["k3"])


def test_trace(golden):
    given, wanted = golden["trace_gamma"]
    P, C = given["P"], given["C"]
    u = np.array([fraction(v) for v in given["u"]])
    x = np.concatenate([[given["x0"]], given["x0"] + np.cumsum(u)])
    vc = np.array([[given["visible_clocks"][f"c{c}p{p}"] for p in range(P)] for c in range(1, C + 1)])
    views = given["x0"] + theory.prefix_visibility(vc) @ u
    rows = wanted["rows"]
    np.testing.assert_allclose(x[:-1], [float(r["x_t"]) for r in rows])
    np.testing.assert_allclose(views, [float(r["view"]) for r in rows])
    found = theory.gamma(x, views, u, P, given["s"])
    signed = theory.gamma_vectors(x, views, u, P, given["s"])[:, 0]
    np.testing.assert_allclose(found.ubar, [float(r["ubar"]) for r in rows], rtol=1e-12)
    np.testing.assert_allclose(signed, [float(r["gamma"]) for r in rows], rtol=1e-12)
    np.testing.assert_allclose(found.gamma, [abs(float(r["gamma"])) for r in rows], rtol=1e-12)
    count = theory.counts(vc)
    assert count.n.tolist() == [r["n"] for r in rows]
    assert count.k.tolist() == wanted["k"]


def test_thm6(golden):
    given, wanted = golden["thm6_identity"]
    x, h, delta, after = (
        np.array([[fraction(v) for v in row] for row in given[k]]) for k in ("x", "h", "delta", "delta_next")
    )
    g, eta = h + delta / 2, 0.25
    terms = theory.thm6_terms(x, x - eta * g, g, h, delta, after, eta)
    for name, value in terms.items():
        assert value == pytest.approx(float(wanted[name]), rel=1e-9, abs=1e-15)
    reference = sum(v for k, v in terms.items() if k.startswith("ref:"))
    close(reference, wanted["dVar_ref"])
    close(sum(terms.values()), wanted["dVar_view"])


def test_delay(golden):
    given, wanted = golden["delay_finite_time"]
    steps = np.full(given["T"], given["eta"])
    mean, var = theory.delay_moments(given["h"], steps, given["probs"], given["sig2"], given["x0"])
    close(mean[3], wanted["mean3"])
    for t in (1, 2, 3):
        close(var[t], wanted[f"var{t}"])


def test_lemma_a2(golden):
    given, wanted = golden["lemmaA2_logistic"]
    bound = theory.lemma_a2_remainder(1 / (6 * np.sqrt(3)), given["rho"])
    close(bound, wanted["bound"])
    assert bound >= abs(float(wanted["remainder"]))

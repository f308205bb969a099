"""What each command of `python -m theory` computes: a list of named results."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

import theory
from theory.bound import Bound

OPTIONS: dict[str, tuple[str, str]] = {
    "eta": ("number", "base step, eta_t = eta/sqrt(t) (thm6, lemma-a1: the step itself)"),
    "L": ("number", "Lipschitz constant of every loss"),
    "F2": ("number", "F^2, bound on HALF the squared distance to x* (thm5: for the centre)"),
    "P": ("whole", "workers"),
    "s": ("whole", "slack in clocks"),
    "T": ("whole", "reads, P x clocks"),
    "tau": ("number", "deviation of R/T above the centre"),
    "mu_gamma": ("number", "mean of gamma"),
    "var_gamma": ("number", "VARIANCE of gamma"),
    "mu_k": ("number", "mean of the counts k"),
    "var_k": ("number", "variance of the counts k"),
    "mu_eta": ("number", "mean of gamma^eta"),
    "var_eta": ("number", "variance of gamma^eta"),
    "d": ("whole", "dimension"),
    "v0": ("number", "threshold, v_t = v0/sqrt(t)"),
    "r": ("whole", "drift of the step index"),
    "t": ("whole", "read index"),
    "sd_t": ("number", "standard deviation of x_t"),
    "sd_next": ("number", "standard deviation of x_{t+1}"),
    "eta_t": ("number", "step of read t"),
    "M": ("number", "smoothness constant"),
    "M3": ("number", "Lipschitz constant of the Hessian"),
    "rho": ("number", "distance to the minimiser"),
    "chi": ("number", "classes of independent gamma_t"),
    "delta": ("number", "allowed error"),
    "k": ("whole", "runs above the threshold"),
    "n": ("whole", "runs"),
    "law": ("law", "law of gamma, value:probability,value:probability,..."),
    "x": ("vector", "reference x_t, comma separated (--x=-1,2 when negative)"),
    "view": ("vector", "view x~_t, comma separated"),
    "g": ("vector", "gradient at the view, comma separated"),
    "x_star": ("vector", "comparator x*, comma separated"),
    "ensemble": ("file", ".npz with x, x_next, g, h, delta, delta_next, each (N, d)"),
    "per_row": ("flag", "rows of one view differ in age"),
    "per_pair": ("flag", "v0 holds for each (producer, reader) pair, not for the aggregate: needs P"),
}
"""Every option: kind and help."""


@dataclass(frozen=True, slots=True)
class Result:
    """One printed line; `extra` holds the quantities of its formula that are no arguments."""

    name: str
    bound: Bound
    extra: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Command:
    """A command: title, required and optional arguments, and what it computes."""

    title: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    run: Callable[[Namespace], list[Result]]


def _thm1(a: Namespace) -> list[Result]:
    common = {"eta": a.eta, "L": a.L, "F2": a.F2, "d": a.d, "v0": a.v0, "T": a.T}
    found = theory.thm1_regret(**common, r=a.r or 0, aggregate=not a.per_pair, P=a.P)
    extra = {
        "r": float(a.r or 0),
        "h": _one(theory.harmonic_sums(a.T)[0]),
        "h_rest": _one(theory.harmonic_sums(a.T - (a.r or 0))[0]),
    }
    return [
        Result("thm1 per pair" if a.per_pair else "thm1", found, extra),
        Result("thm1 printed", theory.thm1_regret_printed(**common)),
    ]


def _thm2(a: Namespace) -> list[Result]:
    extra = {"eta_t": a.eta_t or 0.0, "M": a.M or 0.0}
    return [Result("thm2", theory.thm2_remainder(a.d, a.v0, a.t, a.sd_t, a.sd_next, **extra), extra)]


def _thm3(a: Namespace) -> list[Result]:
    common = {"eta": a.eta, "L": a.L, "F2": a.F2, "P": a.P, "s": a.s, "T": a.T, "per_row": a.per_row}
    exact, simple = theory.thm3_regret(**common), theory.thm3_regret(**common, exact=False)
    distance = float(np.sqrt(a.F2))
    best = theory.thm3_optimal(a.L, distance, a.P, a.s, a.T, a.per_row)
    extra = {
        "h": _one(theory.harmonic_sums(a.T)[0]),
        "most": float(theory.n_max(a.P, a.s, a.per_row)),
        "F": distance,
    }
    older = theory.thm3_ho2013(a.L, distance, a.P, a.s, a.T)
    names = ("thm3", "thm3 simple", "thm3 best step", "thm3 Ho 2013")
    return [Result(name, b, extra) for name, b in zip(names, (exact, simple, best, older), strict=True)]


def _thm5(a: Namespace) -> list[Result]:
    h, H = (_one(v) for v in theory.harmonic_sums(a.T))
    extra = {"h": h, "H": H, "chi": a.chi or 1.0}
    centres = (("printed", False), ("exact", True)) if a.F2 is not None else ()
    results = [
        Result(f"centre {name}", theory.thm5_center(a.eta, a.L, a.F2, a.T, a.mu_gamma, exact), extra)
        for name, exact in centres
    ]
    for method in theory.METHODS:
        if (method == "cramer" and a.law is None) or (method == "chi_bernstein" and a.chi is None):
            continue
        chi = a.chi if method == "chi_bernstein" else 1
        tail = theory.thm5_tail(a.tau, a.eta, a.L, a.P, a.s, a.T, a.mu_gamma, a.var_gamma, method, a.law, chi)
        results.append(Result(method, tail, extra))
    return results


def _thm5_counts(a: Namespace) -> list[Result]:
    tail = theory.thm5_tail_counts(a.tau, a.eta, a.L, a.P, a.s, a.T, a.mu_k, a.var_k, a.per_row)
    extra = {"H": _one(theory.harmonic_sums(a.T)[1]), "most": float(theory.n_max(a.P, a.s, a.per_row))}
    return [Result("thm5-counts", tail, extra)]


def _thm5_steps(a: Namespace) -> list[Result]:
    tail = theory.thm5_tail_steps(a.tau, a.eta, a.L, a.P, a.s, a.T, a.mu_eta, a.var_eta)
    window = min(a.T, a.P * (2 * a.s + 1))
    extra = {"H": _one(theory.harmonic_sums(a.T)[1]), "h_window": _one(theory.harmonic_sums(window)[0])}
    return [Result("thm5-steps", tail, extra)]


def _run_tail(a: Namespace) -> list[Result]:
    return [Result("run-tail", theory.clopper_pearson_upper(a.k, a.n, a.delta))]


def _thm6(a: Namespace) -> list[Result]:
    names = ("x", "x_next", "g", "h", "delta", "delta_next")
    with np.load(a.ensemble) as stored:
        missing = [name for name in names if name not in stored]
        if missing:
            raise ValueError(f"ensemble: got no array {', '.join(missing)}, but must hold {', '.join(names)}")
        arrays = {name: stored[name] for name in names}
    terms = theory.thm6_terms(**arrays, eta=a.eta)
    parts = {name: arrays[name] for name in ("x", "x_next", "delta", "delta_next")}
    closure = theory.thm6_closure(**parts, terms=terms)
    assumed = (f"closure: reference {closure.reference:.1e}, view {closure.view:.1e} of the variance",)
    source = "[1410.8043, Thm 6 and 2] as an exact identity"
    return [Result(name, Bound(value, assumed, source)) for name, value in terms.items()]


def _lemma4(a: Namespace) -> list[Result]:
    eta, L = (1.0 if value is None else value for value in (a.eta, a.L))
    size = theory.lemma4_ubar(eta, L, a.P, a.s, a.T)
    kappa = np.asarray(size.details["kappa"])
    at = int(kappa.argmax()) + 1
    where = (
        f"largest at t = {at}; the printed ubar_t <= eta L/sqrt(t) fails at {int((kappa > 1).sum())} reads"
    )
    worst = Bound(float(kappa.max()), (*size.assumptions, where), size.source, 2.0)
    return [Result("lemma4", theory.lemma4_gamma(a.P, a.s)), Result("lemma4 kappa", worst)]


def _lemma_a1(a: Namespace) -> list[Result]:
    after = np.asarray(a.x) - a.eta * np.asarray(a.g)
    sides = theory.lemma_a1(a.x_star, a.x, after, a.view, a.g, a.eta)
    source = "[1410.8043, Lemma A.1] with x_t before update t"
    return [
        Result(f"lemma-a1 {side}", Bound(value, ("x_{t+1} = x_t - eta g_t",), source))
        for side, value in zip(("lhs", "rhs"), sides, strict=True)
    ]


def _lemma_a2(a: Namespace) -> list[Result]:
    return [Result("lemma-a2", theory.lemma_a2_remainder(a.M3, a.rho))]


def _one(value: object) -> float:
    return float(np.asarray(value))


_RUN = ("eta", "L", "P", "s", "T")
COMMANDS: dict[str, Command] = {
    "thm1": Command("regret under VAP", ("eta", "L", "F2", "d", "v0", "T"), ("r", "P", "per_pair"), _thm1),
    "thm2": Command(
        "remainder of the variance under VAP", ("d", "v0", "t", "sd_t", "sd_next"), ("eta_t", "M"), _thm2
    ),
    "thm3": Command("regret under SSP and ESSP", ("F2", *_RUN), ("per_row",), _thm3),
    "thm5": Command(
        "tail of R/T from moments of gamma",
        (*_RUN, "mu_gamma", "var_gamma", "tau"),
        ("F2", "law", "chi"),
        _thm5,
    ),
    "thm5-counts": Command(
        "tail of R/T from counts (5-k)", (*_RUN, "mu_k", "var_k", "tau"), ("per_row",), _thm5_counts
    ),
    "thm5-steps": Command(
        "tail of R/T from gamma^eta (5-eta)", (*_RUN, "mu_eta", "var_eta", "tau"), (), _thm5_steps
    ),
    "run-tail": Command("tail over independent runs (5-run)", ("k", "n", "delta"), (), _run_tail),
    "thm6": Command("change of the variance, term by term", ("ensemble", "eta"), (), _thm6),
    "lemma4": Command("largest gamma and window weights", ("P", "s", "T"), ("eta", "L"), _lemma4),
    "lemma-a1": Command("regret identity of one read", ("x", "view", "g", "x_star", "eta"), (), _lemma_a1),
    "lemma-a2": Command("linearity of the gradient", ("M3", "rho"), (), _lemma_a2),
}

"""Claims about Theorem 5: T5-1 to T5-4."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from figures.tails import Levels, quantile, run_tail, slopes, surprise
from pskit.repro.claims.parts import Part, Unfit, part, single
from pskit.repro.ensemble import Ensemble
from pskit.repro.statistics import Estimate

BOTH = ("ssp", "essp")
LEVELS = {
    "C1": "C1, smallest of all runs",
    "C2": "C2, smallest of all runs",
    "5-k": "5-k, centre",
    "Theorem 5": "Theorem 5 as printed, centre",
    "Theorem 3": "Theorem 3",
}
"""What each level of `Levels.vacuous` is, in words."""


def bounds_hold(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """T5-1: bounds from training seeds, tested on fresh ones; and how far off the other bounds are.

    Raises
    ------
    Unfit
        With fewer seeds than both halves need.
    """
    half, quantiles, delta = tolerance["seeds"], tolerance["quantiles"], tolerance["delta"]
    need(runs, 2 * half, f"{half} to make the bounds from and {half} fresh ones to test them")
    parts, found = [], {}
    for policy in BOTH:
        same = runs.select(policy=policy)
        name = policy.upper()
        train, fresh = (same.column("regret")[:half], same.column("regret")[half : 2 * half])
        found[policy] = train
        for bound, values in (("run-level bound", train), ("certificate C0", same.column("C0")[:half])):
            for q in quantiles:
                x = float(np.quantile(train, q))
                allowed, hits = float(run_tail(values, x, delta)), int((fresh > x).sum())
                where = f"{name}, {bound} at q{100 * q:g} of the training runs"
                note = f"x = {x:.3g}: bound {allowed:.3f}, {hits} of {half} fresh runs"
                chance = single(surprise(allowed, hits, half), half)
                parts.append(Part(f"P(as many fresh runs beyond x), {where}", chance, low=delta, note=note))
                ratio = single(allowed * half / hits if hits else np.inf, half)
                carries = bound != "certificate C0" and q == max(quantiles)
                most = tolerance["within"]
                parts.append(Part(f"bound / observed tail, {where}", ratio, high=most, carries=carries))
        off = float(np.abs(same.column("C0") / same.column("regret") - 1).max())
        parts.append(Part(f"{name}: largest |C0 / R - 1|", single(off, 2 * half), high=tolerance["equal"]))
        parts += vacuous(same, name, half, float(np.quantile(train, max(quantiles))))
    apart = float(np.quantile(found["essp"], 0.9) / np.quantile(found["ssp"], 0.1))
    return [*parts, Part("R/T, q90 of ESSP / q10 of SSP", single(apart, half), high=1.0, strict=True)]


def vacuous(same: Ensemble, name: str, half: int, x: float) -> list[Part]:
    """Levels below which a bound says nothing of the tail, over the largest x that is looked at."""
    parts = [
        Part(f"{name}: level of {LEVELS[what]} / x", single(level / x, half), low=1.0, strict=True)
        for what, level in Levels(same).vacuous().items()
    ]
    own = same.column("F2")
    above = float((own[half : 2 * half] > own[:half].max()).sum())
    return [*parts, Part(f"{name}: fresh runs above the training runs' F2", single(above, half))]


def printed(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """T5-2: the printed bound against what happens, and where it is false."""
    parts = []
    configs = [batch.config for batch in runs.select(workers=tolerance["workers"], app="absolute")]
    for slack in sorted({c["ps"]["slack"] for c in configs if c["ps"]["policy"] in BOTH}):
        ssp, essp = (
            Levels(runs.select(app="absolute", workers=tolerance["workers"], policy=p, slack=slack))
            for p in BOTH
        )
        limit: dict[str, Any] = {"high": 1.0, "strict": True} if slack == tolerance["slack"] else {}
        where = f"ESSP / SSP, s = {slack}, P = {tolerance['workers']}"
        n = len(ssp.regret)
        parts.append(Part(f"printed centre, {where}", single(essp.centre() / ssp.centre(), n), **limit))
        parts.append(part(f"R/T, {where}", (essp.regret / ssp.regret).tolist(), **limit))
    for same in groups(runs):
        levels, what = Levels(same), described(same)
        ratios = (levels.centre() / levels.regret).tolist()
        parts.append(part(f"printed centre / R/T, {what}", ratios, low=1.0, strict=True))
        here = levels.slack == tolerance["slack"] and levels.workers == tolerance["workers"]
        limit = {"low": tolerance["autocorrelation"], "strict": True} if here else {}
        related = same.column("autocorrelation").tolist()
        parts.append(part(f"autocorrelation of gamma at lag P, {what}", related, **limit))
        if len(ratios) >= tolerance["seeds"]:
            parts.append(Part(f"dispersion index, {what}", single(levels.dispersion(), len(ratios))))
    return [*parts, *counterexample(runs.select(app=tolerance["counterexample"]), tolerance)]


def counterexample(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """The printed bound on an event of probability 1/2, and emulated runs of the same law."""
    (batch,) = runs
    columns, n = batch.columns, len(batch.seeds)
    what = f"printed bound where the probability is 1/2, T = {columns['closed_reads'][-1]:.0f}"
    slow, off = float(columns["slow"].mean()), columns["difference"].tolist()
    return [
        Part(what, single(columns["closed_bound"][-1], n), high=tolerance["bound"], carries=True),
        part("emulated R/T against the closed form, relative", off, high=tolerance["closed_form"]),
        Part("share of emulated runs with the slow network", single(slow, n)),
    ]


def groups(runs: Ensemble) -> list[Ensemble]:
    """Runs with a known measure of gamma, config by config."""
    found = []
    for batch in runs:
        if "gamma" in batch.columns:
            config = batch.config
            keys = {"app": config["app"]["name"], "policy": config["ps"]["policy"]}
            found.append(
                runs.select(**keys, slack=config["ps"]["slack"], workers=config["cluster"]["clients"])
            )
    return found


def described(same: Ensemble) -> str:
    """Policy, slack, workers and loss of a config."""
    config = next(iter(same)).config
    policy, slack = config["ps"]["policy"].upper(), config["ps"]["slack"]
    return f"{policy}, s = {slack}, P = {config['cluster']['clients']}, {config['app']['name']} loss"


def shaped(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """T5-3: quantiles of R/T by law of the ages, drawn once per run or within every run.

    Raises
    ------
    Unfit
        With fewer seeds than a quantile in the tail needs.
    """
    for drawn, seeds in tolerance["seeds"].items():
        need(runs.select(drawn=drawn), seeds, "for quantiles in the tail")
    parts = []
    for drawn, when in (("run", "once per run"), ("clock", "within every run")):
        seeds = tolerance["seeds"][drawn]
        for q in tolerance["quantiles"]:
            found = {law: quantile(column, q) for law, column in by_law(runs, drawn, tolerance).items()}
            for law, (value, low, high, level) in found.items():
                what = f"q{100 * q:g} of R/T, {law}, {when}"
                parts.append(Part(what, Estimate(value, low, high, seeds, level)))
            ordered = [found[law] for law in tolerance["laws"]]
            names = list(pairwise(tolerance["laws"]))
            if drawn == "run":
                for (less, more), (a, b) in zip(names, pairwise(ordered), strict=True):
                    what = f"q{100 * q:g}, once per run: lower end of {more} / upper end of {less}"
                    gap = single(b[1] / a[2], seeds)
                    carries = (less, q) == (tolerance["laws"][0], min(tolerance["quantiles"]))
                    parts.append(Part(what, gap, low=1.0, strict=True, carries=carries))
            else:
                what = f"q{100 * q:g}, within every run: {tolerance['laws'][-1]} / {tolerance['laws'][0]}"
                ratio = single(ordered[-1][0] / ordered[0][0], seeds)
                carries = q == min(tolerance["quantiles"])
                parts.append(Part(what, ratio, high=1.0, strict=True, carries=carries))
    off = runs.column("difference")
    what = f"R/T against the emulator, largest relative difference in {np.isfinite(off).sum()} runs"
    return [*parts, Part(what, single(np.nanmax(off), len(off)), high=tolerance["closed_form"])]


def by_law(runs: Ensemble, drawn: str, tolerance: Mapping[str, Any]) -> dict[str, Any]:
    """R/T of all runs of a kind, by the name of the law."""
    found = {}
    for name, keys in tolerance["named"].items():
        if runs.has(drawn=drawn, **keys):
            found[name] = runs.select(drawn=drawn, **keys).column("regret")[: tolerance["seeds"][drawn]]
    return found


def rate(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """T5-4: slope of log R/T over log T."""
    parts = []
    for app, noise, what, key in (
        ("absolute", 0.0, "absolute loss without noise", "absolute"),
        ("huber", 0.0, "smooth (Huber), interpolating", "interpolating"),
        ("huber", 0.1, "smooth (Huber), noisy", "between"),
        ("absolute", 0.1, "absolute loss, noisy", "between"),
    ):
        same = runs.select(app=app, noise=noise)
        for policy in same.values("policy"):
            low, high = tolerance[key]
            found = slopes(same.select(policy=policy)).tolist()
            name = f"slope, {what}, {policy.upper()}"
            carries = key == "interpolating" or (key, policy) == ("absolute", "essp")
            parts.append(part(name, found, low=low, high=high, carries=carries))
    return parts


def need(runs: Ensemble, seeds: int, what: str) -> None:
    """Raise Unfit if there are fewer seeds."""
    found = len(runs.seeds)
    if found < seeds:
        raise Unfit(f"this profile has {found} seeds; this claim needs {seeds}: {what}")

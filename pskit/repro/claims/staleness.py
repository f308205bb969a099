"""Claims about the age of reads: F1L-1, F1L-2, F1L-4."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from figures.measures import ages, distance, mean_ages
from pskit.analysis.trace import Trace
from pskit.repro.claims.parts import Part, part
from pskit.repro.ensemble import Ensemble


def close_to_uniform(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F1L-1: distance of the histogram to the uniform law on the ages that the slack allows."""
    parts = []
    for fraction in (tolerance["fraction"], tolerance["shown_fraction"]):
        binding = fraction == tolerance["fraction"]
        for policy, limit in (("ssp", {"high": tolerance["ssp"]}), ("essp", {"low": tolerance["essp"]})):
            for slack in tolerance["slacks"]:
                where = {"fraction": fraction, "policy": policy, "slack": slack}
                if binding or runs.has(**where):
                    distances = [ages(trace).tv_to_uniform(slack) for trace in runs.select(**where)]
                    what = f"TV to uniform, {policy.upper()}, s = {slack}, {fraction:.0%}"
                    # Either policy at the largest slack, where the range is widest, carries the claim.
                    carries = binding and slack == max(tolerance["slacks"])
                    parts.append(part(what, distances, carries=carries, **(limit if binding else {})))
    return parts


def concentrated(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F1L-2: mean age of ESSP over SSP's, and how little ESSP's histogram depends on the slack."""
    mf = runs.select(fraction=tolerance["fraction"])
    parts = []
    for slack, limit in zip(tolerance["slacks"], tolerance["age_ratio"], strict=True):
        ssp, essp = (mf.select(policy=p, slack=slack).each(lambda t: ages(t).mean()) for p in ("ssp", "essp"))
        ratios = [e / s for e, s in zip(essp, ssp, strict=True)]
        carries = slack == max(tolerance["slacks"])
        parts.append(part(f"mean age, ESSP / SSP, s = {slack}", ratios, high=limit, carries=carries))
    one, other = (mf.select(policy="essp", slack=s) for s in tolerance["compared_slacks"])
    distances = [distance(a, b) for a, b in zip(one, other, strict=True)]
    what = "TV between ESSP's histograms at s = {} and {}".format(*tolerance["compared_slacks"])
    note = "" if any(distances) else "the very same reads: the slack never binds"
    return [*parts, part(what, distances, high=tolerance["slack_tv"], carries=True, note=note)]


def regimes(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F1L-4: mean age over time under three models of the workers' compute times."""
    essp = runs.select(policy="essp")
    bound = tolerance["binding_slack"]
    bounded = essp.select(slack=bound)
    unbounded = essp.select(preset="exponential", slack=max(essp.values("slack")))

    def late_share(trace: Trace) -> float:
        return late_mean(trace) / bound

    def drift(trace: Trace) -> float:
        return exponent(trace, tolerance["floor_clocks"], tolerance["fit_clocks"])

    low, high = tolerance["exponent"]
    return [
        part(
            "near-equal: late / early mean age",
            bounded.select(preset="near-equal").each(growth),
            high=tolerance["steady_growth"],
            carries=True,
        ),
        part(
            "independent times: exponent of growth", unbounded.each(drift), low=low, high=high, carries=True
        ),
        part(
            f"independent times, s = {bound}: late mean age / s",
            bounded.select(preset="exponential").each(late_share),
            low=tolerance["bound_share"],
        ),
        part(
            f"straggler, s = {bound}: late mean age / s",
            bounded.select(preset="straggler").each(late_share),
            low=tolerance["straggler_share"],
        ),
    ]


def late_mean(trace: Trace) -> float:
    """Mean age over the last quarter of the clocks."""
    clock, mean = mean_ages(trace)
    return float(mean[clock > 0.75 * clock[-1]].mean())


def growth(trace: Trace) -> float:
    """Mean age over the last quarter of the clocks relative to that from 5% to 25% of them."""
    clock, mean = mean_ages(trace)
    early = mean[(clock >= 0.05 * clock[-1]) & (clock < 0.25 * clock[-1])].mean()
    return late_mean(trace) / float(early)


def exponent(trace: Trace, floor_clocks: tuple[int, int], fit_clocks: tuple[int, int]) -> float:
    """Exponent of the growth of the mean age over its floor.

    The slope of log(mean age - floor) over log(clock), fitted to eight points that divide ``fit_clocks``
    evenly in the logarithm. The floor, the network's share, is the mean age at ``floor_clocks``, before drift
    sets in.
    """
    clock, mean = mean_ages(trace)
    floor = mean[(clock >= floor_clocks[0]) & (clock <= floor_clocks[1])].mean()
    points = []
    for begin, end in pairwise(np.geomspace(*fit_clocks, 9)):
        inside = (clock >= begin) & (clock < end)
        points.append((np.log(clock[inside]).mean(), np.log(max(mean[inside].mean() - floor, 1e-9))))
    x, y = np.array(points).T
    return float(np.polyfit(x, y, 1)[0])

"""Claims about the age of reads: F1L-1, F1L-2, F1L-4."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pskit.analysis.staleness import Staleness, total_variation
from pskit.analysis.trace import Trace
from pskit.repro.claims.parts import Part, part
from pskit.repro.ensemble import Ensemble


def ages(trace: Trace) -> Staleness:
    """Ages of all reads but those of clock 0, where nothing is old yet and all rows are fetched once."""
    return trace.staleness().between(1, 2**31 - 1)


def close_to_uniform(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F1L-1: distance of the histogram to the uniform law on the ages that the slack allows."""
    parts = []
    for fraction in (tolerance["fraction"], tolerance["shown_fraction"]):
        binding = fraction == tolerance["fraction"]
        for policy, relation, limit in (("ssp", "<=", tolerance["ssp"]), ("essp", ">=", tolerance["essp"])):
            for slack in tolerance["slacks"]:
                where = {"fraction": fraction, "policy": policy, "slack": slack}
                if not binding and not runs.has(**where):
                    continue
                distances = runs.select(**where).each(lambda t, s=slack: ages(t).tv_to_uniform(s))  # type: ignore[misc]
                what = f"TV to uniform, {policy.upper()}, s = {slack}, {fraction:.0%}"
                parts.append(part(what, distances, relation, limit) if binding else part(what, distances))
    return parts


def concentrated(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F1L-2: mean age of ESSP over SSP's, and how little ESSP's histogram depends on the slack."""
    mf = runs.select(fraction=tolerance["fraction"])
    parts = []
    for slack, limit in zip(tolerance["slacks"], tolerance["age_ratio"], strict=True):
        ssp, essp = (mf.select(policy=p, slack=slack).each(lambda t: ages(t).mean()) for p in ("ssp", "essp"))
        ratios = [e / s for e, s in zip(essp, ssp, strict=True)]
        parts.append(part(f"mean age, ESSP / SSP, s = {slack}", ratios, "<=", limit))
    one, other = (mf.select(policy="essp", slack=s) for s in tolerance["compared_slacks"])
    distances = [
        total_variation(ages(a).histogram(), ages(b).histogram()) for a, b in zip(one, other, strict=True)
    ]
    what = "TV between ESSP's histograms at s = {} and {}".format(*tolerance["compared_slacks"])
    parts.append(part(what, distances, "<=", tolerance["slack_tv"]))
    return parts


def regimes(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F1L-4: mean age over time under three models of the workers' compute times.

    Growth is late mean age over early mean age. The exponent is the slope of log(mean age - floor) over
    log(clock), where the floor is the mean age at the clocks ``floor_clocks``: the network's share, before
    drift sets in. It is measured at the largest slack there is, while that does not bind.
    """
    essp = runs.select(policy="essp")
    slack, bound = max(essp.values("slack")), tolerance["binding_slack"]
    steady = essp.select(preset="near-equal", slack=bound)
    drifting = essp.select(preset="exponential", slack=slack)
    bounded = essp.select(preset="exponential", slack=bound)
    straggling = essp.select(preset="straggler", slack=bound)

    def late_share(trace: Trace) -> float:
        return late_mean(trace) / bound

    return [
        part("near-equal: late / early mean age", steady.each(_growth), "<=", tolerance["steady_growth"]),
        part(
            "independent times: exponent of growth",
            drifting.each(lambda t: exponent(t, tolerance["floor_clocks"], tolerance["fit_clocks"])),
            ">=",
            tolerance["exponent"][0],
        ),
        part(
            "independent times: exponent of growth",
            drifting.each(lambda t: exponent(t, tolerance["floor_clocks"], tolerance["fit_clocks"])),
            "<=",
            tolerance["exponent"][1],
        ),
        part(
            f"independent times, s = {bound}: late mean age / s",
            bounded.each(late_share),
            ">=",
            tolerance["bound_share"],
        ),
        part(
            f"straggler, s = {bound}: late mean age / s",
            straggling.each(late_share),
            ">=",
            tolerance["straggler_share"],
        ),
    ]


def mean_ages(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Clock (n,) and mean age of reads at it (n,), from clock 1 on."""
    curve = ages(trace).mean_by_clock()
    return curve["clock"], curve["mean"]


def late_mean(trace: Trace) -> float:
    """Mean age over the last quarter of the clocks."""
    clock, mean = mean_ages(trace)
    return float(mean[clock > 0.75 * clock[-1]].mean())


def _growth(trace: Trace) -> float:
    clock, mean = mean_ages(trace)
    early = mean[(clock >= 0.05 * clock[-1]) & (clock < 0.25 * clock[-1])].mean()
    return late_mean(trace) / float(early)


def exponent(trace: Trace, floor_clocks: tuple[int, int], fit_clocks: tuple[int, int]) -> float:
    """Slope of log(mean age - floor) over log(clock), fitted over ``fit_clocks`` at log-spaced points."""
    clock, mean = mean_ages(trace)
    floor = mean[(clock >= floor_clocks[0]) & (clock <= floor_clocks[1])].mean()
    edges = np.geomspace(*fit_clocks, 9)
    points = []
    for low, high in zip(edges[:-1], edges[1:], strict=True):
        inside = (clock >= low) & (clock < high)
        points.append((np.log(clock[inside]).mean(), np.log(max(mean[inside].mean() - floor, 1e-9))))
    x, y = np.array(points).T
    return float(np.polyfit(x, y, 1)[0])

"""Claims about the loss of matrix factorization: F2M-1 to F2M-5."""

import math
from collections.abc import Mapping
from typing import Any

from figures.measures import final_over_bsp, to_target
from pskit.analysis.trace import Trace
from pskit.repro.claims.parts import Part, part
from pskit.repro.ensemble import Ensemble


def ssp_diverges(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F2M-1: SSP's final loss at a high slack over BSP's."""
    slack = tolerance["slack"]
    same = runs.select(fraction=tolerance["fraction"], step=tolerance["step"])
    ratios = final_over_bsp(same, "ssp", slack).tolist()
    return [part(f"final loss, SSP s = {slack} / BSP", ratios, low=tolerance["ratio"], strict=True)]


def essp_converges(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F2M-2: ESSP's final loss over BSP's at every slack, and its spread over the slacks."""
    same = runs.select(fraction=tolerance["fraction"], step=tolerance["step"])
    parts, finals = [], []
    smallest, largest = tolerance["slacks"]
    for slack in same.select(policy="essp").values("slack"):
        if not smallest <= slack <= largest:
            continue
        ratios = final_over_bsp(same, "essp", slack).tolist()
        parts.append(part(f"final loss, ESSP s = {slack} / BSP", ratios, high=tolerance["ratio"]))
        finals.append(ratios)
    spreads = [max(seed) / min(seed) - 1 for seed in zip(*finals, strict=True)]
    return [*parts, part("spread over s", spreads, high=tolerance["spread"])]


def ssp_shaky(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F2M-3: the largest rise of the loss, SSP against ESSP at a medium slack."""
    where = {"fraction": tolerance["fraction"], "step": tolerance["step"], "slack": tolerance["slack"]}
    rises = {p: runs.select(policy=p, **where).each(Trace.excursion) for p in ("ssp", "essp")}
    return [
        part(f"excursion, SSP s = {where['slack']}", rises["ssp"], low=tolerance["ssp"], strict=True),
        part(f"excursion, ESSP s = {where['slack']}", rises["essp"], high=tolerance["essp"], strict=True),
    ]


def onset_later(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F2M-4: the smallest slack at which SSP diverges, small against large minibatches at the same step."""
    large, small = tolerance["fractions"]
    parts = []
    for step in tolerance["steps"]:
        at_large, at_small = (onsets(runs, fraction, step) for fraction in (large, small))
        ratios = [s / b if math.isfinite(b) else 1.0 for b, s in zip(at_large, at_small, strict=True)]
        parts.append(
            part(f"onset at {small:.0%} / onset at {large:.0%}, step {step:g}", ratios, low=1.0, strict=True)
        )
        for fraction, onset in ((large, at_large), (small, at_small)):
            parts.append(part(f"onset at {fraction:.0%}, step {step:g}: s (infinite: none)", onset))
    return parts


def faster(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F2M-5: times and clocks to a target loss, SSP and BSP over ESSP."""
    parts = []
    for fraction in tolerance["fractions"]:
        same = runs.select(fraction=fraction, step=tolerance["step"])
        reached = to_target(same, tolerance["slack"], tolerance["target_at"])
        for slow, fast in (("bsp", "ssp"), ("ssp", "essp"), ("bsp", "essp")):
            label = f"{slow.upper()} / {fast.upper()}, {fraction:.0%}"
            per_second, per_clock = (
                reached[slow][unit] / reached[fast][unit] for unit in ("second", "clock")
            )
            parts.append(part(f"seconds to the target, {label}", per_second.tolist(), low=1.0))
            parts.append(part(f"clocks to the target, {label}", per_clock.tolist()))
            if fast == "essp":
                gaps = (per_second / per_clock).tolist()
                parts.append(part(f"gap per second / gap per clock, {label}", gaps, low=1.0, strict=True))
    return parts


def onsets(runs: Ensemble, fraction: float, step: float) -> list[float]:
    """Smallest slack at which SSP's run counts as diverged, seed by seed; infinite where none does.

    A run counts as diverged when its loss was above ``run.diverge_factor`` times the initial one, or not
    finite, at any evaluation.
    """
    ssp = runs.select(fraction=fraction, step=step, policy="ssp")
    found = []
    for seed in ssp.values("seed"):
        bad = [t.config["ps"]["slack"] for t in ssp.select(seed=seed) if t.diverged()]
        found.append(float(min(bad, default=math.inf)))
    return found

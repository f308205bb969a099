"""Claims about the loss of matrix factorization: F2M-1 to F2M-5."""

import math
from collections.abc import Mapping
from typing import Any

from figures.measures import excursion, final_over_bsp, stopped_at, to_target
from pskit.repro.caption import listed
from pskit.repro.claims.parts import AS_BEFORE, Part, part
from pskit.repro.ensemble import Ensemble


def ssp_diverges(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F2M-1: SSP's final loss at a high slack over BSP's."""
    slack = tolerance["slack"]
    same = runs.select(fraction=tolerance["fraction"], step=tolerance["step"])
    ratios = final_over_bsp(same, "ssp", slack).tolist()
    what, note = f"final loss, SSP s = {slack} / BSP", stops(same.select(policy="ssp", slack=slack))
    limit = tolerance["ratio"]
    return [part(what, ratios, low=limit, strict=True, carries=True, infinite="not finite", note=note)]


def essp_converges(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F2M-2: ESSP's final loss over BSP's at every slack, and its spread over the slacks."""
    same = runs.select(fraction=tolerance["fraction"], step=tolerance["step"])
    parts, finals = [], []
    smallest, largest = tolerance["slacks"]
    for slack in same.select(policy="essp").values("slack"):
        if not smallest <= slack <= largest:
            continue
        ratios = final_over_bsp(same, "essp", slack).tolist()
        what, note = f"final loss, ESSP s = {slack} / BSP", stops(same.select(policy="essp", slack=slack))
        if ratios in finals:
            note = AS_BEFORE
        limit, carries = tolerance["ratio"], slack == largest
        parts.append(part(what, ratios, high=limit, carries=carries, infinite="not finite", note=note))
        finals.append(ratios)
    spreads = [max(seed) / min(seed) - 1 for seed in zip(*finals, strict=True)]
    return [*parts, part("spread over s", spreads, high=tolerance["spread"], carries=True)]


def ssp_shaky(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F2M-3: the largest rise of the loss, SSP against ESSP at a medium slack."""
    where = {"fraction": tolerance["fraction"], "step": tolerance["step"], "slack": tolerance["slack"]}
    parts = []
    for policy, limit in (("ssp", {"low": tolerance["ssp"]}), ("essp", {"high": tolerance["essp"]})):
        same = runs.select(policy=policy, **where)
        what, note = f"excursion, {policy.upper()} s = {where['slack']}", stops(same)
        words: dict[str, Any] = {"infinite": "not finite", "note": note}
        parts.append(part(what, same.each(excursion), **limit, strict=True, carries=True, **words))
    return parts


def onset_later(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F2M-4: the smallest slack at which SSP diverges, small against large minibatches at the same step.

    Beside each stands who else diverges at that step: where BSP does, it is not the slack alone that breaks
    runs, and without BSP nobody knows; then the number does not carry the claim.
    """
    large, small = tolerance["fractions"]
    parts = []
    for step in tolerance["steps"]:
        at_large, at_small = (onsets(runs, fraction, step) for fraction in (large, small))
        ratios = [s / b if math.isfinite(b) else 1.0 for b, s in zip(at_large, at_small, strict=True)]
        what = f"onset at {small:.0%} / onset at {large:.0%}, step {step:g}"
        none = f"no s that is run diverges at {small:.0%}"
        note = f"beside SSP diverge: {others(runs, large, step)}; {others(runs, small, step)}"
        carries = runs.has(fraction=large, step=step, policy="bsp")
        parts.append(part(what, ratios, low=1.0, strict=True, carries=carries, infinite=none, note=note))
        for fraction, onset in ((large, at_large), (small, at_small)):
            tried = runs.select(fraction=fraction, step=step, policy="ssp").values("slack")
            what = f"onset at {fraction:.0%}, step {step:g}: smallest s that diverges"
            parts.append(part(what, onset, infinite="none of those run", note=f"run: s = {listed(tried)}"))
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
            # The two steps from BSP over SSP to ESSP, at the larger minibatch, carry the claim.
            carries = fraction == max(tolerance["fractions"]) and "ssp" in (slow, fast)
            never: dict[str, Any] = {"infinite": f"{slow.upper()} never there"}
            seconds = per_second.tolist()
            parts.append(part(f"seconds to the target, {label}", seconds, low=1.0, carries=carries, **never))
            parts.append(part(f"clocks to the target, {label}", per_clock.tolist(), **never))
            if fast == "essp":
                gaps = (per_second / per_clock).tolist()
                parts.append(part(f"gap per second / gap per clock, {label}", gaps, low=1.0, strict=True))
    return parts


def stops(runs: Ensemble) -> str:
    """Which seeds' runs a value that is not finite stopped, and at which clock; empty if none."""
    stopped = {t.config["run"]["seed"]: stopped_at(t) for t in runs}
    at = [f"seed {seed} at clock {clock}" for seed, clock in stopped.items() if clock is not None]
    return f"not finite, stopped: {', '.join(at)}" if at else ""


def others(runs: Ensemble, fraction: float, step: float) -> str:
    """How many runs of BSP and of ESSP, at any slack, diverge; or that this profile has none."""
    said = []
    for policy in ("bsp", "essp"):
        where = {"fraction": fraction, "step": step, "policy": policy}
        if runs.has(**where):
            same = runs.select(**where)
            said.append(f"{policy.upper()} {sum(trace.diverged() for trace in same)} of {len(same)} runs")
        else:
            said.append(f"{policy.upper()} not run in this profile")
    return f"at {fraction:.0%} {', '.join(said)}"


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

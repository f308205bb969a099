"""F1L-3: live processes and virtual time give the same ages."""

from collections.abc import Mapping
from typing import Any

from figures.measures import faithful, fidelity, paired_distances, seed_distances
from pskit.analysis.trace import Trace
from pskit.repro.caption import counted
from pskit.repro.claims.parts import Part, Unfit, part
from pskit.repro.ensemble import Ensemble

POLICIES = ("ssp", "essp")


def agree(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """F1L-3: distance of the histograms of one config live and in virtual time, and that of two seeds.

    A live run that is not *faithful* says nothing of the runtime, only of the machine at that time: it is
    left out.

    Raises
    ------
    Unfit
        When none is faithful of some policy and model of compute times, and the others are as expected.
    """
    parts, unfit = [], []
    for preset in runs.select(runtime="live").values("preset"):
        for policy in POLICIES:
            same = runs.select(preset=preset, policy=policy)
            live, virtual = same.select(runtime="live"), same.select(runtime="sim")
            strained = [trace for trace in live if not faithful(trace)]
            kept = [trace for trace in live if faithful(trace)]
            unfit += strained if not kept else []
            where = f"{policy.upper()}, {preset}"
            if kept:
                parts.append(
                    part(
                        f"TV live / virtual time, same seed, {where}",
                        paired_distances(Ensemble([*kept, *virtual])),
                        high=tolerance["distance"],
                        carries=preset == tolerance["carried_by"],
                        note=left_out(strained),
                    )
                )
            parts.append(part(f"TV between two seeds in virtual time, {where}", seed_distances(virtual)))
    if unfit and all(found.met for found in parts):
        raise Unfit(reason(unfit))
    return parts


def left_out(strained: list[Trace]) -> str:
    """Which seeds' live runs are not counted; empty if all are."""
    seeds = [f"seed {trace.config['run']['seed']}: {fidelity(trace)['verdict']}" for trace in strained]
    return f"left out: {', '.join(seeds)}" if seeds else ""


def reason(unfit: list[Trace]) -> str:
    """Why live runs cannot be judged by: the verdict of the one that was the latest, and what to change."""
    worst = max(unfit, key=lambda trace: float(fidelity(trace)["late_share_of_clock"]))
    said, config = fidelity(worst), worst.config
    name = f"{config['ps']['policy'].upper()}, {config['preset']}, seed {config['run']['seed']}"
    return (
        f"{counted(len(unfit), 'live run')} did not keep the times of the config, which says nothing of the "
        f"claim; the worst ({name}): {said['verdict']}, since {said['reason']}. To test it, start again when "
        "the machine has nothing else to do: only these runs are made again"
    )

"""What the manifest says of the run, against its config and its trace."""

import re

import numpy as np

from pskit.auditing.case import KIND, Case
from pskit.auditing.findings import Check, Finding, breaks

HASHES = ("fingerprint", "code", "schedule_hash", "value_hash")
UNBOUNDED = {"bsp": False, "asp": True, "ssp": False, "essp": False, "vap": True}
PUSHES_NEVER = ("bsp", "ssp", "asp")


def manifest(case: Case) -> Finding | str:
    """Workers, shards, seed, policy and trace mode are those of the config, and hashes are sha256 sums."""
    said, config = case.manifest, case.manifest["config"]
    trace, run = said["trace"], config["run"]
    wrong = [
        f"{what} is {one!r} in the manifest, the config says {other!r}"
        for what, one, other in (
            ("the number of workers", said["workers"], case.workers),
            ("the number of shards", said["layout"]["shards"], config["ps"]["shards"]),
            ("the seed", said["seed"], run["seed"]),
            ("the mode of the trace", trace["mode"], run["trace"]),
        )
        if one != other
    ]
    wrong += [f"{name} is {said[name]!r}, no sha256" for name in HASHES if not _is_sha256(said[name])]
    no_bound = case.slack is None
    if UNBOUNDED.get(case.policy, no_bound) != no_bound or (case.policy == "bsp" and case.slack != 0):
        wrong.append(f"policy {case.policy!r} cannot have slack {case.slack!r}")
    if case.live != ("fidelity" in said):
        wrong.append(
            f"runtime {run['runtime']!r} does not fit a manifest that has {'no ' * case.live}fidelity"
        )
    totals = case.columns["message_totals"]
    pushed = int(totals["count"][totals["kind"] == KIND["push"]].sum())
    if pushed and case.policy in PUSHES_NEVER:
        wrong.append(f"policy {case.policy!r} never pushes, but {pushed} pushes were counted")
    for name, amounts in trace["sampling"].items():
        share, kept, total = (amounts[key] for key in ("share", "kept", "total"))
        thinned = share < 1 and (trace["mode"] == "full" or kept == total > 0)
        if thinned or not 0 < share <= 1 or np.frexp(share)[0] != 0.5:
            wrong.append(
                f"a share {share} of the {name} was kept, {kept} of {total}, under a {trace['mode']} trace"
            )
    return breaks(np.array([bool(wrong)]), lambda _: "; ".join(wrong))


def _is_sha256(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def status(case: Case) -> Finding | str:
    """A run is marked diverged exactly when its loss, or an update, says so; finished when all have left."""
    metrics, factor = case.columns["metrics"], float(case.manifest["config"]["run"]["diverge_factor"])
    loss = metrics["value"][metrics["name"] == "loss"]
    diverged = bool(np.char.startswith(case.columns["faults"]["what"], "non-finite").any())
    if len(loss):
        diverged |= bool((~np.isfinite(loss) | (loss > factor * loss[0])).any())
    left = case.ended
    said = case.manifest["status"]
    wrong = {"finished": diverged or not left, "diverged": not diverged, "interrupted": False}[said]

    def tell(_: int) -> str:
        how = "says that it diverged" if diverged else "stays within run.diverge_factor"
        ended = "all workers left" if left else "not all workers left"
        return f"the manifest says {said!r}, but the loss {how}, and {ended}"

    return breaks(np.array([wrong]), tell)


CHECKS = (Check("manifest facts", manifest),)
STATUS = (Check("status", status),)

"""From parts to a verdict: PASS, FINDING, FAIL or NOT TESTED, with the number that decides and the reason."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pskit.repro.caption import counted
from pskit.repro.catalogue import Catalogue, Claim
from pskit.repro.claims import CHECKS
from pskit.repro.claims.parts import Part, Unfit, number
from pskit.repro.ensemble import Absent, Ensemble
from pskit.repro.live import IMPOSSIBLE

PASS, FINDING, FAIL, NOT_TESTED = "PASS", "FINDING", "FAIL", "NOT TESTED"
STATUSES = (PASS, FINDING, FAIL, NOT_TESTED)


class Verdict(NamedTuple):
    """What became of a claim.

    Attributes
    ----------
    id, status, why : str
    claim : Claim
    parts : list of Part
        Empty when nothing was tested.
    seeds : int
        Fewest seeds behind any part.
    figure : str or None
        Name of the figure that shows it.
    broken : bool
        Whether it is not tested for a fault: a run could not be made, where such runs can be made at all.
    """

    id: str
    status: str
    why: str
    claim: Claim
    parts: list[Part]
    seeds: int
    figure: str | None
    broken: bool = False

    @property
    def decisive(self) -> list[Part]:
        """The parts that carry the claim; those that are not as expected, or in doubt, if there are any."""
        missed = [part for part in self.parts if not part.met]
        doubtful = [part for part in self.parts if part.doubtful]
        return missed or doubtful or [part for part in self.parts if part.carries]


def judge(catalogue: Catalogue, name: str, runs: Ensemble, failures: Mapping[str, str]) -> Verdict:
    """Check one claim.

    Parameters
    ----------
    catalogue : Catalogue
    name : str
        Id of the claim.
    runs : Ensemble
        Of the claim's experiments.
    failures : mapping of str to str
        Runs of these experiments that could not be made, and why; with any the claim is not tested.
    """
    claim, figure = catalogue.claims[name], catalogue.figure_of(name)

    def verdict(status: str, why: str, parts: list[Part]) -> Verdict:
        seeds = min((part.estimate.n for part in parts), default=0)
        return Verdict(name, status, why, claim, parts, seeds, figure)

    if claim.untested:
        return verdict(NOT_TESTED, claim.untested, [])
    if failures:
        run, reason = next(iter(failures.items()))
        if all(why.startswith(IMPOSSIBLE) for why in failures.values()):
            return verdict(NOT_TESTED, reason, [])
        many = f"{counted(len(failures), 'run')} could not be made"
        return verdict(NOT_TESTED, f"{many}: {run}: {reason}", [])._replace(broken=True)
    try:
        parts = CHECKS[name](runs, claim.tolerance)
    except Absent as absent:
        return verdict(NOT_TESTED, f"this profile has {absent}", [])
    except Unfit as unfit:
        return verdict(NOT_TESTED, str(unfit), [])
    missed = [part for part in parts if not part.met]
    if missed:
        return verdict(FAIL, f"not as expected: {in_words(missed)}", parts)
    doubtful = [part for part in parts if part.doubtful]
    if doubtful:
        seeds = counted(min(part.estimate.n for part in doubtful), "seed")
        found = "; ".join(f"{part.what} {part.interval()}, expected {part.expected()}" for part in doubtful)
        why = f"from {seeds} the median is as expected, but the interval holds the limit: {found}"
        return verdict(NOT_TESTED, why, parts)
    within = f"as expected: {in_words([part for part in parts if part.binding])}"
    return verdict(claim.met, f"{claim.explanation} {within}".strip(), parts)


def in_words(parts: list[Part]) -> str:
    """Numbers and what is expected of them."""
    return "; ".join(
        f"{part.what} {number(part.estimate.value, part.infinite)} ({part.expected()})" for part in parts
    )


def as_json(verdict: Verdict) -> dict[str, Any]:
    """As report.json has it: `value` and `ci` are those of the first decisive part."""
    part = next(iter(verdict.decisive), None)
    return {
        "id": verdict.id,
        "status": verdict.status,
        "value": part.estimate.value if part else None,
        "expected": verdict.claim.expected,
        "ci": [part.estimate.low, part.estimate.high] if part else None,
        "seeds": verdict.seeds,
        "figure": verdict.figure,
        "why": verdict.why,
        "paper": verdict.claim.paper,
        "tolerance": verdict.claim.tolerance,
        "parts": [
            {
                "what": p.what,
                "value": p.estimate.value,
                "ci": [p.estimate.low, p.estimate.high],
                "ci_level": p.estimate.level,
                "seeds": p.estimate.n,
                "expected": p.expected() or None,
                "met": p.met if p.binding else None,
                "decisive": p in verdict.decisive,
                "note": p.note or None,
            }
            for p in verdict.parts
        ],
    }

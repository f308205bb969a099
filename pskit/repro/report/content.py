"""What a report says, before it takes a form."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from pskit.repro.caption import counted
from pskit.repro.claims import verdict as verdicts
from pskit.repro.claims.verdict import STATUSES, Verdict
from pskit.repro.drawing import Drawn


class Report(NamedTuple):
    """Everything that a report says.

    Attributes
    ----------
    profile : str
    only : tuple of str
        The claims asked for; empty for all.
    verdicts : list of Verdict
    figures : list of Drawn
    runs : dict
        Counts: ``total``, ``reused``, ``made``, ``failed``.
    seconds : float
        Wall time without set-up and compilation.
    setup_seconds : float
    machine : mapping
        System, processor, versions, commit.
    """

    profile: str
    only: tuple[str, ...]
    verdicts: list[Verdict]
    figures: list[Drawn]
    runs: Mapping[str, int]
    seconds: float
    setup_seconds: float
    machine: Mapping[str, Any]

    def counts(self) -> dict[str, int]:
        """Claims of each status, in a fixed order."""
        found = Counter(verdict.status for verdict in self.verdicts)
        return {status: found[status] for status in STATUSES}

    @property
    def failed(self) -> bool:
        """Whether any claim is FAIL, or could not be judged for a fault in making its runs."""
        return self.counts()[verdicts.FAIL] > 0 or any(verdict.broken for verdict in self.verdicts)

    def headline(self) -> str:
        """Counts in words."""
        return ", ".join(f"{n} {status}" for status, n in self.counts().items())

    def effort(self) -> str:
        """Runs and time in words."""
        runs = self.runs
        text = f"{counted(runs['total'], 'run')}: {runs['made']} made, {runs['reused']} reused"
        if runs["failed"]:
            text += f", {runs['failed']} failed"
        return f"{text}; {self.seconds:.0f} s, and {self.setup_seconds:.0f} s to load and compile"


def as_json(report: Report) -> str:
    """report.json."""
    tree = {
        "profile": report.profile,
        "only": list(report.only),
        "counts": report.counts(),
        "claims": [verdicts.as_json(v) for v in report.verdicts],
        "figures": [
            {
                "name": f.name,
                "title": f.title,
                "caption": f.caption,
                "files": f.files,
                "claims": list(f.claims),
            }
            for f in report.figures
        ],
        "runs": dict(report.runs),
        "seconds": round(report.seconds, 1),
        "setup_seconds": round(report.setup_seconds, 1),
        "machine": dict(report.machine),
    }
    return json.dumps(_plain(tree), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """Strict JSON has no infinity: it becomes the text "inf"."""
    if isinstance(value, Mapping):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def value_text(verdict: Verdict) -> str:
    """The decisive numbers with their intervals."""
    return "; ".join(f"{part.what}: {part.interval()}" for part in verdict.decisive)


def interval_head(verdict: Verdict) -> str:
    """Head of the column of numbers; a single seed has no interval, nor has what all runs give together."""
    levels = [part.estimate.level for part in verdict.parts if part.estimate.level > 0]
    if not levels:
        return "value of all runs together" if verdict.seeds > 1 else "value of one seed"
    single = "" if verdict.seeds > 1 else ", or value of one seed"
    return f"median [{min(levels):.0%} interval]{single}"


QUICK = "quick profile: few seeds, indicative only"
"""What stands at the top of a report of the profile ``quick``, and on the terminal."""

_MEASURED = (
    "Every number is measured on each seed. Its value is the median over seeds, and that is what is held "
    "against the expectation. Its interval spans the order statistics that cover the median with at least "
    "90% confidence, or all seeds where they are too few for that (5 seeds: 94%, 3: 75%, 2: 50%, "
    "one seed: no interval). A probability, a quantile or a ratio of such, where a "
    "number's name says so, is one number from all runs; of these a quantile has an interval, and a variance "
    "floor, a ratio of such or of the terms of Theorem 6 the jackknife's, at 90%. A number that is to be "
    "above or below a limit has to be there with its whole interval: a claim is NOT TESTED where the median "
    "is as expected but the interval holds the limit. In a range with two ends the median has to be."
)


def method(report: Report) -> str:
    """How numbers become verdicts, and which expectations were not fixed beforehand."""
    fixed = "Expectations and tolerances were fixed beforehand, in figures/figures.toml"
    later = [f"those of {v.id}, set after {v.claim.set_after}" for v in report.verdicts if v.claim.set_after]
    return f"{_MEASURED} {fixed}{', except ' + '; '.join(later) if later else ''}."


STATUS_MEANING = {
    verdicts.PASS: "the paper's claim holds here",
    verdicts.FINDING: "it does not hold under our conditions: the recorded, explained expectation",
    verdicts.FAIL: "the result differs from the recorded expectation",
    verdicts.NOT_TESTED: "with the reason",
}

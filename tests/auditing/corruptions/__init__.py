"""Planted faults of a trace: what a broken protocol or recorder would leave, or a forger.

``python -m tests.auditing.corruptions`` prints the table: what was planted, and the check that names it.
"""

from pskit import audit
from tests.auditing.corruptions.clocks import CLOCKS
from tests.auditing.corruptions.deaths import DEATHS
from tests.auditing.corruptions.manifest import MANIFEST
from tests.auditing.corruptions.members import MEMBERS
from tests.auditing.corruptions.messages import MESSAGES
from tests.auditing.corruptions.metrics import METRICS
from tests.auditing.corruptions.planting import Corruption, plant
from tests.auditing.corruptions.reads import READS
from tests.auditing.corruptions.rows import ROWS
from tests.auditing.corruptions.starts import STARTS
from tests.auditing.corruptions.totals import TOTALS
from tests.auditing.corruptions.transit import TRANSIT
from tests.auditing.corruptions.updates import UPDATES
from tests.auditing.corruptions.views import VIEWS

PLANTED: list[Corruption] = [
    *UPDATES,
    *CLOCKS,
    *MESSAGES,
    *READS,
    *MEMBERS,
    *DEATHS,
    *TOTALS,
    *METRICS,
    *MANIFEST,
    *VIEWS,
    *ROWS,
    *STARTS,
    *TRANSIT,
]


def table() -> str:
    """Table in Markdown: what was planted, in a run of which policy, and the check that names it first."""
    lines = ["| planted in the trace | of a run of | caught by |", "|---|---|---|"]
    for fault in PLANTED:
        report = audit(plant(fault).trace())
        caught = report.violations[0].check if report.violations else "**nothing**"
        lines.append(f"| {fault.what} | {fault.policy} | {caught} |")
    return "\n".join(lines)


__all__ = ["PLANTED", "Corruption", "plant", "table"]

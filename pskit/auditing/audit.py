"""Audit a run from its trace alone: `audit`."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pskit.auditing.case import Case
from pskit.auditing.checks import STAGES
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.report import AuditReport, Violation
from pskit.errors import InputError, wrong_argument
from pskit.trace.store import open_run

if TYPE_CHECKING:
    from pskit.analysis.trace import Trace

FILES = "file hashes"


def audit(run: "Trace | Path | str") -> AuditReport:
    """Check everything that a trace can show of the protocol's invariants, and the trace itself.

    Nothing that the protocol's code claims is believed: the updates that a read contains are derived from the
    order in which the shards applied them.

    Parameters
    ----------
    run : Trace or path
        A run, or the folder of one; of a folder the sha256 of every file is compared, too.

    Returns
    -------
    AuditReport
        ``report.ok``, ``report.violations``, ``report.share`` of the reads that were recorded and checked.

    Raises
    ------
    InputError
        When there is no run there, or it cannot be read.
    """
    if isinstance(run, (str, Path)):
        return _audit_folder(Path(run))
    if not hasattr(run, "columns"):
        raise wrong_argument("audit(run)", "a trace, or the path of a run folder", run)
    columns = {name: run.columns(name) for name in run.names}
    names = [table["name"] for table in run.manifest["layout"]["tables"]]
    tables = {
        f"{which}:{name}": run.table(name, which) for which in ("final", "initial", "incs") for name in names
    }
    return _audit(Case(run.manifest, columns, tables), [])


def _audit_folder(folder: Path) -> AuditReport:
    opened = open_run(folder)
    names = sorted(opened.manifest["files"])
    changed = np.isin(names, opened.changed_files())
    files = breaks(
        changed, lambda i: f"the file {names[i]} was changed, the manifest has another sha256 for it"
    )
    try:
        case = Case(opened.manifest, dict(opened), dict(opened.tables))
    except InputError:
        if not changed.any():
            raise
        return _report([(FILES, files)], {}, 0, 0)  # the damaged file is among them
    return _audit(case, [(FILES, files)])


def _audit(case: Case, findings: list[tuple[str, Finding]]) -> AuditReport:
    found, skipped, broken = list(findings), dict[str, str](), ""
    for stage in STAGES:
        for check in stage:
            finding = f"it builds on {broken!r}, which does not hold" if broken else _find(check, case)
            if isinstance(finding, str):
                skipped[check.name] = finding
            else:
                found.append((check.name, finding))
        broken = broken or next((name for name, finding in found if len(finding.bad) and name != FILES), "")
    return _report(found, skipped, len(case.reads["t"]), case.total_reads)


def _find(check: Check, case: Case) -> Finding | str:
    # Sums and squares of a run that diverges overflow again in the audit. Every check says itself what it
    # makes of numbers that are not finite.
    with np.errstate(over="ignore", invalid="ignore"):
        return check.find(case)


def _report(
    found: list[tuple[str, Finding]], skipped: dict[str, str], reads: int, total_reads: int
) -> AuditReport:
    violations = [
        Violation(name, len(finding.bad), finding.tell(int(finding.bad[0])))
        for name, finding in found
        if len(finding.bad)
    ]
    checked = {name: finding.checked for name, finding in found}
    return AuditReport(tuple(violations), checked, skipped, reads, total_reads)

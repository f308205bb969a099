"""An audit as the terminal shows it: what was checked, what was found, the first violation as a story."""

from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from pskit.auditing import AuditReport
from pskit.console import facts


def print_audit(console: Console, report: AuditReport, folder: Path) -> None:
    """Print how much of a run was checked, the checks, and the first violation."""
    broken = {violation.check: violation.count for violation in report.violations}
    table = Table("check", "checked", "violations", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for check, checked in report.checked.items():
        count = broken.get(check, 0)
        table.add_row(check, f"{checked:,}", f"{count:,}", style="red" if count else None)
    for check, why in report.skipped.items():
        table.add_row(check, "-", why)
    console.print(table)
    lines = [f"{report.reads:,} of {report.total_reads:,} reads checked ({facts.share(report.share)})"]
    if report.ok:
        lines.append(f"{folder}: no violation")
    else:
        lines.append(f"{folder}: {len(broken)} of {len(report.checked)} checks failed")
        lines.append(report.story)
    for line in lines:
        # Not a table: a path or a time longer than the terminal must stay whole for copying.
        console.print(line, soft_wrap=True, markup=False, highlight=False)

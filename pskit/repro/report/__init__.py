"""The report of a reproduction: report.json, report.md and report.html say the same."""

from pathlib import Path

from pskit.repro.report import page, text
from pskit.repro.report.content import Report, as_json

JSON, MARKDOWN, HTML = "report.json", "report.md", "report.html"


def write_report(report: Report, out: Path) -> None:
    """Write all three files into ``out``."""
    (out / JSON).write_text(as_json(report), encoding="utf-8", newline="\n")
    (out / MARKDOWN).write_text(text.render(report), encoding="utf-8", newline="\n")
    (out / HTML).write_text(page.render(report, out), encoding="utf-8", newline="\n")

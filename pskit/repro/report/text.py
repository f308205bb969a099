"""The report as Markdown."""

from pskit.repro.claims.verdict import NOT_TESTED, Verdict
from pskit.repro.report.content import (
    QUICK,
    STATUS_MEANING,
    Report,
    interval_head,
    method,
    value_text,
)


def render(report: Report) -> str:
    """report.md."""
    lines = [
        "# Reproduction of arXiv 1410.8043",
        "",
        *([f"**{QUICK.capitalize()}.**", ""] if report.profile == "quick" else []),
        f"Profile `{report.profile}`{_only(report)}. **{report.headline()}.** {report.effort()}.",
        "",
        *(f"- {status}: {meaning}" for status, meaning in STATUS_MEANING.items()),
        "",
        method(report),
    ]
    tested = [v for v in report.verdicts if v.status != NOT_TESTED]
    untested = [v for v in report.verdicts if v.status == NOT_TESTED]
    if tested:
        lines += ["", "| claim | status | what the paper says | expected | decisive values | seeds |"]
        lines += ["|---|---|---|---|---|---|"]
    for v in tested:
        cells = (v.id, v.status, v.claim.paper, v.claim.expected, value_text(v), str(v.seeds))
        lines.append("| " + " | ".join(_cell(c) for c in cells) + " |")
    for v in tested:
        lines += ["", f"## {v.id}: {v.status}", "", v.claim.explanation or v.claim.paper, "", *_parts(v)]
    if report.figures:
        lines += ["", "## Figures"]
    for figure in report.figures:
        lines += ["", f"### {figure.title}", ""]
        if figure.files:
            lines += [f"![{figure.title}](figures/{figure.files[0]})", ""]
        lines.append(figure.caption)
    if untested:
        lines += [
            "",
            "## Not tested",
            "",
            *(f"- **{v.id}**: {v.claim.paper}. Not tested: {v.why}." for v in untested),
        ]
    machine = "; ".join(f"{key}: {value}" for key, value in report.machine.items())
    lines += ["", "## Made on", "", machine, ""]
    return "\n".join(lines)


def _only(report: Report) -> str:
    return f", only {', '.join(report.only)}" if report.only else ""


def _parts(verdict: Verdict) -> list[str]:
    if not verdict.parts:
        return [verdict.why]
    rows = [f"| number | {interval_head(verdict)} | expected | met |", "|---|---|---|---|"]
    for part in verdict.parts:
        met = ("yes" if part.met else "**no**") if part.binding else ""
        rows.append(f"| {_cell(part.what)} | {part.interval()} | {part.expected()} | {met} |")
    return rows


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

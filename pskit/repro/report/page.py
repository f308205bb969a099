"""The report as one HTML file that needs nothing else: styles and figures are inside."""

import base64
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from pskit.repro.caption import counted
from pskit.repro.claims.verdict import NOT_TESTED, Verdict
from pskit.repro.drawing import FOLDER, Drawn
from pskit.repro.report.content import (
    QUICK,
    STATUS_MEANING,
    Report,
    interval_head,
    method,
    value_text,
)

_UNTESTED_HEAD = "<tr><th>claim</th><th>what it says</th><th>why it is not tested</th></tr>"
_SYMBOLS = {"PASS": "✓", "FINDING": "◆", "FAIL": "✗", "NOT TESTED": "–"}


def render(report: Report, out: Path) -> str:
    """report.html; the figures are read from ``out``."""
    template = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    tested = [v for v in report.verdicts if v.status != NOT_TESTED]
    untested = [v for v in report.verdicts if v.status == NOT_TESTED]
    return template.substitute(
        profile=escape(report.profile) + (escape(f", only {', '.join(report.only)}") if report.only else ""),
        counts="".join(_count(status, n) for status, n in report.counts().items()),
        effort=escape(report.effort()),
        method=escape(method(report)),
        warning=f"<p><b>{escape(QUICK.capitalize())}.</b></p>" if report.profile == "quick" else "",
        claims=_part("Claims", map(_claim, tested)),
        figures=_part("Figures", (_figure(figure, out) for figure in report.figures)),
        untested=_part("Not tested", map(_untested, untested), f"<table>{_UNTESTED_HEAD}", "</table>"),
        machine="".join(f"<dt>{escape(k)}</dt><dd>{escape(str(v))}</dd>" for k, v in report.machine.items()),
    )


def _part(title: str, pieces: Iterable[str], before: str = "", after: str = "") -> str:
    """A heading and what stands under it; nothing where there is nothing."""
    lines = list(pieces)
    return "\n".join([f"<h2>{title}</h2>", before, *lines, after]) if lines else ""


def _badge(status: str) -> str:
    name = status.lower().replace(" ", "-")
    return f'<span class="badge {name}"><span aria-hidden="true">{_SYMBOLS[status]}</span> {status}</span>'


def _count(status: str, n: int) -> str:
    return f"<li><b>{n}</b> {_badge(status)} <small>{escape(STATUS_MEANING[status])}</small></li>"


def _claim(verdict: Verdict) -> str:
    claim, name = verdict.claim, escape(verdict.id)
    link = f' <a href="#{escape(verdict.figure)}">figure</a>' if verdict.figure else ""
    result = value_text(verdict) if verdict.parts else verdict.why
    lines = [
        f'<article class="claim" id="{name}">',
        f"<header><h3>{name}</h3>{_badge(verdict.status)}{link}</header>",
        f"<p>{escape(_sentence(claim.paper))}</p>",
        f'<p class="expected"><b>Expected:</b> {escape(claim.expected)}.</p>',
        f'<p class="value">{escape(result)}</p>',
        f"<p>{escape(claim.explanation)}</p>" if claim.explanation else "",
        _parts(verdict),
        "</article>",
    ]
    return "".join(lines)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _parts(verdict: Verdict) -> str:
    if not verdict.parts:
        return ""
    rows = []
    for part in verdict.parts:
        met = ("yes" if part.met else "no") if part.binding else ""
        mark = "" if part.met else ' class="missed"'
        cells = (part.what, part.interval(), part.expected() or "shown only", met)
        rows.append(f"<tr{mark}>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    value = interval_head(verdict)
    head = f"<tr><th>number</th><th>{value}</th><th>expected</th><th>met</th></tr>"
    every = "all " if len(rows) > 1 else ""
    summary = f"{every}{counted(len(rows), 'number')}, {counted(verdict.seeds, 'seed')}"
    table = f"<table>{head}{''.join(rows)}</table>"
    return f"<details><summary>{summary}</summary>{table}</details>"


def _figure(figure: Drawn, out: Path) -> str:
    image = ""
    if figure.files:
        data = base64.b64encode((out / FOLDER / figure.files[0]).read_bytes()).decode("ascii")
        image = f'<img alt="{escape(figure.title)}" src="data:image/png;base64,{data}">'
    claims = ", ".join(f'<a href="#{escape(c)}">{escape(c)}</a>' for c in figure.claims)
    shown = f" <small>({claims})</small>" if claims else ""
    return (
        f'<figure id="{escape(figure.name)}"><h3>{escape(figure.title)}{shown}</h3>{image}'
        f"<figcaption>{escape(figure.caption)}</figcaption></figure>"
    )


def _untested(verdict: Verdict) -> str:
    return (
        f'<tr id="{escape(verdict.id)}"><td>{escape(verdict.id)}</td><td>{escape(verdict.claim.paper)}</td>'
        f"<td>{escape(verdict.why)}</td></tr>"
    )

import json
import math
import re
from html.parser import HTMLParser

import pytest

from pskit.repro.claims import CHECKS
from pskit.repro.claims.verdict import judge
from pskit.repro.drawing import Drawn
from pskit.repro.ensemble import Ensemble
from pskit.repro.report import write_report
from pskit.repro.report.content import Report, method
from tests.paper.synthetic import ensemble

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


@pytest.fixture(scope="module")
def report(catalogue):
    verdicts = []
    for name, claim in catalogue.claims.items():
        traced = name in CHECKS and not any(catalogue.experiments[e].measure for e in claim.experiments)
        runs = ensemble(catalogue, *claim.experiments, profile="quick") if traced else Ensemble([])
        verdicts.append(judge(catalogue, name, runs, {"r": "<b>broken</b>"} if name == "F2M-3" else {}))
    figures = [
        Drawn("f", "A & B", "caption < text", ["f.png", "f.pdf", "f.csv"], ("F1L-1",)),
        Drawn("g", "not drawn", "Not drawn: no run.", [], ()),
    ]
    counts = {"total": 9, "reused": 4, "made": 4, "failed": 1}
    return Report("quick", (), verdicts, figures, counts, 12.34, 5.0, {"system": "any"})


@pytest.fixture(scope="module")
def written(report, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    (out / "figures").mkdir()
    (out / "figures" / "f.png").write_bytes(PIXEL)
    write_report(report, out)
    return out


def test_json_is_as_documented(written, report, catalogue):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    tree = json.loads((written / "report.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert {"profile", "claims", "figures", "seconds", "machine"} <= set(tree)
    assert [claim["id"] for claim in tree["claims"]] == list(catalogue.claims)
    for claim in tree["claims"]:
        assert {"id", "status", "value", "expected", "ci", "seeds", "figure", "why"} <= set(claim)
        assert claim["status"] in ("PASS", "FINDING", "FAIL", "NOT TESTED")
        assert claim["why"]
    by_id = {claim["id"]: claim for claim in tree["claims"]}
    assert by_id["F1L-4"]["status"] == "FINDING"
    assert by_id["F1L-1"]["figure"] == "staleness_histogram"
    assert sum(tree["counts"].values()) == len(tree["claims"])
    onset = next(p for p in by_id["F2M-4"]["parts"] if "1%, step 0.005: smallest s" in p["what"])
    assert onset["value"] == "inf" or math.isfinite(onset["value"])


def test_markdown_names_every_claim(written, catalogue):
    text = (written / "report.md").read_text(encoding="utf-8")
    assert all(name in text for name in catalogue.claims)
    assert "![A & B](figures/f.png)" in text


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.links += [attrs[key] for key in ("src", "href") if key in attrs]
        self.ids += [attrs["id"]] if "id" in attrs else []
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_one_file_that_needs_nothing_else(written, catalogue):
    text = (written / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.open == []
    assert set(catalogue.claims) <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert not re.search(r"https?://|url\(|@import|<script|<link", text)
    for link in page.links:
        assert link.startswith(("#", "data:image/png;base64,")), link
    assert "&lt;b&gt;broken&lt;/b&gt;" in text
    assert "caption &lt; text" in text


@pytest.mark.parametrize("file", ["report.md", "report.html"])
def test_the_quick_profile_says_what_it_is_worth(written, report, file):
    text = (written / file).read_text(encoding="utf-8")
    assert "Quick profile: few seeds, indicative only." in text[: text.index("TESTED")]
    assert "[0% interval]" not in text
    assert "value of one seed" in text
    assert "[50% interval]" in text
    assert "all 1 number" not in text
    write_report(report._replace(profile="default"), written)
    assert "indicative only" not in (written / file).read_text(encoding="utf-8")
    write_report(report, written)


@pytest.mark.parametrize("file", ["report.md", "report.html"])
def test_a_report_of_some_claims_has_no_empty_part(written, report, file):
    tested = [v for v in report.verdicts if v.status != "NOT TESTED"]
    untested = [v for v in report.verdicts if v.status == "NOT TESTED"]
    for verdicts, there, not_there in ((tested, "Claims", "Not tested"), (untested, "Not tested", "Claims")):
        write_report(report._replace(verdicts=verdicts, figures=[]), written)
        text = (written / file).read_text(encoding="utf-8")
        headings = [
            line.strip("#").removeprefix("<h2>").removesuffix("</h2>").strip() for line in text.splitlines()
        ]
        assert not_there not in headings
        assert "Figures" not in headings
        assert there in headings or file == "report.md"
    write_report(report, written)


def test_the_method_names_what_was_not_fixed_beforehand(report):
    assert (
        "were fixed beforehand, in figures/figures.toml, except those of F1L-4, set after a first look at "
        "seeds 1 to 3 and judged on seeds from 11 on; those of T5-"
    ) in method(report)
    for verdict in report.verdicts:
        assert verdict.claim.set_after in method(report)
    assert method(report._replace(verdicts=[])).endswith("fixed beforehand, in figures/figures.toml.")


def test_a_claim_whose_runs_could_not_be_made_is_a_failure_but_no_fail(report):
    assert report.failed
    assert "0 FAIL" in report.headline()
    assert not report._replace(verdicts=[v for v in report.verdicts if v.id != "F2M-3"]).failed
    fail = next(v for v in report.verdicts if v.status == "PASS")._replace(status="FAIL")
    assert report._replace(verdicts=[fail]).failed
    assert "1 FAIL" in report._replace(verdicts=[fail]).headline()
    one = report._replace(runs={"total": 1, "reused": 1, "made": 0, "failed": 0})
    assert one.effort().startswith("1 run: 0 made, 1 reused; ")
    assert report.effort() == "9 runs: 4 made, 4 reused, 1 failed; 12 s, and 5 s to load and compile"

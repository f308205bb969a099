"""The checks of docs/explanation/theorems.md: one session, which prints what the page says that it does."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "theorems.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```python\n(?P<source>.*?)```\n(?:\n```text\n(?P<output>.*?)```\n)?", re.DOTALL)
TAGGED = re.compile(r"^\*\*.*`\[(?:fix|new)\]`", re.MULTILINE)


@pytest.fixture(scope="module")
def printed():
    """What each block prints beside what the page says that it does."""
    session, found = {}, []
    for block in BLOCK.finditer(PAGE):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block["source"], "theorems.md", "exec"), session)
        found.append((block["source"], out.getvalue(), block["output"] or ""))
    return found


def test_every_check_prints_what_the_page_says(printed):
    for source, found, said in printed:
        assert found == said, source


def test_a_check_that_says_false_is_none(printed):
    assert not any("False" in said for _, _, said in printed)


def test_every_correction_has_a_check():
    paragraphs = PAGE.split("\n\n**")
    tagged = [paragraph for paragraph in paragraphs if TAGGED.search(f"**{paragraph}")]
    assert len(tagged) >= 25
    for paragraph in tagged:
        assert "```python" in paragraph, paragraph.splitlines()[0]
        assert "```text" in paragraph, paragraph.splitlines()[0]

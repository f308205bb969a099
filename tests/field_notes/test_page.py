"""The page of faults is the one that the tests make, and no fault is left out."""

from tests.field_notes import page
from tests.field_notes.catalogue import ELSEWHERE, FAULTS, GROUPS, LATER

NOT_YET = {23, 24}
"""Faults of topic models."""


def test_the_page_is_up_to_date():
    assert page.PAGE.read_text(encoding="utf-8") == page.rendered(), "run python -m tests.field_notes"


def test_every_fault_has_a_test_or_waits_for_what_it_is_about():
    tested = {mark.number for mark in page.marked()} | set(ELSEWHERE)
    assert tested == set(FAULTS) - NOT_YET
    assert set(LATER) == NOT_YET


def test_every_fault_is_in_one_group():
    assert [number for numbers in GROUPS.values() for number in numbers] == list(FAULTS) == list(range(1, 49))


def test_tests_elsewhere_exist(monkeypatch):
    assert page.missing_tests() == []
    gone = ELSEWHERE[4]._replace(tests=("tests/core/test_client.py::test_gone", "tests/gone.py::test_gone"))
    monkeypatch.setitem(page.ELSEWHERE, 4, gone)
    assert page.missing_tests() == list(gone.tests)


def test_a_line_says_what_happens_in_a_sentence():
    said = [mark.happens for mark in page.marked()] + [e.happens for e in ELSEWHERE.values() if e.happens]
    assert all(text[0].isupper() and text.endswith(".") and "|" not in text for text in said)

"""Planted faults of a trace are each found, and called by their name."""

import pytest

import pskit
from pskit.auditing.audit import FILES
from pskit.auditing.checks import STAGES
from tests.auditing.corruptions import PLANTED, Corruption, plant, table


@pytest.mark.parametrize("fault", PLANTED, ids=[fault.what for fault in PLANTED])
def test_every_fault_is_called_by_its_name(fault: Corruption) -> None:
    report = pskit.audit(plant(fault).trace())
    assert not report.ok
    assert report.violations[0].check == fault.caught_by, str(report)
    assert report.story.startswith(fault.caught_by)


def test_there_is_a_fault_for_every_check() -> None:
    checks = {check.name for stage in STAGES for check in stage}
    assert {fault.caught_by for fault in PLANTED} == checks
    assert len({fault.what for fault in PLANTED}) == len(PLANTED) >= 12
    assert FILES not in checks  # see test_audit.py


def test_every_check_states_its_rule() -> None:
    for stage in STAGES:
        for check in stage:
            assert check.rule.endswith("."), check.name


def story_of(what: str) -> list[str]:
    (fault,) = [fault for fault in PLANTED if fault.what == what]
    return pskit.audit(plant(fault).trace()).story.splitlines()


def test_the_story_of_a_stale_read() -> None:
    first, missing, led, *messages = story_of("a version is lowered below the guarantee")
    for part in ("SSP guarantee", "worker", "at clock", "read row", "of table", "shard", "slack 0"):
        assert part in first
    assert missing.strip().startswith("missing: the update of worker")
    assert "applied as number" in missing
    assert led.strip() == "messages that led there:"
    assert messages
    assert all(" from " in line and "sent" in line and "arrived" in line for line in messages)


def test_the_story_of_a_repeated_own_update() -> None:
    story = story_of("own_from is one too low: an own update counts twice")[0]
    assert "in twice: number" in story


def test_what_builds_on_a_broken_order_is_left_out() -> None:
    (fault,) = [fault for fault in PLANTED if fault.what == "an update is dropped"]
    report = pskit.audit(plant(fault).trace())
    assert "applied exactly once" in report.skipped["SSP guarantee"]
    assert "SSP guarantee" not in report.checked


def test_the_table_has_no_gap() -> None:
    lines = table().splitlines()
    assert len(lines) == len(PLANTED) + 2
    assert not any("**" in line for line in lines)

"""Equal hashes on every platform and supported Python version."""

import json

import pytest

from tests.golden.schedules import FILE, configs, hashes

GOLDEN = json.loads(FILE.read_text())
CONFIGS = configs()


@pytest.mark.parametrize("name", CONFIGS)
def test_golden_hashes(name):
    assert hashes(CONFIGS[name]) == GOLDEN[name], "see tests/golden/schedules.py if that was meant"


def test_all_and_no_others():
    assert GOLDEN.keys() == CONFIGS.keys()


def test_they_are_different_schedules():
    assert len({golden["schedule"] for golden in GOLDEN.values()}) == len(GOLDEN)

"""All states of 2 clients x 2 shards x 2 clocks, for every policy and slack."""

import pytest

from pskit.explore import explore
from tests.explore import counts
from tests.explore.systems import LARGE, TWICE_TWICE_TWICE

AT_LEAST = {"ssp, slack 1": 6_000, "essp, slack 1": 80_000, "essp, slack 2": 300_000, "asp": 15_000}


@pytest.mark.parametrize("name", TWICE_TWICE_TWICE)
def test_every_state_of_2x2x2(name):
    verdict = explore(TWICE_TWICE_TWICE[name])
    assert verdict.violation is None
    assert verdict.complete
    assert verdict.renamings == 4
    assert verdict.states >= AT_LEAST.get(name, 400)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_every_state_of_larger_systems(name):
    """Up to `MOST_STATES`; what is not complete has no violation so far."""
    verdict = explore(LARGE[name])
    assert verdict.violation is None
    print(f"{name}: {verdict.states:,} states, {'all' if verdict.complete else 'not all'}")


def test_the_table_of_the_numbers():
    head, rule, row = counts.lines({"bsp": TWICE_TWICE_TWICE["bsp"]})
    assert head.count("|") == rule.count("|") == row.count("|") == 8
    assert row.startswith("| bsp | ")
    assert row.endswith(" | all states |")

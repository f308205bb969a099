"""That the explorer finds the states that there are."""

import pytest

from pskit.explore import System, explore
from tests.explore.naive import explore_naively

SYSTEMS = {
    "ssp": System("ssp", slack=0, shards=1, clocks=1),
    "essp": System("essp", slack=1, shards=1, clocks=1),
    "deltas": System("essp", slack=1, deltas=True, shards=1, clocks=1),
    "bsp": System("bsp", slack=0, shards=1, clocks=1),
    "asp": System("asp", slack=0, shards=1, clocks=1),
    "two shards": System("ssp", slack=1, shards=2, scripts={0: "G0,1 L", 1: "I1 C L"}),
    "two workers": System(
        "essp", slack=1, clients=1, threads=2, shards=1, scripts={0: "C G0 I0 L", 1: "G0 C L"}
    ),
    "evictions": System("essp", slack=0, clients=1, shards=1, clocks=2, evictions=True),
    "small cache": System("ssp", slack=0, clients=1, threads=2, shards=1, rows=2, clocks=1, capacity=1),
}


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_states_and_transitions_are_those_of_the_simple_way(system):
    verdict = explore(system, symmetry=False)
    assert verdict.violation is None
    assert (verdict.states, verdict.transitions) == explore_naively(system)

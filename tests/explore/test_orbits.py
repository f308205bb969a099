"""That states which differ in names count once, and no others do."""

import pytest

from pskit.explore import System, explore
from pskit.explore.orbits import Orbits
from pskit.explore.search import _Search
from pskit.explore.space import Space
from pskit.explore.symmetry import renamings
from tests.explore.test_space import SYSTEMS as SMALL

SYSTEMS = {
    **SMALL,
    "two by two": System("essp", slack=1, shards=2, scripts={0: "G0,1 I0,1 C L", 1: "G0,1 I0,1 C L"}),
    "asp, two by two": System("asp", shards=2, clocks=1),
    "three clients": System("bsp", clients=3, shards=1, clocks=1),
    "two clients of two workers": System("ssp", slack=1, threads=2, shards=1, clocks=1),
    "deltas there and back": System("essp", deltas=True, shards=1, scripts={0: "I0 C U0 L", 1: "I0 C U0 L"}),
    "lossy": System("ssp", shards=1, scripts={0: "I0 L", 1: "I0 L"}, lossy=True),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_representatives_are_the_states_of_the_reduced_search(name):
    system = SYSTEMS[name]
    full = _Search(Space(system), symmetry=False)
    full.run(10**6, None)
    orbits = Orbits(full.space)
    representatives = {orbits.representative(state) for state in full.seen}
    assert {orbits.representative(state) for state in representatives} == representatives
    reduced = explore(system)
    assert reduced.violation is full.violation is None
    assert len(representatives) == reduced.states
    if len(orbits) > 1:
        assert len(full.seen) / len(orbits) <= reduced.states < len(full.seen)
    else:
        assert reduced.states == len(full.seen)


@pytest.mark.parametrize(
    ("system", "number"),
    [
        (System(clients=3, shards=2, clocks=1), 12),
        (System(clients=2, shards=2, capacity=1), 2),
        (System(clients=2, shards=1, scripts={0: "L"}), 1),
        (System(clients=3, shards=1, scripts={0: "L"}), 2),
        (System(clients=2, shards=2, scripts={0: "G0 L", 1: "G1 L"}), 2),
    ],
)
def test_which_names_may_change(system, number):
    assert 1 + len(list(renamings(system))) == number

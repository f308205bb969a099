"""Every state of small systems under VAP, and planted bugs that the search must find there."""

import pytest

from pskit.errors import InputError
from pskit.explore import System, explore, replay, save, tell
from tests.explore.mutants.gate import GATE, LARGE, RIGHT
from tests.explore.mutation import systems_of

VARIED = {
    "nothing but a serial order": {"v0": 1e-9},
    "no gate to speak of": {"v0": 1e9},
    "each worker's": {"v0": 8.5, "variant": "per_worker"},
    "nothing reserved": {"v0": 8.5, "reserve": False},
    "deltas": {"v0": 8.5, "deltas": True},
    "own updates trimmed": {"v0": 8.5, "trim": True},
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in RIGHT]
)
def test_every_state(name):
    verdict = explore(RIGHT[name])
    assert verdict.violation is None
    assert verdict.complete
    assert verdict.states > 50


@pytest.mark.parametrize("what", VARIED)
def test_every_state_of_two_workers_and_two_clocks(what):
    verdict = explore(
        System("vap", shards=1, scripts={0: "G0 I0 C G0 I0 L", 1: "G0 I0 C G0 L"}, **VARIED[what])
    )
    assert verdict.violation is None
    assert verdict.complete
    assert verdict.states > 1000


def test_every_state_of_two_shards():
    verdict = explore(System("vap", v0=1.2, scripts={0: "G0,1 I0,1 L", 1: "G0,1 I1 L"}))
    assert verdict.violation is None
    assert verdict.complete


@pytest.mark.slow
@pytest.mark.parametrize("v0", [1e-3, 1.5, 9.0])
def test_every_state_of_three_workers(v0):
    scripts = {0: "G0 I0 C G0 L", 1: "G0 I0 L", 2: "G0 I0 L"}
    verdict = explore(System("vap", clients=3, shards=1, v0=v0, scripts=scripts))
    assert verdict.violation is None
    assert verdict.complete


def test_a_smaller_threshold_leaves_fewer_ways():
    """Down to a serial order: below 1, the size of the updates, nobody starts while another one computes."""
    narrow, wide = (
        explore(System("vap", shards=1, v0=v0, schedule="constant", clocks=1)) for v0 in (0.5, 1.5)
    )
    assert narrow.states < wide.states


@pytest.mark.parametrize("mutant", GATE, ids=lambda m: m.name)
def test_planted_bugs_are_found(mutant):
    with mutant.planted():
        verdict = explore(mutant.system)
    assert verdict.violation is not None


def test_the_way_to_a_bug_can_be_told_and_kept(tmp_path):
    mutant = GATE[0]
    with mutant.planted():
        verdict = explore(mutant.system)
        story = tell(mutant.system, verdict.path, verdict.violation)
        save(story, tmp_path / "violation.json")
        again = replay(tmp_path / "violation.json")
    assert verdict.violation.startswith("InvariantBroken: 8. value bound: worker")
    assert story.violation == again.violation == verdict.violation
    assert story.path[-1].startswith("the gate opens for worker")


def test_without_a_bug_nothing_is_found_there():
    for system in systems_of(GATE):
        if system not in RIGHT.values():
            assert explore(system).violation is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"policy": "ssp", "v0": 1.0}, "v0: policy 'ssp' has no gate"),
        ({"policy": "essp", "reserve": False}, "reserve: policy 'essp' has no gate"),
        ({"policy": "vap", "v0": 0.0}, "v0 must be above 0"),
        ({"policy": "vap", "v0": float("inf")}, "v0 must be above 0"),
        ({"policy": "vap", "variant": "sum"}, "variant must be one of aggregate, per_worker, not 'sum'"),
        ({"policy": "vap", "schedule": "linear"}, "schedule must be one of"),
        ({"policy": "vap", "evictions": True}, "keeps all rows in the cache"),
        ({"policy": "vap", "capacity": 1}, "keeps all rows in the cache"),
        ({"policy": "vap", "slack": 1}, "takes no slack"),
        ({"policy": "vap", "scripts": {0: "I0 L"}}, "an INC needs a GET before it"),
        ({"policy": "vap", "scripts": {0: "G0 I0 C I0 L"}}, "an INC needs a GET before it"),
        ({"policy": "vap", "scripts": {0: "G0 G1 L"}}, "a computation reads once"),
    ],
)
def test_wrong_systems(given, message):
    with pytest.raises(InputError, match=message):
        System(**given)

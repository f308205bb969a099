from dataclasses import replace

import pytest

from pskit.explore import Progress, System, explore
from tests.explore.mutants import MUTANTS

LAX = next(m for m in MUTANTS if m.name == "one clock too lax")


def test_a_search_that_gives_up_says_so():
    verdict = explore(System("essp", slack=2), max_states=5000)
    assert not verdict.complete
    assert verdict.violation is None
    assert verdict.states > 5000


def test_progress_is_told():
    told: list[Progress] = []
    verdict = explore(System("ssp", slack=1, clients=3, shards=1), symmetry=False, progress=told.append)
    assert [p.expanded for p in told] == list(range(0, verdict.states, 0x4000))
    assert told[-1].states <= verdict.states
    assert len(told) > 1


def test_a_violation_is_found_on_a_shortest_way():
    """Read at clock 0, clock(), read again: with request and reply five events, and no fewer will do."""
    with LAX.planted():
        verdict = explore(LAX.system)
    assert verdict.violation.startswith("InvariantBroken: SSP guarantee")
    assert verdict.path == [
        "worker 0 goes on",
        "client 0 to shard 0: arrives",
        "shard 0 to client 0: arrives",
        "worker 0 goes on",
        "worker 0 goes on",
    ]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_no_reduction_changes_a_verdict(mutant):
    """INCs as steps of their own, and every name told apart: what is found is found, in more steps."""
    with mutant.planted():
        reduced = explore(mutant.system)
        full = explore(replace(mutant.system, fuse=False), symmetry=False)
    assert reduced.violation is not None
    assert full.violation is not None
    assert len(full.path) >= len(reduced.path)

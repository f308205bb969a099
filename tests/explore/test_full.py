"""Pushes without room, in every reachable state: the guarantee is kept, and simpler rules are found out."""

import pytest

from pskit.core import coalesce
from pskit.core.server import ServerShard
from pskit.errors import InputError
from pskit.explore import System, explore
from tests.explore.mutation import Edit, Mutant, systems_of

THERE_AND_BACK = {"shards": 1, "scripts": {0: "I0 C U0 C I0 L", 1: "G0 C C G0 L"}}
SYSTEMS = {
    "rows": System("essp", slack=1, shards=1, clocks=2, full=True),
    "deltas": System("essp", slack=1, deltas=True, shards=1, clocks=2, full=True),
    "evictions": System("essp", slack=0, shards=1, clocks=1, evictions=True, full=True),
    "there and back": System("essp", slack=1, deltas=True, **THERE_AND_BACK, full=True),
    "one leaves at once": System(
        "essp", slack=1, shards=1, scripts={0: "I0 L", 1: "C C G0 I0 C G0 L"}, full=True
    ),
    "two workers of a client, two shards": System(
        "essp", slack=1, clients=1, threads=2, shards=2, clocks=1, full=True
    ),
}  # fmt: skip
IDLE_FIRST = System(
    "essp", slack=1, shards=1, scripts={0: "C I0 C C L", 1: "G0 C C G0 C G0 L"}, full=True
)  # fmt: skip
BETWEEN = System(
    "essp", slack=2, deltas=True, shards=1, scripts={0: "I0 C I0 C U0 C L", 1: "G0 C C C G0 L"}, full=True
)
PLANTED = [
    Mutant(
        "only what was put off is sent",
        "a push confirms all rows at its apply index, so what changed since the last rise is in it",
        (Edit(coalesce, "due", "(owed | shard.dirty)", "owed"),),
        IDLE_FIRST,
    ),
    Mutant(
        "rises are forgotten while a client is behind",
        "a client that is behind is owed the rows that change",
        (Edit(coalesce, "owe", "owed[changed] = True", "pass"),),
        IDLE_FIRST,
    ),
    Mutant(
        "the push that was given back is forgotten",
        "the rows of a push for which there is no room are owed",
        (Edit(coalesce, "put_off", "owed[rows // shard.layout.shards] = True", "pass"),),
        SYSTEMS["rows"],
    ),
    Mutant(
        "without rows nothing is owed",
        "a client that is behind is owed the clock, too",
        (Edit(ServerShard, "catch_up", "if local is not None:", "if local is not None and len(local):"),),
        System("essp", slack=0, shards=1, scripts={0: "G0 C G0 L", 1: "C L"}, full=True),
    ),
    Mutant(
        "what is owed may still be written",
        "a slot that was handed out is never written again",
        (Edit(coalesce, "due", "shard.shared[local] = True", "pass"),),
        SYSTEMS["rows"],
    ),
    Mutant(
        "owed rows do not count as replied-to",
        "under deltas an entry that comes back to its value at the last rise is pushed to who has another",
        (Edit(coalesce, "due", "shard.replied[client, local] = True", "pass"),),
        BETWEEN,
    ),
]  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_state(name):
    verdict = explore(SYSTEMS[name])
    assert verdict.violation is None
    assert verdict.complete
    plain = explore(System.from_dict(SYSTEMS[name].to_dict() | {"full": False}))
    assert verdict.states > plain.states


@pytest.mark.parametrize("mutant", PLANTED, ids=lambda m: m.name)
def test_simpler_rules_break_an_invariant(mutant):
    with mutant.planted():
        assert explore(mutant.system).violation is not None


def test_without_a_bug_nothing_is_found_there():
    for system in systems_of(PLANTED):
        if system not in SYSTEMS.values():
            assert explore(system).violation is None


def test_only_where_something_is_pushed():
    for policy, more in (("ssp", {}), ("asp", {}), ("essp", {"lossy": True})):
        with pytest.raises(InputError, match="full: only for a policy that pushes"):
            System(policy, full=True, **more)

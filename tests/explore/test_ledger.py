import pytest

from pskit.core.ledger import InvariantBroken
from pskit.explore import System
from pskit.explore.ledger import ScriptLedger

SYSTEM = System("ssp", slack=1, shards=2, scripts={0: "I0,1 C I0 C L", 1: "I1 L"})


def test_what_is_in_a_copy_follows_from_the_counts_that_travel_with_it():
    ledger = ScriptLedger(SYSTEM)
    ledger.look_at({0: 1}, {(0, 5): (2, 1)})
    assert ledger.included(0, 5) == {0: 2, 1: 1}
    assert ledger.value(0, 5).tolist() == [1 + 8, 0]
    assert ledger.value_of(1, (2, 1)).tolist() == [1, 1]
    with pytest.raises(InvariantBroken, match="no version 5 of shard 1 here"):
        ledger.value(1, 5)


def test_a_worker_is_where_its_client_says_and_others_anywhere():
    ledger = ScriptLedger(SYSTEM)
    ledger.look_at({0: 1}, {})
    assert len(ledger.units[0]) == 2
    assert len(ledger.units[1]) == 2
    ledger.look_at({}, {})
    assert len(ledger.units[0]) == 4
    assert [ledger.total(w) for w in (0, 1)] == [3, 1]


def test_all_units_before_a_clock():
    ledger = ScriptLedger(SYSTEM)
    ledger.look_at({}, {(0, 3): (2, 1)})
    assert ledger.holds_all_before(2, ledger.included(0, 3)) == []  # worker 1 makes no more than one
    assert ledger.holds_all_before(3, ledger.included(0, 3)) == ["2 of the 3 units of worker 0 are in"]

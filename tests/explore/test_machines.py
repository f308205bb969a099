from pskit.explore import System, explore
from pskit.explore.machines import Machines
from pskit.explore.outcomes import Done, Failure
from tests.explore.mutants import MUTANTS

BUG = {m.name: m for m in MUTANTS}
SYSTEM = System("essp", slack=0, clients=1, shards=1, clocks=1, evictions=True)


def test_a_call_is_made_once():
    machines = Machines(SYSTEM)
    client, shard = machines.start
    ((_, asked),) = machines.choices[client]
    ((receiver, request),) = asked.sends
    assert receiver == 0
    first = machines.delivered[shard, request]
    assert machines.tables.calls == 2
    assert machines.choices[client] == ((("step", 0), asked),)
    assert machines.delivered[shard, request] is first
    assert machines.tables.calls == 2


def test_a_cached_row_may_be_evicted():
    machines = Machines(SYSTEM)
    client, shard = machines.start
    ((_, asked),) = machines.choices[client]
    answered = machines.delivered[shard, asked.sends[0][1]]
    served = machines.delivered[asked.state, answered.sends[0][1]]
    assert isinstance(served, Done)
    assert [what for what, _ in machines.choices[served.state]] == [("step", 0), ("evict", 0)]


def test_a_call_that_breaks_an_invariant_is_a_failure_with_what_it_did():
    with BUG["no own updates"].planted():
        machines = Machines(System("ssp", clients=1, shards=1, scripts={0: "G0 C I0 G0 L"}))
        client, shard = machines.start
        ((_, asked),) = machines.choices[client]
        answered = machines.delivered[shard, asked.sends[0][1]]
        served = machines.delivered[asked.state, answered.sends[0][1]]
        ((_, ticked),) = machines.choices[served.state]
        ((_, read),) = machines.choices[ticked.state]
    assert isinstance(read, Failure)
    assert read.what.startswith("InvariantBroken: exact view: worker 0 at clock 1")
    assert len(read.effects) == 1


def test_any_exception_of_the_core_is_a_violation():
    with BUG["an oplog is sent twice"].planted():
        violation = explore(BUG["an oplog is sent twice"].system).violation
    assert violation.startswith("ProtocolViolation: client 0 sent shard 0 the oplog of worker 0")


def test_states_at_rest_and_quiet_pairs_are_looked_at():
    machines = Machines(SYSTEM)
    client, shard = machines.start
    assert machines.check_pair(client, shard) is None
    assert "shard 0 still has [0]" in machines.check_rest((client,), (shard,))
    ((_, asked),) = machines.choices[client]
    assert "the workers [0] wait" in machines.check_rest((asked.state,), (shard,))
    subscribed = machines.delivered[shard, asked.sends[0][1]]
    assert "subscriptions match the cache" in machines.check_pair(client, subscribed.state)

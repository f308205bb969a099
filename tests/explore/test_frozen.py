"""That a frozen state has everything, and nothing that does not matter."""

from dataclasses import replace

import numpy as np
import pytest

from pskit.core.cache import ProcessCache
from pskit.core.client import Client, Waiter, WorkerState
from pskit.core.clocks import VectorClock
from pskit.core.gated import GatedClient
from pskit.core.layout import Layout, TableSpec
from pskit.core.oplog import TableLog, UpdateLog
from pskit.core.rows import RowPools
from pskit.core.server import ServerShard
from pskit.explore import System, clients, shards
from pskit.explore.clients import FrozenClient
from pskit.explore.search import _Search
from pskit.explore.space import Space

SYSTEMS = [
    System("essp", slack=1, deltas=True, shards=1, clocks=1, evictions=True),
    System("bsp", clients=1, threads=2, shards=2, clocks=1),
    System("asp", clients=1, threads=2, shards=1, rows=2, clocks=1, capacity=1),
]


def made():
    layout = Layout([TableSpec("n", 2, 2, "i8")])
    policy = System("essp").make_policy()
    pools = RowPools(layout)
    client = Client(0, [0, 1], layout, policy, pools)
    shard = ServerShard(0, layout, policy, pools, [[0, 1]], {"n": np.zeros((2, 2), np.int64)})
    return client, shard


def attributes(thing):
    return set(vars(thing)) if hasattr(thing, "__dict__") else set(thing.__slots__)


def test_every_attribute_of_the_machines_is_known():
    """A new one must be frozen and thawed in pskit/explore, or states would be taken for one that differ."""
    client, shard = made()
    found = [client, client.cache, WorkerState(0, 0, client.layout), Waiter(np.arange(1), 0, 0)]
    log = UpdateLog(client.layout)
    for thing in (*found, log, log.tables[0]):
        assert attributes(thing) == set(clients.KNOWN[type(thing).__name__].split())
    gated = GatedClient(0, [0, 1], client.layout, System("vap").make_policy(), client.pools)
    assert attributes(gated) == set(clients.KNOWN["GatedClient"].split())
    assert attributes(shard) == set(shards.KNOWN.split())
    assert attributes(shard.clock) == {"received", "head"}
    assert {type(t) for t in (*found, log, log.tables[0], shard.clock)} == {
        Client, ProcessCache, WorkerState, Waiter, UpdateLog, TableLog, VectorClock,
    }  # fmt: skip


def all_states(system):
    search = _Search(Space(system), symmetry=False)
    search.run(10**6, None)
    return search.space.machines


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_thawed_freezes_to_the_same(system):
    machines = all_states(system)
    assert len(machines.tables.states) > 20
    for state in machines.tables.states.things:
        if isinstance(state, FrozenClient):
            calls = machines._clients[state.client]
            assert calls.thawed(state).freeze() == state
        else:
            calls = machines._shards[state.shard]
            assert calls.thawed(state).freeze(state.seen, calls._kept) == state


def test_tags_do_not_count_up():
    """However often a row is evicted and asked for again, the states stay as many."""
    machines = all_states(replace(SYSTEMS[0], clients=1, clocks=3))
    numbers = {
        label.number
        for state in machines.tables.states.things
        if isinstance(state, FrozenClient)
        for label, _, _ in state.outstanding
    }
    assert numbers == {0}

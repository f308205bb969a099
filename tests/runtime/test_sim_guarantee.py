"""Every invariant holds in virtual time, whatever the policy, the network and the work are."""

import numpy as np
import pytest

from pskit.runtime.sim import simulation
from tests.runtime.apps import Digits, Drift
from tests.runtime.simulate import POLICIES, config, ps, simulate

NETWORKS = {
    "fifo": {"latency": {"model": "exponential", "mean": "200ms"}},
    "local": {"latency": {"model": "constant", "mean": "0s"}},
    "slow card": {"latency": {"model": "constant", "mean": "1ms"}, "bandwidth": "1kB/s"},
    "lossy": {"latency": {"model": "uniform", "low": "0s", "high": "1s"}, "loss": 0.3, "retransmit": "700ms"},
    "reordering": {"latency": {"model": "exponential", "mean": "1s"}, "reorder": True, "retransmit": "1s"},
    "lossy and reordering": {
        "latency": {"model": "pareto", "mean": "300ms", "alpha": 1.5},
        "loss": 0.2,
        "reorder": True,
        "retransmit": "400ms",
    },
}


@pytest.fixture(autouse=True)
def look_through_the_pools_at_every_event(monkeypatch):
    """And spoil what is free, so that nobody reads a row version that was given back."""
    collect = simulation.Simulation._collect

    def spoil(self):
        collect(self)
        for pool in self.pools.pools:
            pool.values[pool.free[: pool.n_free]] = 77

    monkeypatch.setattr(simulation, "COLLECT_EVERY", 1)
    monkeypatch.setattr(simulation.RowPools, "crowded", True)
    monkeypatch.setattr(simulation.Simulation, "_collect", spoil)


def check(cfg, app=None):
    run = simulate(cfg, app or Digits(), watched=True)
    assert run.watch.reads == run.columns["histogram"]["count"].sum() == len(run.columns["reads"]["t"])
    oldest = run.columns["reads"]["age"].max(initial=0)
    assert cfg.ps.slack is None or oldest <= cfg.ps.slack
    return run


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("network", NETWORKS)
def test_every_policy_over_every_network(name, network):
    cluster = {"clients": 3, "threads": 2}
    check(config(ps=ps(name, 2, shards=2), network=NETWORKS[network], cluster=cluster))


@pytest.mark.parametrize("name", POLICIES)
def test_floats_are_exact_too(name):
    check(config(ps=ps(name, 2, shards=2), cluster={"clients": 2, "threads": 2}), Drift())


@pytest.mark.parametrize("slack", [0, 1, 3, 100])
@pytest.mark.parametrize("name", ["ssp", "essp-rows", "essp-deltas"])
def test_every_slack(name, slack):
    run = check(config(ps=ps(name, slack)))
    ages = np.unique(run.columns["reads"]["age"])
    assert len(ages) == 1 if slack == 0 else len(ages) > 1


@pytest.mark.parametrize("capacity", [1, 2, 4])
@pytest.mark.parametrize("name", POLICIES)
def test_a_small_cache_gives_the_same_guarantee(name, capacity):
    cfg = config(ps=ps(name, 1, shards=2, cache_rows=capacity), cluster={"clients": 2, "threads": 3})
    run = check(cfg)
    assert all(client.cache.count <= capacity for client in run.simulation.clients)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("clocks", [[0, 12, 3, 7, 0, 1], [0, 0, 0, 0, 0, 9], [0] * 6, [5, 0, 5, 0, 5, 0]])
def test_workers_with_uneven_work(name, clocks):
    options = {"clocks": clocks, "tail": True}
    run = check(config(ps=ps(name, 1, shards=2), cluster={"clients": 3, "threads": 2}, options=options))
    for worker, n in enumerate(clocks):
        assert (run.columns["clocks"]["worker"] == worker).sum() == n
    members = run.columns["members"]
    assert sorted(zip(members["worker"].tolist(), members["shard"].tolist(), strict=True)) == [
        (w, j) for w in range(6) for j in range(2)
    ]
    assert set(members["event"]) == {"left"}


@pytest.mark.parametrize("name", POLICIES)
def test_shards_that_own_no_row(name):
    run = check(config(ps=ps(name, 1, shards=5), options={"rows": 2}))
    assert [len(s.rows) for s in run.simulation.shards] == [1, 1, 0, 0, 0]
    assert {s.apply_index for s in run.simulation.shards} == {3 * 11}


@pytest.mark.parametrize("placement", ["colocated", "separate"])
@pytest.mark.parametrize("clients", [1, 2, 5])
def test_placements(clients, placement):
    check(config(ps=ps("essp-rows", 1, shards=3), cluster={"clients": clients, "placement": placement}))


def test_one_lossy_link_among_good_ones():
    links = [
        {"src": "shard:1", "dst": "client:*", "loss": 0.5},
        {"src": "client:2", "dst": "shard:0", "reorder": True},
    ]
    network = {"latency": {"model": "exponential", "mean": "200ms"}, "links": links}
    cluster = {"clients": 3, "placement": "separate"}
    run = check(config(ps=ps("essp-deltas", 1, shards=2), network=network, cluster=cluster))
    acks = run.messages("ack")
    ends = set(zip(acks["src"].tolist(), acks["dst"].tolist(), strict=True))
    # clients 0..2, shards 3 and 4: both directions of a pair have a channel if one needs it
    assert ends == {(c, 4) for c in range(3)} | {(4, c) for c in range(3)} | {(2, 3), (3, 2)}
    lost = run.columns["messages"]["t_deliver"] < 0
    assert set(run.columns["messages"]["src"][lost]) == {4}


@pytest.mark.parametrize("name", POLICIES)
def test_stragglers_and_pauses(name):
    compute = {
        "model": "constant",
        "mean": "100ms",
        "per_item": "10ms",
        "stragglers": [{"worker": 1, "factor": 5.0}],
        "pauses": [{"worker": 0, "at": "300ms", "duration": "2s"}],
    }
    check(config(ps=ps(name, 2), compute=compute))

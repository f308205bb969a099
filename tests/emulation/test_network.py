from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pskit.config import Config
from pskit.emulation.network import FAN_SIZE, Network

MS = 1_000_000
CONSTANT = {"model": "constant", "mean": "10ms"}
MakeConfig = Callable[..., Config]


def visible(network: Network, src: int, dst: int, n: int = 50) -> list[int]:
    """When n messages, all sent at time 0, become visible."""
    return [network.send(0, src, dst, 100)[0] for _ in range(n)]


def test_golden_times(config: MakeConfig) -> None:
    network = Network(config(bandwidth="1Mbit/s", loss=0.25, reorder=True), 2014)
    assert [network.send(1000 * i, i % 3, 4 + i % 2, 125 * i) for i in range(8)] == [
        (41047293, False),
        (141225559, True),
        (100707240, False),
        (139446254, False),
        (81084105, False),
        (188528133, False),
        (73608798, False),
        (226036331, False),
    ]
    assert [network.send(0, 5, c, 1) for c in range(4)] == [
        (126914379, False),
        (44671775, True),
        (524424596, False),
        (324841079, False),
    ]


# Streams: one per link and purpose, whatever else there is.


@given(
    order=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda p: (p[0] < 4) != (p[1] < 4)),
        max_size=60,
    )
)
def test_a_link_does_not_depend_on_the_use_of_others(
    config: MakeConfig, order: list[tuple[int, int]]
) -> None:
    network = Network(config(reorder=True), 1)
    got: dict[tuple[int, int], list[int]] = {}
    for src, dst in order:
        got.setdefault((src, dst), []).append(network.send(0, src, dst, 100)[0])
    for (src, dst), times in got.items():
        assert times == visible(Network(config(reorder=True), 1), src, dst, len(times))


def test_a_link_does_not_depend_on_the_size_of_the_cluster(config: MakeConfig) -> None:
    small, large = Network(config(4, 2), 1), Network(config(600, 9), 1)
    for client in range(4):
        for shard in range(2):
            assert visible(small, client, 4 + shard) == visible(large, client, 600 + shard)
            assert visible(small, 4 + shard, client) == visible(large, 600 + shard, client)


def test_links_directions_and_seeds_differ(config: MakeConfig) -> None:
    network = Network(config(reorder=True), 1)
    links = [(0, 4), (4, 0), (0, 5), (5, 0), (1, 4), (4, 1)]
    times = [tuple(visible(network, *link)) for link in links]
    times.append(tuple(visible(Network(config(reorder=True), 2), 0, 4)))
    assert len(set(times)) == len(times)


def test_every_link_of_a_wide_fan_works(config: MakeConfig) -> None:
    clients = FAN_SIZE + 3
    network = Network(config(clients, 1), 1)
    times = [network.send(0, clients, client, 100)[0] for client in range(clients)]
    assert len(set(times)) == clients
    assert stats.kstest(times, stats.expon(scale=200 * MS).cdf).pvalue > 1e-3


def test_latencies_follow_the_distribution(config: MakeConfig) -> None:
    times = visible(Network(config(reorder=True), 1), 0, 4, 20_000)
    assert stats.kstest(times, stats.expon(scale=200 * MS).cdf).pvalue > 1e-3


def test_unknown_endpoints_are_refused(config: MakeConfig) -> None:
    for src, dst in ((0, 6), (6, 0), (-1, 0)):
        with pytest.raises(ValueError, match="endpoints are 0 to 5"):
            Network(config(), 1).send(0, src, dst, 100)


# Order.


@given(steps=st.lists(st.integers(0, 400 * MS), min_size=1, max_size=60), seed=st.integers(0, 10))
def test_a_fifo_link_waits_for_earlier_messages_and_for_nothing_else(
    config: MakeConfig, steps: list[int], seed: int
) -> None:
    fifo, free = Network(config(), seed), Network(config(reorder=True), seed)
    times = np.cumsum(steps).tolist()
    ordered = [fifo.send(now, 0, 4, 100)[0] for now in times]
    overtaking = [free.send(now, 0, 4, 100)[0] for now in times]
    assert ordered == np.maximum.accumulate(overtaking).tolist()
    assert all(at >= now for at, now in zip(overtaking, times, strict=True))


def test_order_is_kept_per_link_only(config: MakeConfig) -> None:
    slow = {"src": "client:0", "dst": "shard:0", "latency": {"model": "constant", "mean": "1s"}}
    network = Network(config(latency=CONSTANT, links=[slow]), 1)
    assert network.send(0, 0, 4, 100) == (1000 * MS, False)
    assert network.send(0, 0, 5, 100) == (10 * MS, False)
    assert network.send(0, 4, 0, 100) == (10 * MS, False)


# Cards.


def test_a_card_sends_one_message_after_the_other(config: MakeConfig) -> None:
    network = Network(config(latency=CONSTANT, bandwidth="1MB/s"), 1)
    assert [network.send(0, 4, client, 1000)[0] for client in range(4)] == [
        11 * MS,
        12 * MS,
        13 * MS,
        14 * MS,
    ]
    assert network.send(0, 5, 0, 1000)[0] == 11 * MS, "another shard has another card"
    assert network.send(0, 0, 4, 1000)[0] == 11 * MS, "receiving does not use a card"
    assert network.send(3 * MS, 4, 0, 1000)[0] == 15 * MS, "the queue is 4 ms long"
    assert network.send(9 * MS, 4, 0, 500)[0] == 19 * MS + MS // 2, "the card was idle"
    assert network.send(9 * MS, 4, 0, 0)[0] == 19 * MS + MS // 2


def test_sending_time_is_rounded_up(config: MakeConfig) -> None:
    network = Network(config(latency={"model": "constant", "mean": 0}, bandwidth="3GB/s"), 1)
    assert [network.send(0, 0, 4, nbytes)[0] for nbytes in (1, 3, 4)] == [1, 2, 4]


def test_colocated_shards_share_the_card_of_their_client(config: MakeConfig) -> None:
    network = Network(config(3, 5, "colocated", latency=CONSTANT, bandwidth="1MB/s"), 1)
    assert network.send(0, 1, 3, 1000) == (11 * MS, False)
    assert network.send(0, 4, 0, 1000) == (12 * MS, False), "shard 1 is on the machine of client 1"
    assert network.send(0, 7, 2, 1000) == (13 * MS, False), "and so is shard 4"
    assert network.send(0, 5, 0, 1000) == (11 * MS, False)


def test_traffic_within_a_machine_is_free(config: MakeConfig) -> None:
    local = Network(config(3, 5, "colocated", bandwidth="1kB/s", loss=0.9), 1)
    for src, dst in ((1, 4), (4, 1), (1, 7), (7, 1), (0, 3)):
        assert local.send(5, src, dst, 10**9) == (5, False)
        assert not local.lossy(src, dst)
    separate = Network(config(3, 5, "separate"), 1)
    assert separate.send(5, 1, 4, 100)[0] > 5


def test_placement_and_bandwidth_shift_no_latency(config: MakeConfig) -> None:
    separate = visible(Network(config(), 1), 0, 5)
    assert visible(Network(config(placement="colocated"), 1), 0, 5) == separate
    assert visible(Network(config(reorder=True, bandwidth="1000GB/s"), 1), 0, 5, 1)[0] == separate[0] + 1


# Loss and overrides.


def test_loss_has_its_share_and_shifts_no_latency(config: MakeConfig) -> None:
    calm = visible(Network(config(reorder=True), 1), 0, 4, 10_000)
    lossy = Network(config(reorder=True, loss=0.2), 1)
    sent = [lossy.send(0, 0, 4, 100) for _ in range(10_000)]
    assert [at for at, _ in sent] == calm
    assert np.mean([lost for _, lost in sent]) == pytest.approx(0.2, abs=0.02)
    assert {type(lost) for _, lost in sent} == {bool}


def test_a_lost_message_uses_the_card_but_holds_up_no_other(config: MakeConfig) -> None:
    network = Network(config(loss=0.5, bandwidth="1MB/s"), 3)
    free = Network(config(reorder=True, bandwidth="1MB/s"), 3)
    newest = 0
    for _ in range(200):
        raw, _ = free.send(0, 0, 4, 1000)
        at, lost = network.send(0, 0, 4, 1000)
        if lost:
            assert at == raw
        else:
            newest = max(newest, raw)
            assert at == newest


def test_a_channel_is_needed_where_messages_get_lost_or_out_of_order(config: MakeConfig) -> None:
    links: list[dict[str, Any]] = [
        {"src": "client:1", "dst": "shard:*", "loss": 0.1},
        {"src": "shard:0", "dst": "client:2", "reorder": True},
        {"src": "client:*", "dst": "shard:1", "loss": 0.0},
    ]
    network = Network(config(links=links), 1)
    pairs = [(c, 4 + j) for c in range(4) for j in range(2)]
    needed = {pair for pair in pairs + [(dst, src) for src, dst in pairs] if network.lossy(*pair)}
    assert needed == {(1, 4), (4, 2)}, "a later entry wins"
    assert Network(config(loss=0.1), 1).lossy(0, 4)
    assert Network(config(reorder=True), 1).lossy(4, 0)


def test_an_override_changes_its_links_only(config: MakeConfig) -> None:
    slow = {"src": "client:2", "dst": "shard:*", "latency": {"model": "exponential", "mean": "400ms"}}
    plain, changed = Network(config(), 1), Network(config(links=[slow]), 1)
    for client in range(4):
        for shard in (4, 5):
            times, wanted = visible(changed, client, shard), visible(plain, client, shard)
            if client == 2:
                np.testing.assert_allclose(times, 2 * np.array(wanted), atol=1)
            else:
                assert times == wanted
            assert visible(changed, shard, client) == visible(plain, shard, client)


# Messages that leave together.


@pytest.mark.parametrize("placement", ["separate", "colocated"])
@pytest.mark.parametrize(
    "network",
    [
        {},
        {"bandwidth": "1Mbit/s"},
        {"links": [{"src": "client:1", "dst": "shard:*", "latency": CONSTANT}]},
        {"links": [{"src": "client:1", "dst": "shard:2", "latency": CONSTANT}]},
    ],
    ids=["plain", "bandwidth", "an override for all", "an override for one"],
)
@given(
    calls=st.lists(
        st.tuples(
            st.integers(0, 8),
            st.booleans(),
            st.lists(st.integers(0, 8), max_size=6),
            st.integers(0, 300 * MS),
        ),
        max_size=25,
    )
)
def test_a_fan_is_as_many_single_messages(
    config: MakeConfig,
    placement: str,
    network: dict[str, Any],
    calls: list[tuple[int, bool, list[int], int]],
) -> None:
    cfg = config(5, 4, placement, **network)
    together, one_by_one = Network(cfg, 3), Network(cfg, 3)
    now = 0
    for src, whole, some, later in calls:
        now += later
        others = range(5, 9) if src < 5 else range(5)
        dsts = list(others) if whole else [dst for dst in some if dst in others]
        sizes = np.arange(100, 100 + len(dsts))
        expected = [one_by_one.send(now, src, dst, int(n)) for dst, n in zip(dsts, sizes, strict=True)]
        got = together.send_plain(now, src, dsts, sizes)
        assert [(at, False) for at in got.tolist()] == expected


def test_reliable_means_every_link(config: MakeConfig) -> None:
    def reliable(**network: Any) -> bool:
        return Network(config(**network), 1).reliable

    assert reliable()
    assert reliable(links=[{"src": "client:0", "dst": "shard:0", "latency": CONSTANT}])
    assert not reliable(loss=0.1)
    assert not reliable(reorder=True)
    assert not reliable(links=[{"src": "client:0", "dst": "shard:0", "reorder": True}])

"""The auditor's reading of the links against the emulated network's."""

import numpy as np
import pytest

import pskit
from pskit.auditing.links import Links
from pskit.emulation.network import Network

CLIENTS, SHARDS = 3, 4

SETTINGS = {
    "reliable": {},
    "lossy": {"loss": 0.1},
    "reordering": {"reorder": True},
    "one link": {"links": [{"src": "client:1", "dst": "shard:3", "loss": 0.1}]},
    "all but one": {
        "loss": 0.1,
        "reorder": True,
        "links": [{"src": "shard:*", "dst": "client:2", "loss": 0.0, "reorder": False}],
    },
    "later rules win": {
        "links": [
            {"src": "client:*", "dst": "shard:*", "reorder": True},
            {"src": "client:0", "dst": "shard:*", "reorder": False, "loss": 0.5},
            {"src": "client:0", "dst": "shard:1", "loss": 0.0},
        ]
    },
}


@pytest.mark.parametrize("placement", ["colocated", "separate"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_links_are_read_as_the_network_reads_them(setting: str, placement: str) -> None:
    cfg = pskit.Config(
        cluster={"clients": CLIENTS, "placement": placement}, ps={"shards": SHARDS}, network=SETTINGS[setting]
    )
    network, links = Network(cfg, 0), Links(cfg.to_dict(), CLIENTS)
    client, shard = (ends.ravel() for ends in np.meshgrid(range(CLIENTS), CLIENTS + np.arange(SHARDS)))
    for src, dst in ((client, shard), (shard, client)):
        loses, reorders = links.rules(src, dst)
        expected = [network.lossy(int(a), int(b)) for a, b in zip(src, dst, strict=True)]
        assert (loses | reorders).tolist() == expected
        back = [network.lossy(int(b), int(a)) for a, b in zip(src, dst, strict=True)]
        assert links.plain(src, dst).tolist() == [not (a or b) for a, b in zip(expected, back, strict=True)]

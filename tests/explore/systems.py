"""The systems whose states the suite goes through."""

from pskit.explore import System

POLICIES = {
    **{f"ssp, slack {s}": {"policy": "ssp", "slack": s} for s in (0, 1, 2)},
    **{f"essp, slack {s}": {"policy": "essp", "slack": s} for s in (0, 1, 2)},
    **{f"essp with deltas, slack {s}": {"policy": "essp", "slack": s, "deltas": True} for s in (0, 1, 2)},
    "bsp": {"policy": "bsp"},
    "asp": {"policy": "asp"},
}

TWICE_TWICE_TWICE = {
    name: System(**policy, clients=2, shards=2, clocks=2) for name, policy in POLICIES.items()
}
"""2 clients, 2 shards, 2 clocks: a read before each clock and one after the last."""

THINGS: dict[str, dict] = {
    "evictions": {"clients": 2, "shards": 1, "clocks": 1, "evictions": True},
    "evictions, two workers": {"clients": 1, "threads": 2, "shards": 1, "clocks": 1, "evictions": True},
    "a cache of one row": {"clients": 2, "shards": 1, "rows": 2, "clocks": 1, "capacity": 1},
    "a cache of one row, two workers": {
        "clients": 1, "threads": 2, "shards": 1, "rows": 2, "clocks": 2, "capacity": 1,
    },
    "two workers of a client": {"clients": 1, "threads": 2, "shards": 1, "clocks": 3},
    "two clients of two workers": {
        "clients": 2, "threads": 2, "shards": 1,
        "scripts": {0: "C G0 L", 1: "G0 I0 C L", 2: "L", 3: "G0 C G0 L"},
    },
    "three workers of a client": {"clients": 1, "threads": 3, "shards": 1, "clocks": 1},
    "leaving at once and in the middle": {"shards": 1, "scripts": {0: "I0 L", 1: "C C G0 I0 C G0 I0 L"}},
    "three clients, one leaves": {
        "clients": 3, "shards": 1, "scripts": {0: "I0 L", 1: "C C G0 L", 2: "G0 I0 C L"},
    },
    "uneven interests": {"shards": 2, "scripts": {0: "G0 I0 C I1 C G0 L", 1: "G1 I0,1 C G1 L"}},
    "there and back": {"shards": 1, "scripts": {0: "I0 C U0 C I0 L", 1: "G0 C C G0 L"}, "evictions": True},
    "more shards than rows read": {"shards": 3, "scripts": {0: "G0 C G0 L", 1: "I0,2 C L"}},
    "own updates trimmed": {"shards": 1, "clocks": 2, "trim": True},
    "own updates trimmed, evictions": {
        "clients": 1, "threads": 2, "shards": 1, "clocks": 2, "trim": True, "evictions": True,
    },
    "lossy links": {"shards": 1, "scripts": {0: "G0 L", 1: "I0 L"}, "lossy": True},
    "lossy links, two oplogs": {"clients": 1, "shards": 1, "scripts": {0: "G0 I0 C L"}, "lossy": True},
}  # fmt: skip
"""What else may happen, in smaller systems."""

SMALL = {
    f"{thing}; {name}": System(**policy, **sizes)
    for thing, sizes in THINGS.items()
    for name, policy in POLICIES.items()
    if "slack 2" not in name
}

LARGE = {
    **{
        f"2 x 2 x 3: {name}": System(**policy, clients=2, shards=2, clocks=3)
        for name, policy in POLICIES.items()
    },
    **{
        f"3 x 1 x 2: {name}": System(**policy, clients=3, shards=1, clocks=2)
        for name, policy in POLICIES.items()
    },
    **{
        f"3 x 2 x 1: {name}": System(**policy, clients=3, shards=2, clocks=1)
        for name, policy in POLICIES.items()
    },
    "2 x 2 x 2 with evictions: ssp": System("ssp", evictions=True),
    "lossy: essp": System("essp", slack=0, clients=1, shards=1, clocks=1, lossy=True),
    "lossy: ssp, two clients": System("ssp", slack=0, shards=1, clocks=1, lossy=True),
}
"""Minutes, and gigabytes."""

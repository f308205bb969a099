"""Presets and the layers above them: what a stronger layer keeps of a weaker one."""

from typing import Any

from pskit.config.app import foreign_app_keys
from pskit.config.ps import foreign_ps_keys
from pskit.config.sections import LIVE_ONLY
from pskit.config.staleness import Staleness
from pskit.config.timing import MEASURED, Distribution
from pskit.core.policies import policy_class, policy_names

Tree = dict[str, Any]
"""Nested tables of a config, as TOML has them."""

DEFAULT_PRESET = "near-equal"

_LATENCY = {"model": "exponential", "mean": "200ms"}
_NEAR_EQUAL = {"model": "exponential", "floor": "1s", "mean": "100ms", "reversion": 0.2}

PRESETS: dict[str, Tree] = {
    # Workers that stay together, as on the paper's dedicated cluster.
    "near-equal": {"compute": _NEAR_EQUAL, "network": {"latency": _LATENCY}},
    # Independent exponential times: the fastest worker soon leads by as much as the slack allows.
    "exponential": {
        "compute": {"model": "exponential", "mean": "1s"},
        "network": {"latency": _LATENCY},
    },
    "straggler": {
        "compute": {**_NEAR_EQUAL, "stragglers": [{"worker": 0, "factor": 2.0}]},
        "network": {"latency": _LATENCY},
    },
    # The two clusters of [1410.8043, Experiments], every machine with a shard and workers behind one card.
    "paper-64": {
        "compute": _NEAR_EQUAL,
        "network": {"latency": _LATENCY, "bandwidth": "1Gbit/s"},
        "cluster": {"clients": 64, "placement": "colocated"},
        "ps": {"shards": 8},
    },
    "paper-8": {
        "compute": _NEAR_EQUAL,
        "network": {"latency": _LATENCY, "bandwidth": "1Gbit/s"},
        "cluster": {"clients": 8, "placement": "colocated"},
        "ps": {"shards": 8},
    },
}

_DISTRIBUTION_KEYS = frozenset(Distribution.model_fields) | {"reversion"}


def overlay(weak: Tree, strong: Tree, path: tuple[str, ...] = ()) -> Tree:
    """Lay the tables of `strong` over those of `weak`, both at `path` of the config; neither is changed.

    Single keys win, lists are replaced as a whole, and a choice takes its dependants along:

    - a distribution that names its `model` replaces the weaker distribution as a whole (with floor and
      reversion), so that it means what it says whatever the preset is;
    - a new `ps.policy`, `app.name` or `run.runtime` drops the weaker keys that it does not have, so that one
      file with a slack serves `--set ps.policy=bsp` too.
    """
    dropped = _dependants(path, strong)
    result = {key: value for key, value in weak.items() if key not in dropped}
    for key, value in strong.items():
        below = result.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            value = overlay(below, value, (*path, key))
        result[key] = value
    return result


def _dependants(path: tuple[str, ...], strong: Tree) -> frozenset[str]:
    """Return the keys whose weaker values lose their meaning by what `strong` chooses at `path`."""
    match path:
        case ("compute",) if strong.get("model") == MEASURED:
            return _DISTRIBUTION_KEYS | {"per_item"}
        case ("compute",) | ("network", "latency") if "model" in strong:
            return _DISTRIBUTION_KEYS
        case ("network", "staleness") if "law" in strong:
            return frozenset(Staleness.model_fields) - {"drawn"}
        case ("ps",) if strong.get("policy") in policy_names():
            return foreign_ps_keys(policy_class(strong["policy"]))
        case ("app",) if isinstance(strong.get("name"), str):
            return foreign_app_keys(strong["name"])
        case ("run",) if strong.get("runtime") == "sim":
            return frozenset(LIVE_ONLY)
    return frozenset()

"""Configurations of small emulated clusters."""

from collections.abc import Callable
from typing import Any

import pytest

from pskit.config import Config

MakeConfig = Callable[..., Config]


@pytest.fixture(scope="session")
def config() -> MakeConfig:
    """Make a Config of C clients and S shards from the keys of [network] and [compute]."""

    def make(
        clients: int = 4,
        shards: int = 2,
        placement: str = "separate",
        compute: dict[str, Any] | None = None,
        **network: Any,
    ) -> Config:
        given: dict[str, Any] = {
            "cluster": {"clients": clients, "placement": placement},
            "ps": {"shards": shards},
            "network": {"latency": {"model": "exponential", "mean": "200ms"}, **network},
        }
        if compute is not None:
            given["compute"] = compute
        return Config(**given)

    return make

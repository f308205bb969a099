"""What the config says of the links: which may lose messages, which may let them overtake each other."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Links:
    """Rules of the directed links between clients and shards.

    End points are numbered as in a trace: client ``c`` is ``c``, shard ``j`` is ``clients + j``.

    Parameters
    ----------
    config : mapping
        The run's config.
    clients : int
    """

    def __init__(self, config: Mapping[str, Any], clients: int) -> None:
        self._network = config["network"]
        self._colocated = config["cluster"]["placement"] == "colocated"
        self._clients = clients

    def rules(self, src: Array, dst: Array) -> tuple[Array, Array]:
        """Whether the links from ``src`` (n,) to ``dst`` (n,) may lose, and may reorder: twice (n,) bool."""
        loses = np.full(len(src), self._network["loss"] > 0)
        reorders = np.full(len(src), bool(self._network["reorder"]))
        for rule in self._network["links"]:
            where = self._matches(src, rule["src"]) & self._matches(dst, rule["dst"])
            if rule.get("loss") is not None:
                loses[where] = rule["loss"] > 0
            if rule.get("reorder") is not None:
                reorders[where] = rule["reorder"]
        if self._colocated:  # traffic within a machine uses no link; shard j is on that of client j % clients
            upper, lower = np.maximum(src, dst) - self._clients, np.minimum(src, dst)
            inside = (upper >= 0) & (upper % self._clients == lower)
            loses[inside] = reorders[inside] = False
        return loses, reorders

    def plain(self, src: Array, dst: Array) -> Array:
        """Whether each message between ``src`` (n,) and ``dst`` (n,) is sent once and arrives in order.

        Otherwise the two ends number, acknowledge and repeat their messages, in both directions.
        """
        there, back = self.rules(src, dst), self.rules(dst, src)
        plain: Array = ~(there[0] | there[1] | back[0] | back[1])
        return plain

    def _matches(self, ends: Array, pattern: str) -> Array:
        kind, _, number = pattern.partition(":")
        is_client = ends < self._clients
        alike = is_client if kind == "client" else ~is_client
        if number == "*":
            return alike
        first = 0 if kind == "client" else self._clients
        return alike & (ends == first + int(number))

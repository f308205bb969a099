"""Directed links: their settings (defaults and overrides) and what each keeps between messages."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pskit.emulation.fan import Fan, Transform
from pskit.emulation.samplers import Quantile
from pskit.emulation.streams import derive

if TYPE_CHECKING:
    from pskit.config import NetworkConfig


class Endpoint(NamedTuple):
    """Name of a client or a shard; unlike its number it does not depend on the size of the cluster."""

    kind: str
    number: int

    def matches(self, pattern: str) -> bool:
        """Tell whether a pattern such as ``client:3`` or ``client:*`` means this endpoint."""
        return pattern in (f"{self.kind}:{self.number}", f"{self.kind}:*")


class Rules(NamedTuple):
    """How one link behaves."""

    latency: Quantile
    loss: float
    reorder: bool


class Rulebook:
    """The rules of every link: the network's defaults, changed by its overrides in their order.

    Parameters
    ----------
    network : NetworkConfig
    """

    def __init__(self, network: "NetworkConfig") -> None:
        self._default = Rules(Quantile(network.latency), network.loss, network.reorder)
        self._overrides = [
            (link, None if link.latency is None else Quantile(link.latency)) for link in network.links
        ]

    def rules(self, src: Endpoint, dst: Endpoint) -> Rules:
        """Find the rules of the link from ``src`` to ``dst``."""
        latency, loss, reorder = self._default
        for override, quantile in self._overrides:
            if src.matches(override.src) and dst.matches(override.dst):
                latency = latency if quantile is None else quantile
                loss = loss if override.loss is None else override.loss
                reorder = reorder if override.reorder is None else override.reorder
        return Rules(latency, loss, reorder)


class Link:
    """One directed link between two machines.

    Attributes
    ----------
    latencies : endless iterator of int, ns
    losses : endless iterator of 0 or 1 (lost), or None if the link loses nothing
    fifo : whether messages keep their order
    newest : int, ns
        On a fifo link, the latest time at which a message sent so far becomes visible.
    card : int
        Index of the sender's card.
    """

    __slots__ = ("card", "fifo", "latencies", "losses", "newest")

    def __init__(self, card: int, latencies: Iterator[int], losses: Iterator[int] | None, fifo: bool) -> None:
        self.card = card
        self.latencies = latencies
        self.losses = losses
        self.fifo = fifo
        self.newest = 0


def open_links(seed: int, card: int, src: Endpoint, dsts: Sequence[Endpoint], book: Rulebook) -> list[Link]:
    """Set up the links from one sender to several receivers.

    Links with the same latency distribution (or the same loss) share their passes. Latencies and losses have
    streams of their own, so that loss never shifts a latency.

    Returns
    -------
    one link for each of ``dsts``
    """
    rules = {dst: book.rules(src, dst) for dst in dsts}
    coins = {rule.loss: _coin(rule.loss) for rule in rules.values()}
    latencies = _sequences(seed, "latency", src, {dst: rule.latency for dst, rule in rules.items()})
    lossy = {dst: coins[rule.loss] for dst, rule in rules.items() if rule.loss > 0.0}
    losses = _sequences(seed, "loss", src, lossy)
    return [Link(card, latencies[dst], losses.get(dst), not rule.reorder) for dst, rule in rules.items()]


def _sequences(
    seed: int, purpose: str, src: Endpoint, transforms: dict[Endpoint, Transform]
) -> dict[Endpoint, Iterator[int]]:
    """Make one sequence per receiver, in one fan for each of the different transforms."""
    fans: dict[Transform, list[Endpoint]] = {}
    for dst, transform in transforms.items():
        fans.setdefault(transform, []).append(dst)
    sequences: dict[Endpoint, Iterator[int]] = {}
    for transform, dsts in fans.items():
        fan = Fan([derive(seed, ("network", purpose, *src, *dst)) for dst in dsts], transform)
        sequences.update((dst, fan.sequence(i)) for i, dst in enumerate(dsts))
    return sequences


def _coin(probability: float) -> Transform:
    """Return the transform that gives 1 with this probability, else 0."""
    return lambda u: (u < probability).astype(np.int64)

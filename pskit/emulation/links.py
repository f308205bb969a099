"""Directed links: their settings (defaults and overrides) and what each keeps between messages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pskit.emulation.fan import Fan, Transform, twins
from pskit.emulation.samplers import Quantile
from pskit.emulation.staleness import AgeLaw, Shaped
from pskit.emulation.streams import derive
from pskit.errors import about

if TYPE_CHECKING:
    from pskit.config import Distribution, NetworkConfig


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
    clock_time : int, ns
        What every clock takes, where the network shapes staleness.
    """

    def __init__(self, network: "NetworkConfig", clock_time: int = 0) -> None:
        self._ages = None if network.staleness is None else AgeLaw(network.staleness)
        self._clock_time = clock_time
        latency = _quantile("network.latency", network.latency)
        self._default = Rules(latency, network.loss, network.reorder)
        self._overrides = [
            (link, None if link.latency is None else _quantile(f"network.links[{n}].latency", link.latency))
            for n, link in enumerate(network.links)
        ]

    def shaped(self, seed: int, src: Endpoint, dsts: Sequence[Endpoint], plain: Fan) -> "Fan | Shaped":
        """Latencies of the links from ``src`` to ``dsts``: ``plain``, or shaped on those to clients."""
        if self._ages is None or src.kind != "shard":
            return plain
        return Shaped(plain, [self._ages.ages(seed, dst.number) for dst in dsts], self._clock_time)

    @property
    def reliable(self) -> bool:
        """Whether no link loses or reorders messages."""
        lossy = any(override.loss or override.reorder for override, _ in self._overrides)
        return not (lossy or self._default.loss or self._default.reorder)

    def rules(self, src: Endpoint, dst: Endpoint) -> Rules:
        """Find the rules of the link from ``src`` to ``dst``."""
        latency, loss, reorder = self._default
        for override, quantile in self._overrides:
            if src.matches(override.src) and dst.matches(override.dst):
                latency = latency if quantile is None else quantile
                loss = loss if override.loss is None else override.loss
                reorder = reorder if override.reorder is None else override.reorder
        return Rules(latency, loss, reorder)


class Bundle:
    """Directed links from one machine that have the same rules; they share the passes of their draws.

    Parameters
    ----------
    card : int
        Index of the sender's card.
    latencies : Fan or Shaped
        One sequence per link, ns.
    losses : Fan or None
        0 or 1 (lost); None if the links lose nothing.
    fifo : bool
        Whether messages keep their order on a link.
    """

    __slots__ = ("_newest", "_newests", "card", "fifo", "latencies", "losses")

    def __init__(
        self, links: int, card: int, latencies: Fan | Shaped, losses: Fan | None, fifo: bool
    ) -> None:
        self.card, self.latencies, self.losses, self.fifo = card, latencies, losses, fifo
        # On a fifo link, the latest time at which a message sent so far becomes visible, ns.
        self._newest, self._newests = twins(links)

    @property
    def plain(self) -> bool:
        """Whether the links neither lose nor reorder."""
        return self.fifo and self.losses is None

    def visible_at(self, i: int, departure: int) -> tuple[int, bool]:
        """When a message that leaves at ``departure`` is visible on link ``i``, and whether it is lost."""
        visible_at = departure + self.latencies.next(i)
        if self.losses is not None and self.losses.next(i):
            return visible_at, True
        if self.fifo:
            newest = self._newest
            if visible_at < newest[i]:
                return newest[i], False
            try:
                newest[i] = visible_at
            except OverflowError:
                return visible_at, False  # after the end of emulated time: the caller reports it
        return visible_at, False

    def all_visible_at(self, departure: int) -> NDArray[np.int64]:
        """When messages that leave together, one on each of these plain links, are visible."""
        newest = self._newests
        np.maximum(newest, self.latencies.next_of_all() + departure, out=newest)
        return newest


def open_links(
    seed: int, card: int, src: Endpoint, dsts: Sequence[Endpoint], book: Rulebook
) -> list[tuple[Bundle, int]]:
    """Set up the links from one sender to several receivers.

    Latencies and losses have streams of their own, so that loss never shifts a latency.

    Returns
    -------
    for each of ``dsts`` its bundle and its place there
    """
    alike: dict[Rules, list[Endpoint]] = {}
    for dst in dsts:
        alike.setdefault(book.rules(src, dst), []).append(dst)
    links: dict[Endpoint, tuple[Bundle, int]] = {}
    for rules, members in alike.items():
        latencies = book.shaped(seed, src, members, _fan(seed, "latency", src, members, rules.latency))
        losses = _fan(seed, "loss", src, members, _coin(rules.loss)) if rules.loss > 0.0 else None
        bundle = Bundle(len(members), card, latencies, losses, not rules.reorder)
        links.update((dst, (bundle, i)) for i, dst in enumerate(members))
    return [links[dst] for dst in dsts]


def _fan(seed: int, purpose: str, src: Endpoint, dsts: Sequence[Endpoint], transform: Transform) -> Fan:
    return Fan([derive(seed, ("network", purpose, *src, *dst)) for dst in dsts], transform)


def _coin(probability: float) -> Transform:
    """Return the transform that gives 1 with this probability, else 0."""
    return lambda u: (u < probability).astype(np.int64)


def _quantile(key: str, latency: "Distribution") -> Quantile:
    with about(f"{key}.file", getattr(latency, "file", None)):
        return Quantile(latency)

"""The emulated network: when a message becomes visible at its receiver, and whether it is lost.

``visible_at = departure + latency``. A message departs when the last byte has left the card of the sender's
machine; cards serve their messages one after the other, so a server that pushes to many clients serialises on
its own card. Receiving is not queued. On a link that does not reorder, a message never becomes visible before
an earlier one. Traffic within a machine is free.

Endpoints are integers: client c is c, shard j is C + j. Shard j is `colocated` with client j % C, or has a
`separate` machine. Every directed link has its own streams, keyed by the names of its ends; latency is drawn
for every message, lost or not, so no link and no setting shifts the latencies of another.
"""

from typing import TYPE_CHECKING

from pskit.emulation.links import Endpoint, Link, Rulebook, open_links

if TYPE_CHECKING:
    from pskit.config import Config

NS_PER_SECOND = 10**9
FAN_SIZE = 256
"""Links that are set up together, at most."""


class Cards:
    """The network cards of all machines: until when each is busy.

    Parameters
    ----------
    machines : int
    """

    __slots__ = ("_free",)

    def __init__(self, machines: int) -> None:
        self._free = [0] * machines

    def occupy(self, card: int, now: int, duration: int) -> int:
        """Queue a message for ``duration`` ns at a card: when it has left."""
        free = self._free
        departure = max(now, free[card]) + duration
        free[card] = departure
        return departure


class Network:
    """Links and cards of one run.

    Parameters
    ----------
    cfg : Config
        Read: ``network``, ``cluster.clients``, ``cluster.placement``, ``ps.shards``.
    seed : int
    cards : Cards, optional
        For processes that share them; by default of its own.

    Links are set up when first used, together with other links of the same sender.
    """

    def __init__(self, cfg: "Config", seed: int, cards: "Cards | None" = None) -> None:
        clients, shards = cfg.cluster.clients, cfg.ps.shards
        self._seed = seed
        self._rulebook = Rulebook(cfg.network)
        self._bandwidth = cfg.network.bandwidth
        self._endpoints = [Endpoint("client", c) for c in range(clients)]
        self._endpoints += [Endpoint("shard", j) for j in range(shards)]
        self._clients, self._size = clients, clients + shards
        colocated = cfg.cluster.placement == "colocated"
        self._machines = list(range(clients))
        self._machines += [j % clients if colocated else clients + j for j in range(shards)]
        self._cards = cards or Cards(self._size)
        # By src * size + dst; None within a machine.
        self._links: dict[int, Link | None] = {}

    def send(self, now: int, src: int, dst: int, nbytes: int) -> tuple[int, bool]:
        """Put a message on its way.

        Parameters
        ----------
        now : int, ns
            Time of sending; never smaller than in an earlier call.
        src, dst : int
            Endpoints.
        nbytes : int
            Size of the message.

        Returns
        -------
        visible_at : int, ns
        lost : bool
            True if the message never arrives; it has used the card all the same.
        """
        try:
            link = self._links[src * self._size + dst]
        except KeyError:
            link = self._open(src, dst)
        if link is None:
            return now, False
        bandwidth = self._bandwidth
        if bandwidth is not None:
            now = self._cards.occupy(link.card, now, -(-nbytes * NS_PER_SECOND // bandwidth))
        visible_at = now + next(link.latencies)
        if link.losses is not None and next(link.losses):
            return visible_at, True
        if link.fifo:
            if visible_at < link.newest:
                return link.newest, False
            link.newest = visible_at
        return visible_at, False

    def lossy(self, src: int, dst: int) -> bool:
        """Tell whether the link can lose or reorder messages, so that the protocol needs a channel on it."""
        key = src * self._size + dst
        link = self._links[key] if key in self._links else self._open(src, dst)
        return link is not None and (link.losses is not None or not link.fifo)

    def _open(self, src: int, dst: int) -> Link | None:
        """Set up a link and its neighbours: same sender, an aligned run of receivers of the same kind."""
        if not (0 <= src < self._size and 0 <= dst < self._size):
            raise ValueError(f"no link from endpoint {src} to {dst}: endpoints are 0 to {self._size - 1}")
        begin, end = (0, self._clients) if dst < self._clients else (self._clients, self._size)
        begin = dst - (dst - begin) % FAN_SIZE
        machine = self._machines[src]
        remote = []
        for i in range(begin, min(begin + FAN_SIZE, end)):
            self._links[src * self._size + i] = None
            if self._machines[i] != machine:
                remote.append(i)
        ends = [self._endpoints[i] for i in remote]
        links = open_links(self._seed, machine, self._endpoints[src], ends, self._rulebook)
        self._links.update(zip((src * self._size + i for i in remote), links, strict=True))
        return self._links[src * self._size + dst]

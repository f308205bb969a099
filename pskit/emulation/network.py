"""The emulated network: when a message becomes visible at its receiver, and whether it is lost.

``visible_at = departure + latency``. A message departs when the last byte has left the card of the sender's
machine; cards serve their messages one after the other, so a server that pushes to many clients serialises on
its own card. Receiving is not queued. On a link that does not reorder, a message never becomes visible before
an earlier one. Traffic within a machine is free.

Endpoints are integers: client c is c, shard j is C + j. Shard j is `colocated` with client j % C, or has a
`separate` machine. Every directed link has its own streams, keyed by the names of its ends; latency is drawn
for every message, lost or not, so no link and no setting shifts the latencies of another.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pskit.emulation.links import Bundle, Endpoint, Rulebook, open_links
from pskit.emulation.samplers import Quantile

if TYPE_CHECKING:
    from pskit.config import Config

Times = NDArray[np.int64]

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


class Run(NamedTuple):
    """Neighbouring receivers to which a sender has links of one plain bundle, or none at all."""

    dsts: list[int]
    bundle: Bundle
    local: bool
    """Whether one of ``dsts`` is on the sender's own machine."""
    remote: NDArray[np.intp]
    """Places of the others."""

    def visible_at(self, now: int, out: Times) -> None:
        """Say when a message to each of ``dsts`` that leaves ``now`` becomes visible, ns."""
        if self.local:
            out[:] = now
            out[self.remote] = self.bundle.all_visible_at(now)
        else:
            out[:] = self.bundle.all_visible_at(now)


class Network:
    """Links and cards of one run.

    Parameters
    ----------
    cfg : Config
        Read: ``network``, ``cluster.clients``, ``cluster.placement``, ``ps.shards``; where the network shapes
        staleness, ``compute`` too.
    seed : int
    cards : Cards, optional
        For processes that share them; by default of its own.

    Links are set up when first used, together with other links of the same sender.
    """

    def __init__(self, cfg: "Config", seed: int, cards: "Cards | None" = None) -> None:
        clients, shards = cfg.cluster.clients, cfg.ps.shards
        self._seed = seed
        shaped = cfg.network.staleness is not None
        self._rulebook = Rulebook(cfg.network, Quantile(cfg.compute).mean if shaped else 0)
        self._bandwidth = cfg.network.bandwidth
        self._endpoints = [Endpoint("client", c) for c in range(clients)]
        self._endpoints += [Endpoint("shard", j) for j in range(shards)]
        self._clients, self._size = clients, clients + shards
        colocated = cfg.cluster.placement == "colocated"
        self._machines = list(range(clients))
        self._machines += [j % clients if colocated else clients + j for j in range(shards)]
        self._cards = cards or Cards(self._size)
        # By src * size + dst: bundle and place in it; None within a machine.
        self._links: dict[int, tuple[Bundle, int] | None] = {}
        # By src and first receiver of a run of links that were opened together.
        self._runs: dict[tuple[int, int], Run] = {}

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
        bundle, place = link
        bandwidth = self._bandwidth
        if bandwidth is not None:
            now = self._cards.occupy(bundle.card, now, -(-nbytes * NS_PER_SECOND // bandwidth))
        return bundle.visible_at(place, now)

    def send_plain(self, now: int, src: int, dsts: list[int], sizes: Times) -> Times:
        """Send a message to each of ``dsts``, in their order, over links that are not `lossy`.

        Parameters
        ----------
        now : int, ns
            Below 2**62, see `send`.
        sizes : (n,) int64
            Bytes of each.

        Returns
        -------
        visible_at : (n,) int64, ns
            The same as from n calls of `send`.
        """
        visible = np.empty(len(dsts), np.int64)
        runs, i = self._runs if self._bandwidth is None else {}, 0
        while i < len(dsts):
            run = runs.get((src, dsts[i]))
            if run is not None and dsts[i : i + len(run.dsts)] == run.dsts:
                run.visible_at(now, visible[i : i + len(run.dsts)])
                i += len(run.dsts)
            else:
                visible[i] = self.send(now, src, dsts[i], int(sizes[i]))[0]
                i += 1
        return visible

    @property
    def reliable(self) -> bool:
        """Whether no link at all loses or reorders messages."""
        return self._rulebook.reliable

    def lossy(self, src: int, dst: int) -> bool:
        """Tell whether the link can lose or reorder messages, so that the protocol needs a channel on it."""
        key = src * self._size + dst
        link = self._links[key] if key in self._links else self._open(src, dst)
        return link is not None and not link[0].plain

    def _open(self, src: int, dst: int) -> tuple[Bundle, int] | None:
        """Set up a link and its neighbours: same sender, an aligned run of receivers of the same kind."""
        if not (0 <= src < self._size and 0 <= dst < self._size):
            raise ValueError(f"no link from endpoint {src} to {dst}: endpoints are 0 to {self._size - 1}")
        begin, end = (0, self._clients) if dst < self._clients else (self._clients, self._size)
        begin = dst - (dst - begin) % FAN_SIZE
        machine = self._machines[src]
        dsts = list(range(begin, min(begin + FAN_SIZE, end)))
        remote = [i for i in dsts if self._machines[i] != machine]
        ends = [self._endpoints[i] for i in remote]
        links = open_links(self._seed, machine, self._endpoints[src], ends, self._rulebook)
        self._links.update((src * self._size + i, None) for i in dsts)
        self._links.update(zip((src * self._size + i for i in remote), links, strict=True))
        if links and links[0][0].plain and all(bundle is links[0][0] for bundle, _ in links):
            places = np.array([i - begin for i in remote], np.intp)
            self._runs[src, begin] = Run(dsts, links[0][0], len(remote) < len(dsts), places)
        return self._links[src * self._size + dst]

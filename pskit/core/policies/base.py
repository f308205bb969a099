"""The seam between the protocol and a consistency policy.

A policy answers two questions at the client, *which copy may be returned* and *how a missing row is
got*, and two at the shard, *what happens to an arriving oplog* and *what happens when the clock rises*.
It holds no state of its own: clients, shards and messages hold it all.
"""

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pskit.core.messages import Oplog
    from pskit.core.server import ServerShard

UNBOUNDED = -(1 << 30)  # a need that every clock satisfies


class Policy:
    """A lazily pulled, clock-bounded policy; the others override what they do differently.

    Parameters
    ----------
    slack : int
        A read at clock ``c`` must contain all updates with tag ``<= c - slack - 1``.
    deltas : bool
        Pushes carry changed entries in place of whole rows.
    """

    name: ClassVar[str]
    subscribes: ClassVar[bool] = False
    """Whether a GET miss registers for pushes."""
    refetches: ClassVar[bool] = False
    """Whether a copy serves only the clock it was fetched in."""
    takes_slack: ClassVar[bool] = True
    """Whether the user may choose the slack."""

    def __init__(self, slack: int = 0, deltas: bool = False) -> None:
        self.slack = slack
        self.deltas = deltas

    def need(self, clock: int) -> int:
        """Lowest row clock that a GET at worker clock ``clock`` may return."""
        return clock - self.slack

    def on_oplog(self, shard: "ServerShard", oplog: "Oplog") -> None:
        """An oplog arrived in order; by default it is applied before any clock logic."""
        shard.apply(oplog)

    def on_rise(self, shard: "ServerShard") -> None:
        """The shard's clock rose; by default the waiting requests are answered."""
        shard.release()

"""ESSP: eager SSP [1410.8043, ESSPTable]."""

from typing import TYPE_CHECKING

from pskit.core.policies.base import Policy

if TYPE_CHECKING:
    from pskit.core.server import ServerShard


class ESSP(Policy):
    """SSP's guarantee, kept fresh by the server.

    The first GET of a row subscribes to it, and whenever a shard's clock rises it pushes the changed rows to
    their subscribers.
    """

    name = "essp"
    subscribes = True

    def on_rise(self, shard: "ServerShard") -> None:
        shard.push(replied=shard.release())

"""BSP: bulk synchronous parallel."""

from typing import TYPE_CHECKING

from pskit.core.policies.base import Policy

if TYPE_CHECKING:
    from pskit.core.messages import Oplog
    from pskit.core.server import ServerShard


class BSP(Policy):
    """All updates of all finished clocks and nobody else's of the current one.

    The shard holds oplogs back and applies those of clock ``c`` in worker order once all have arrived, so
    values do not depend on timing. Rows are pulled as under SSP with slack 0.
    """

    name = "bsp"
    takes_slack = False

    def on_oplog(self, shard: "ServerShard", oplog: "Oplog") -> None:
        shard.hold(oplog)

    def on_rise(self, shard: "ServerShard") -> None:
        shard.apply_held()
        shard.release()

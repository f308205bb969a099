"""VAP: value-bounded asynchronous parallel [1410.8043, section "Value-bounded Asynchronous Parallel"]."""

from typing import ClassVar

from pskit.core.policies.base import UNBOUNDED, Policy


class VAP(Policy):
    """Bounds what a view lacks by its size, not by its age.

    Oplogs leave at INC and shards push on arrival, no clock is waited for: `need` is unbounded, and a rise
    of a shard's clock moves nothing. When a computation may start is for the arbiter to say
    (`pskit.core.arbiter`), which a client asks at every GET (`pskit.core.gated`).
    """

    name = "vap"
    subscribes = True
    takes_slack = False
    gated: ClassVar[bool] = True

    def need(self, clock: int) -> int:
        return UNBOUNDED

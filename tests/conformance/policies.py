"""A policy of a user's own, named in a config as ``module:Class``."""

from pskit.core.policies import ESSP


class WarmUp(ESSP):
    """ESSP whose slack grows by one every other clock, up to the configured one."""

    name = "warm-up"

    def need(self, clock: int) -> int:
        return clock - min(self.slack, clock // 2)

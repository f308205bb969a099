"""ASP: asynchronous parallel, no bound at all."""

from pskit.core.policies.base import UNBOUNDED, Policy


class ASP(Policy):
    """The first GET of a row in each clock fetches it, and the shard answers at once."""

    name = "asp"
    refetches = True
    takes_slack = False

    def need(self, clock: int) -> int:
        return UNBOUNDED

"""SSP: stale synchronous parallel, lazy [Ho et al. 2013; 1410.8043, SSPTable]."""

from pskit.core.policies.base import Policy


class SSP(Policy):
    """A row is fetched only when it is missing or its clock is below ``c - slack``; nothing is pushed."""

    name = "ssp"

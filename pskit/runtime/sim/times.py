"""Where the times of a run come from."""

from typing import Any

from pskit.emulation.compute import ComputeModel
from pskit.emulation.network import Network
from pskit.runtime.events import EventQueue


class Times:
    """Draws the times of a run from the samplers of its config; a subclass may take them from elsewhere.

    Parameters
    ----------
    cfg : Config
    """

    def __init__(self, cfg: Any) -> None:
        self.cfg = cfg

    def queue(self) -> EventQueue:
        """The queue of pending events; decides when what is scheduled happens."""
        return EventQueue()

    def network(self) -> Network:
        """The links; decide when a message arrives, or that it is lost."""
        return Network(self.cfg, self.cfg.run.seed)

    def compute(self, worker: int) -> ComputeModel:
        """Durations of the computations of ``worker``."""
        return ComputeModel(self.cfg.compute, self.cfg.run.seed, worker)

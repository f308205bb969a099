"""Virtual time: the core driven by a deterministic event queue."""

from pskit.runtime.sim.simulation import Simulation

__all__ = ["Simulation"]

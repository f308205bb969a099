"""The runtime `sim`: a whole run in virtual time."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from pskit.core.layout import Layout
from pskit.runtime.base import Execution, Report
from pskit.runtime.memory import estimate_bytes
from pskit.runtime.sim.simulation import Simulation
from pskit.trace.recorder import Recorder

if TYPE_CHECKING:
    from pskit.config import Config

__all__ = ["estimate_bytes", "execute"]


def execute(cfg: "Config", app: Any, layout: Layout, threads: int | None, report: Report | None) -> Execution:
    """Run ``app``; see `pskit.runtime.base.Runtime`."""
    recorder = Recorder(layout, cfg.workers, cfg.run.trace, cfg.run.seed)
    tell = None if report is None else lambda simulation: report(simulation.progress)
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        simulation = Simulation(cfg, app, layout, recorder, pool, tell)
        status = None
        try:
            simulation.run()
        except KeyboardInterrupt:
            status = "interrupted"
        outcome = simulation.outcome(status)
        simulation.close()
    return Execution(recorder, outcome, {})

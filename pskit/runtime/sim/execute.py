"""The runtime `sim`: a whole run in virtual time."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from pskit.core.layout import Layout
from pskit.core.policies import policy_class
from pskit.runtime.base import Execution, Report
from pskit.runtime.interrupts import between_events
from pskit.runtime.memory import estimate_bytes
from pskit.runtime.recording import attach_logs
from pskit.runtime.sim.gated import GatedSimulation
from pskit.runtime.sim.simulation import Simulation
from pskit.trace.recorder import Recorder

if TYPE_CHECKING:
    from pskit.config import Config

__all__ = ["estimate_bytes", "execute", "no_gate"]


def no_gate(cfg: "Config") -> str | None:
    """See `pskit.runtime.base.Runtime`: virtual time sees everything."""
    return None


def execute(cfg: "Config", app: Any, layout: Layout, threads: int | None, report: Report | None) -> Execution:
    """Run ``app``; see `pskit.runtime.base.Runtime`.

    Ctrl-C stops between two events, also before the first; what was recorded then is a run so far.
    """
    recorder = Recorder(layout, cfg.workers, cfg.run.trace, cfg.run.seed)
    attach_logs(recorder, cfg, app, layout)
    tell = None if report is None else lambda simulation: report(simulation.progress)
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        made = GatedSimulation if policy_class(cfg.ps.policy).gated else Simulation
        simulation = made(cfg, app, layout, recorder, pool, tell)
        try:
            with between_events("leaves no trace") as interrupted:
                simulation.interrupted = interrupted
                simulation.run()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # nobody waits for what has not begun
        outcome = simulation.outcome("interrupted" if interrupted else None)
        simulation.close()
    return Execution(recorder, outcome, simulation.facts())

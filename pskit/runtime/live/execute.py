"""The runtime `live`: a whole run on the wall clock, in processes that share memory."""

from typing import TYPE_CHECKING, Any

from pskit.core.layout import Layout
from pskit.runtime import memory
from pskit.runtime.base import Execution, Report
from pskit.runtime.live.launcher import LiveRun
from pskit.runtime.live.plan import Plan

if TYPE_CHECKING:
    from pskit.config import Config

PROCESS_BYTES = 60 << 20
"""Of a process its own, beside what it shares with the others: interpreter state and compiled code."""


def estimate_bytes(cfg: "Config", layout: Layout) -> int:
    """Estimated peak of all processes together, bytes; data of the application is not counted.

    Every client has its sums of INCs and its own versions of the rows, the server what a run in virtual time
    has.
    """
    table_bytes = int(sum(t.rows * b for t, b in zip(layout.tables, layout.row_bytes, strict=True)))
    clients = cfg.cluster.clients * (PROCESS_BYTES + 4 * table_bytes)
    return memory.estimate_bytes(cfg, layout) + Plan(cfg, layout).committed + clients


def no_gate(cfg: "Config") -> str | None:
    """See `pskit.runtime.base.Runtime`: the processes share the arbiter's memory while none of them dies."""
    if cfg.run.on_death == "continue":
        return (
            "what a client that died has reserved and announced would keep the gate closed; leave "
            "run.on_death at 'stop'"
        )
    if cfg.run.record:
        return "the order in which the gate let workers in is not recorded; leave run.record out"
    return None


def execute(cfg: "Config", app: Any, layout: Layout, threads: int | None, report: Report | None) -> Execution:
    """Run the application of ``cfg``; see `pskit.runtime.base.Runtime`.

    Every process makes an application of its own, and has one thread: ``app`` and ``threads`` are not used.
    """
    return Execution(*LiveRun(cfg, layout, report).run())

"""What a run records beside its schedule, so that gamma can be measured."""

from typing import TYPE_CHECKING, Any

from pskit.core.client import NonFiniteUpdate
from pskit.core.layout import Layout
from pskit.core.messages import Effect, ToShards
from pskit.core.policies import policy_class
from pskit.trace.recorder import READ_CAP, Recorder
from pskit.trace.steps import RowLog, StepLog

if TYPE_CHECKING:
    from pskit.config import Config


def attach_logs(recorder: Recorder, cfg: "Config", app: Any, layout: Layout) -> None:
    """Let ``recorder`` take down values as well.

    All views and gradients of a convex application, as long as all its reads fit in the trace; otherwise the
    updates of some rows.

    Parameters
    ----------
    app : Application or Guarded
    """
    convex = hasattr(getattr(app, "app", app), "terms")
    if convex and (cfg.run.trace == "full" or cfg.workers * cfg.app.clocks * layout.n_rows <= READ_CAP):
        recorder.steps = StepLog(layout)
    elif not policy_class(cfg.ps.policy).gated:  # there all updates are taken down, see `StartLog`
        recorder.rows = RowLog(layout, cfg.run.seed)


def record_unit(log: RowLog, effects: list[Effect]) -> None:
    """Take down the updates that leave a client with ``effects``."""
    for effect in effects:
        if type(effect) is ToShards:
            for shard in sorted(effect.parts):
                log.unit(effect.tick.worker, effect.tick.clock, effect.parts[shard])


def record_refusal(recorder: Recorder, now: int, error: NonFiniteUpdate) -> None:
    """Take down the fault of an update that was refused, since it would not have been finite."""
    recorder.fault(now, "non-finite", error.worker, error.clock, error.table, error.row, str(error))

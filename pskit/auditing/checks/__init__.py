"""All checks of a trace, in stages: when one of a stage fails, what comes after it would only mislead."""

from pskit.auditing.checks import (
    clocks,
    copies,
    ending,
    facts,
    ids,
    members,
    messages,
    metrics,
    order,
    reads,
    schedule,
    starts,
    totals,
    updates,
    views,
)

STAGES = (
    (*facts.CHECKS, *ids.CHECKS, *views.IDS, *starts.IDS),
    order.CHECKS,
    (
        *clocks.CHECKS,
        *messages.CHECKS,
        *updates.CHECKS,
        *members.CHECKS,
        *reads.CHECKS,
        *copies.CHECKS,
        *views.CHECKS,
        *starts.CHECKS,
        *totals.CHECKS,
        *ending.TIME,
        *metrics.CHECKS,
        *facts.STATUS,
        *ending.CHECKS,
        *schedule.CHECKS,
    ),
)

__all__ = ["STAGES"]

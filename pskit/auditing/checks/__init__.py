"""All checks of a trace, in stages: when one of a stage fails, what comes after it would only mislead."""

from pskit.auditing.checks import (
    agreement,
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
    rows,
    schedule,
    stalls,
    starts,
    totals,
    transit,
    updates,
    views,
)

STAGES = (
    (*facts.CHECKS, *ids.CHECKS, *views.IDS, *rows.IDS, *starts.IDS),
    order.CHECKS,
    (
        *clocks.CHECKS,
        *messages.CHECKS,
        *updates.CHECKS,
        *members.CHECKS,
        *reads.CHECKS,
        *copies.CHECKS,
        *views.CHECKS,
        *rows.CHECKS,
        *starts.CHECKS,
        *agreement.CHECKS,
        *transit.CHECKS,
        *stalls.CHECKS,
        *totals.CHECKS,
        *ending.TIME,
        *metrics.CHECKS,
        *facts.STATUS,
        *ending.CHECKS,
        *rows.END,
        *schedule.CHECKS,
    ),
)

__all__ = ["STAGES"]

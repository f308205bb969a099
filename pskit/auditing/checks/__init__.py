"""All checks of a trace, in stages: when one of a stage fails, what comes after it would only mislead."""

from pskit.auditing.checks import (
    clocks,
    copies,
    ending,
    ids,
    members,
    messages,
    order,
    reads,
    totals,
    updates,
)

STAGES = (
    ids.CHECKS,
    order.CHECKS,
    (
        *clocks.CHECKS,
        *messages.CHECKS,
        *updates.CHECKS,
        *members.CHECKS,
        *reads.CHECKS,
        *copies.CHECKS,
        *totals.CHECKS,
        *ending.CHECKS,
    ),
)

__all__ = ["STAGES"]

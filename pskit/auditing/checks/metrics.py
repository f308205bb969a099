"""Evaluations of the objective: when they were made."""

import numpy as np

from pskit.auditing import telling
from pskit.auditing.case import Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.history import NEVER

IN_ORDER = ("bsp", "ssp", "essp", "asp", "vap")
"""Policies under which a shard's clock rises when the updates that raise it are in; others may wait."""


def times(case: Case) -> Finding | str:
    """Evaluations begin at time and clock 0 and never go back; each has all updates of its clocks."""
    m, history = case.columns["metrics"], case.history
    t, clock = m["t"], m["clock"].astype(np.int64)
    wrong = (t < 0) | (clock < 0) | (clock > case.windows.finished.max(initial=0))
    if case.ended or not case.live:
        wrong |= t > case.emulated
    if len(t):
        wrong[0] |= (t[0] != 0) | (clock[0] != 0)
    wrong[1:] |= (np.diff(t) < 0) | (np.diff(clock) < 0)
    known = np.clip(clock, 0, history.needed.shape[1] - 1)
    complete = np.zeros(len(t), np.int64)
    for shard in range(case.shards):
        where = np.full(len(t), shard)
        lowest = history.lowest_version(where, known)
        applied = np.where(lowest > 0, history.applied_at(where, lowest - 1), 0)
        complete = np.maximum(complete, applied)
    if case.policy in IN_ORDER:
        wrong |= complete > t

    def tell(i: int) -> str:
        said = f"{str(m['name'][i])!r} was evaluated at clock {clock[i]}, {telling.at(int(t[i]))}"
        before = f"; before it at clock {clock[i - 1]}, {telling.at(int(t[i - 1]))}" if i else ""
        when = "never" if complete[i] == NEVER else f"at {telling.at(int(complete[i]))}"
        return (
            f"{said}{before}; the updates of that many clocks were complete {when}, and the run ended at "
            f"{telling.at(case.emulated)}"
        )

    return breaks(wrong, tell)


CHECKS = (Check("times of metrics", times),)

"""Evaluations of the objective: when they were made."""

import numpy as np

from pskit.auditing import telling
from pskit.auditing.case import Array, Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.history import NEVER

IN_ORDER = ("bsp", "ssp", "essp", "asp", "vap")
"""Policies under which a shard's clock rises when the updates that raise it are in; others may wait."""


def times(case: Case) -> Finding | str:
    """Evaluations begin at time and clock 0 and never go back; each has all updates of its clocks."""
    m = case.columns["metrics"]
    t, clock = m["t"], m["clock"].astype(np.int64)
    wrong = (t < 0) | (clock < 0) | (clock > case.windows.finished.max(initial=0))
    if case.ended or not case.live:
        wrong |= t > case.emulated
    if len(t):
        wrong[0] |= (t[0] != 0) | (clock[0] != 0)
    wrong[1:] |= (np.diff(t) < 0) | (np.diff(clock) < 0)
    complete = _complete(case, clock)
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


def _complete(case: Case, clock: Array) -> Array:
    """When all shards had all updates of the first ``clock`` (n,) clocks, NEVER included: (n,) int64, ns."""
    history = case.history
    known = np.clip(clock, 0, history.needed.shape[1] - 1)
    complete = np.zeros(len(clock), np.int64)
    for shard in range(case.shards):
        where = np.full(len(clock), shard)
        lowest = history.lowest_version(where, known)
        applied = np.where(lowest > 0, history.applied_at(where, lowest - 1), 0)
        complete = np.maximum(complete, applied)
    return complete


def moments(case: Case) -> Finding | str:
    """An evaluation is made when the slowest shard's clock rises, once in so many clocks, and at the end.

    It names that clock; or, where workers leave, that of the fastest worker, if it is lower.
    """
    if case.live:
        return "a live server evaluates when it comes to it"
    if case.policy not in IN_ORDER:
        return f"under {case.policy} a shard's clock may rise later than the updates are in"
    m = case.columns["metrics"]
    t, clock = m["t"], m["clock"].astype(np.int64)
    every = int(case.manifest["config"]["run"]["eval_every"])
    first = np.ones(len(t), np.bool_)  # of the lines of an evaluation, which has one for every metric
    first[1:] = (np.diff(t) != 0) | (np.diff(clock) != 0)
    t, clock = t[first], clock[first]
    ends = np.sort(case.clocks["t_end"])
    by_end = np.argsort(case.clocks["t_end"], kind="stable")
    running = np.concatenate([[0], np.maximum.accumulate(case.clocks["clock"][by_end].astype(np.int64) + 1)])
    before, by_then = (running[np.searchsorted(ends, t, side=side)] for side in ("left", "right"))
    rises = _complete(case, np.arange(case.history.needed.shape[1]))
    capped = ((clock == before) | (clock == by_then)) & np.isin(t, rises)
    wrong = (_complete(case, clock) != t) & ~capped
    wrong[1:] |= np.diff(clock) < every
    wrong[:1] = False  # that of the initial tables, see "times of metrics"
    if case.ended and len(t) > 1 and clock[-1] == case.windows.finished.max(initial=0):
        wrong[-1] = False  # that of the final tables
    lines = np.flatnonzero(first)

    def tell(i: int) -> str:
        k = int(lines[i])
        return (
            f"{str(m['name'][k])!r} was evaluated at clock {clock[i]}, {telling.at(int(t[i]))}, after clock "
            f"{clock[i - 1]}; evaluations are {every} clocks apart, and the updates of that many clocks were "
            f"complete at {telling.at(int(_complete(case, clock[i : i + 1])[0]))}"
        )

    return breaks(wrong, tell)


CHECKS = (Check("times of metrics", times), Check("clocks of metrics", moments))

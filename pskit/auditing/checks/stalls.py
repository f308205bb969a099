"""How long starts of computations were held up at the gate."""

import numpy as np

from pskit.auditing import telling
from pskit.auditing.case import SAMPLED, Array, Case
from pskit.auditing.checks.starts import NO_GATE, about
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.groups import SortedGroups


def started_with(case: Case, reads: Array) -> tuple[Array, Array]:
    """Of the lines ``reads`` (n,) those that a start is known of, and its line: twice (m,) int64."""
    s, r = case.columns["starts"], case.reads
    numbers = SortedGroups(s["worker"], s["seq"], case.workers)
    wanted = r["own_upto"][reads].astype(np.int64) - 1
    place = numbers.first(r["worker"][reads], wanted)
    known = place < numbers.start[r["worker"][reads].astype(np.int64) + 1]
    reads, wanted, place = reads[known], wanted[known], place[known]
    same = numbers.value[place] == wanted
    return reads[same], numbers.order[place[same]]


def times(case: Case) -> Finding | str:
    """A worker is at the gate from its GET on, or from when the last of the rows came that it missed."""
    if not case.gated:
        return NO_GATE
    if case.live:
        return "a live client takes in what came earlier"
    if not (case.is_whole("reads") and case.is_whole("messages")):
        return SAMPLED
    s, m = case.columns["starts"], case.messages
    since = s["t_start"] - s["stalled"]
    missed, start = started_with(case, np.flatnonzero(~case.reads["hit"]))
    brought = case.of_kind("reply", "push")
    came = SortedGroups(case.pair(brought), m["t_deliver"][brought], case.clients * case.shards)
    pair = case.read_pair[missed]
    then = came.count(pair, since[start], inclusive=True) > came.count(pair, since[start])
    waits, arrived = np.zeros((2, len(since)), np.bool_)
    waits[start] = True
    arrived[start[then]] = True
    wrong = np.where(waits, ~arrived, s["stalled"] != s["waited"])
    return breaks(
        wrong,
        lambda i: (
            f"{about(case, i)}; it waited {telling.at(int(s['waited'][i]))}, of that at the gate "
            f"{telling.at(int(s['stalled'][i]))}, but "
            + ("no row that it missed came then" if waits[i] else "all rows were in the cache")
        ),
        s["t_start"],
    )


CHECKS = (Check("stalls at the gate", times),)

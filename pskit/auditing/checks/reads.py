"""Every recorded read: what was in the view, against what the protocol promises."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.auditing import telling
from pskit.auditing.case import Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.groups import SortedGroups

Array = npt.NDArray[Any]

EXACT = ("ssp", "essp", "asp")
"""Policies whose copies carry the clock of the very moment at which they have their version."""


def inside_clock(case: Case) -> Finding | str:
    """A read, waiting included, happens during the clock it names."""
    r, windows, place = case.reads, case.windows, case.read_window
    wrong = (place < 0) | (r["t"] - r["waited"] < windows.begin[place]) | (r["t"] > windows.end[place])

    def tell(i: int) -> str:
        if place[i] < 0:
            return (
                f"{telling.read(case, i)}; the worker finished {windows.finished[r['worker'][i]]} clocks only"
            )
        begin, end = (telling.at(int(t[place[i]])) for t in (windows.begin, windows.end))
        return (
            f"{telling.read(case, i)}, after waiting {telling.at(int(r['waited'][i]))}; "
            f"that clock lasted from {begin} to {end}"
        )

    return breaks(wrong, tell, r["t"])


def version_exists(case: Case) -> Finding | str:
    """A version that is read consists of updates applied by then."""
    r, history = case.reads, case.history
    applied = history.applied_at(r["shard"], r["version"] - 1)

    def tell(i: int) -> str:
        count = int(history.count[r["shard"][i]])
        by_then = int(
            np.count_nonzero(history.applied_at(np.full(count, r["shard"][i]), np.arange(count)) <= r["t"][i])
        )
        return f"{telling.read(case, i)}; the shard had applied {by_then} updates by then, {count} ever"

    return breaks(applied > r["t"], tell, r["t"])


def own_exactly_once(case: Case) -> Finding | str:
    """Own updates are re-added from the first one that the copy does not have: no gap, no overlap."""
    r = case.reads
    inside = case.history.newest(r["shard"], r["version"], r["worker"])

    def tell(i: int) -> str:
        own_from, upto, copy = int(r["own_from"][i]), int(r["own_upto"][i]), int(inside[i])
        what, which = ("in twice" if own_from < copy else "lost"), sorted((own_from, copy))
        return telling.lines(
            f"{telling.read(case, i)}; of its own updates that copy has {telling.span(0, copy)}, and "
            f"{telling.span(own_from, upto)} were re-added; {what}: {telling.span(*which)}",
            telling.led_there(case, i),
        )

    return breaks(r["own_from"] != inside, tell, r["t"])


def read_my_writes(case: Case) -> Finding | str:
    """The worker's updates of all its finished clocks and of the current one are in its view."""
    r = case.reads
    if case.gated:
        return _increments_read(case)
    return breaks(
        r["own_upto"] != r["clock"].astype(np.int64) + 1,
        lambda i: (
            f"{telling.read(case, i)}, with its own updates up to number {r['own_upto'][i] - 1} only "
            f"where {r['clock'][i]} is the open one"
        ),
        r["t"],
    )


def _increments_read(case: Case) -> Finding:
    """Where every INC is a unit: those made before a read are in the view, those made after it are not."""
    r, u = case.reads, case.updates
    lines = np.unique(np.stack([u["worker"], u["seq"], u["t_sent"]], axis=1).astype(np.int64), axis=0)
    sent = SortedGroups(lines[:, 0], lines[:, 2], case.workers)
    least, most = (sent.count(r["worker"], r["t"], inclusive=also) + 1 for also in (False, True))
    if not case.finished:  # units under way are in no line: the first one known after a read bounds them
        later = sent.first(r["worker"], r["t"], after=True)
        known = later < sent.start[r["worker"].astype(np.int64) + 1]
        number = np.append(lines[sent.order, 1], 0)[later]
        most = np.where(known, number + 1, r["own_upto"])
    # Units of the very moment may be on either side, but the end of the clock before is always in.
    width = int(max(r["clock"].max(initial=0), u["clock"].max(initial=0))) + 2
    ends = np.full(case.workers * width, -1)
    ends[u["worker"][case.tick].astype(np.int64) * width + u["clock"][case.tick] + 1] = u["seq"][case.tick]
    least = np.maximum(least, ends[r["worker"].astype(np.int64) * width + r["clock"]] + 2)
    wrong = (r["own_upto"] < least) | (r["own_upto"] > most)
    return breaks(
        wrong,
        lambda i: (
            f"{telling.read(case, i)}, with its own updates up to number {r['own_upto'][i] - 1}, where it "
            f"had made those up to {least[i] - 1}, or {most[i] - 1} at that very moment"
        ),
        r["t"],
    )


def guarantee(case: Case) -> Finding | str:
    """A read at clock c contains every update with a tag up to c - slack - 1, of every worker."""
    if case.slack is None:
        return f"{case.policy} has no bound"
    r, slack = case.reads, case.slack
    wrong = r["version"] < case.history.lowest_version(r["shard"], r["clock"].astype(np.int64) - slack)

    def tell(i: int) -> str:
        needed = int(r["clock"][i]) - slack
        return telling.lines(
            f"{telling.read(case, i)}; slack {slack}, so all updates of clocks below {needed} must be in",
            [*telling.lacking(case, i, needed), *telling.led_there(case, i)],
        )

    return breaks(wrong, tell, r["t"])


def bsp_view(case: Case) -> Finding | str:
    """BSP: the copy has the updates of all earlier clocks, and none of the current one or later."""
    if case.policy != "bsp":
        return "only under bsp"
    r = case.reads
    below = case.history.number_below(r["shard"], r["clock"])

    def tell(i: int) -> str:
        return telling.lines(
            f"{telling.read(case, i)}; clocks below {r['clock'][i]} make {below[i]} updates",
            [*telling.lacking(case, i, int(r["clock"][i])), *telling.led_there(case, i)],
        )

    return breaks(r["version"] != below, tell, r["t"])


def true_ages(case: Case) -> Finding | str:
    """The recorded age is that of the copy: its clock is c - age, derived from the updates in it.

    No copy may claim a clock above the derived one. SSP, ESSP and ASP copies carry the clock of the moment at
    which they have their version, so the two are equal; only where the newest update in the copy is the last
    one of a leaver the shard may have sent it before taking the leaver out, with the clock of that moment.
    BSP applies up to the clock and no further, so its ages are 0.
    """
    r, history = case.reads, case.history
    claimed = r["clock"].astype(np.int64) - r["age"]
    version = np.minimum(r["version"], history.count[r["shard"]])
    derived = history.row_clock(r["shard"], version)
    wrong = claimed > derived
    if case.policy in EXACT:
        leaver = history.row_clock_with_leaver(r["shard"], version)
        wrong = (claimed != derived) & (claimed != leaver)
        if case.dead.any():  # several that died at one version are taken out one after the other
            wrong &= (claimed < leaver) | (claimed > derived)
    elif case.policy == "bsp":
        wrong |= r["age"] != 0

    def tell(i: int) -> str:
        more = telling.lacking(case, i, int(claimed[i])) if claimed[i] > derived[i] else []
        return telling.lines(
            f"{telling.read(case, i)}, with age {r['age'][i]}, so row clock {claimed[i]}; "
            f"the updates in that version make it {derived[i]}",
            [*more, *telling.led_there(case, i)],
        )

    return breaks(wrong, tell, r["t"])


def within_slack(case: Case) -> Finding | str:
    """No age is above the slack."""
    if case.slack is None:
        return f"{case.policy} has no bound"
    r = case.reads
    return breaks(
        r["age"] > case.slack,
        lambda i: telling.lines(
            f"{telling.read(case, i)}, with age {r['age'][i]} under slack {case.slack}",
            telling.led_there(case, i),
        ),
        r["t"],
    )


def never_back(case: Case) -> Finding | str:
    """What a worker sees of a row never goes back, neither in version nor in clock."""
    r = case.reads
    row = r["worker"].astype(np.int64) * case.layout.n_rows + case.read_rows
    order = np.lexsort((r["t"], row))
    same = row[order[1:]] == row[order[:-1]]
    clock = r["clock"][order].astype(np.int64) - r["age"][order]
    back = same & ((np.diff(r["version"][order]) < 0) | (np.diff(clock) < 0))
    wrong, before = np.zeros(len(row), np.bool_), np.zeros(len(row), np.int64)
    wrong[order[1:]], before[order[1:]] = back, order[:-1]

    def tell(i: int) -> str:
        j = int(before[i])
        now, then = (f"{telling.read(case, k)}, row clock {r['clock'][k] - r['age'][k]}" for k in (i, j))
        return telling.lines(
            f"{now}; before that, {then}",
            telling.led_there(case, i),
        )

    return breaks(wrong, tell, r["t"])


CHECKS = (
    Check("reads inside their clock", inside_clock),
    Check("BSP view", bsp_view),
    Check("versions exist", version_exists),
    Check("own updates exactly once", own_exactly_once),
    Check("read-my-writes", read_my_writes),
    Check("SSP guarantee", guarantee),
    Check("true ages", true_ages),
    Check("ages within the slack", within_slack),
    Check("versions never go back", never_back),
)

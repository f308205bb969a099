"""The order of clocks and updates, from which everything else is derived."""

import numpy as np

from pskit.auditing import telling
from pskit.auditing.case import UNDER_WAY, Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.groups import SortedGroups


def gapless_clocks(case: Case) -> Finding | str:
    """Every worker finishes the clocks 0, 1, 2, ..., each once."""
    c = case.clocks
    by_worker = SortedGroups(c["worker"], c["clock"], case.workers)
    expected = np.arange(len(by_worker.group)) - by_worker.start[by_worker.group]

    def tell(i: int) -> str:
        worker, clock = by_worker.group[i], by_worker.value[i]
        return f"worker {worker} finished clock {clock} where clock {expected[i]} is next"

    return breaks(by_worker.value != expected, tell, c["t_end"][by_worker.order])


def exactly_once(case: Case) -> Finding | str:
    """Every shard numbers what it applies 0, 1, 2, ..., each number once."""
    u = case.updates
    by_shard = SortedGroups(u["shard"], u["apply_index"], case.shards)
    expected = np.arange(len(by_shard.group)) - by_shard.start[by_shard.group]

    def tell(i: int) -> str:
        return f"{telling.update(case, int(by_shard.order[i]))}, but number {expected[i]} is next"

    return breaks(by_shard.value != expected, tell, u["t_applied"][by_shard.order])


def in_order(case: Case) -> Finding | str:
    """Every shard applies the updates 0, 1, 2, ... of a worker in order, each once, tagged with its clock."""
    u = case.updates
    owner = u["shard"].astype(np.int64) * case.workers + u["worker"]
    by_owner = SortedGroups(owner, u["apply_index"], case.shards * case.workers)
    if case.gated:
        return _in_order_by_increment(case, by_owner)
    expected = np.arange(len(owner)) - by_owner.start[by_owner.group]
    seq, clock = u["seq"][by_owner.order], u["clock"][by_owner.order]

    def tell(i: int) -> str:
        said = f"{telling.update(case, int(by_owner.order[i]))}: it is unit {seq[i]} of the worker"
        return f"{said}, but unit {expected[i]}, that of clock {expected[i]}, is next"

    return breaks((seq != expected) | (clock != expected), tell, u["t_applied"][by_owner.order])


def _in_order_by_increment(case: Case, by_owner: SortedGroups) -> Finding:
    """The numbers of a worker's updates rise on every shard, and its clock with the ticks there."""
    u, order = case.updates, by_owner.order
    seq, clock, tick = (values[order] for values in (u["seq"], u["clock"], case.tick))
    first = by_owner.start[by_owner.group]
    before = np.concatenate([[0], np.cumsum(tick)])
    expected = before[: len(tick)] - before[first]
    wrong = clock != expected
    wrong[1:] |= (by_owner.group[1:] == by_owner.group[:-1]) & (np.diff(seq) <= 0)

    def tell(i: int) -> str:
        said = f"{telling.update(case, int(order[i]))}: it is unit {seq[i]} of the worker"
        newest = f", after unit {seq[i - 1]}" if i > first[i] else ""
        return f"{said}{newest}, and the shard has got the ends of {expected[i]} of its clocks"

    return breaks(wrong, tell, u["t_applied"][order])


def every_unit(case: Case) -> Finding | str:
    """Where every INC is a unit, the units of a worker are 0, 1, 2, ..., each on some shard, ticks on all."""
    if not case.gated:
        return "only where updates leave at INC"
    if not case.finished:  # shards get units of their own, and an earlier one may be slower
        return UNDER_WAY
    u = case.updates
    pairs = np.unique(np.stack([u["worker"], u["seq"]], axis=1), axis=0)
    by_worker = SortedGroups(pairs[:, 0], pairs[:, 1], case.workers)
    expected = np.arange(len(by_worker.group)) - by_worker.start[by_worker.group]

    def tell(i: int) -> str:
        return (
            f"unit {by_worker.value[i]} of worker {by_worker.group[i]} was applied, but no unit {expected[i]}"
        )

    return breaks(by_worker.value != expected, tell)


CHECKS = (
    Check("clocks are gapless", gapless_clocks),
    Check("applied exactly once", exactly_once),
    Check("applied in order", in_order),
    Check("every unit is applied", every_unit),
)

"""Views and gradients of a convex run: the values, against the integers of all other tables."""

from typing import NamedTuple

import numpy as np

from pskit.auditing import telling
from pskit.auditing.case import Array, Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.groups import SortedGroups

NONE = "the run recorded no views"
ROUNDING = 1e-12


class _Element(NamedTuple):
    """What a number in a line of views or gradients stands for: (width,) each."""

    row: Array  # global
    table: Array


def _elements(case: Case) -> _Element:
    cols = np.array([t.cols for t in case.layout.tables])
    table = np.repeat(np.arange(len(cols)), [t.rows for t in case.layout.tables])
    per_row = cols[table]
    return _Element(np.repeat(np.arange(case.layout.n_rows), per_row), np.repeat(table, per_row))


class Steps:
    """What every update unit of a worker adds: minus step times gradient, or nothing.

    A unit that was still under way when a run was stopped is among them: its worker knew it, no shard did.

    Attributes
    ----------
    update : (n, width) float64
        By line of ``gradients``.
    upto : int
        Above every unit that adds something.
    """

    def __init__(self, case: Case) -> None:
        gradients = case.columns["gradients"]
        self.update: Array = -gradients["eta"][:, None] * gradients["g"]
        unit = gradients["clock"].astype(np.int64)
        if case.gated:  # every INC is a unit of its own, and so is the tick that ends its clock
            by_clock = SortedGroups(gradients["worker"], unit, case.workers)
            unit[by_clock.order] += np.arange(len(unit)) - by_clock.start[by_clock.group]
        self._units = SortedGroups(gradients["worker"], unit, case.workers)
        self.upto = int(unit.max(initial=-1)) + 1

    def find(self, worker: Array, unit: Array) -> Array:
        """Line of ``gradients`` of each ``unit`` of ``worker``, -1 where it adds nothing: int64."""
        units = self._units
        if not len(units.value):
            return np.full(np.broadcast_shapes(worker.shape, unit.shape), -1)
        place = units.first(worker, unit)
        there = place < units.start[worker + 1]
        place = np.where(there, place, 0)
        return np.where(there & (units.value[place] == unit), units.order[place], -1)


def _made(case: Case, steps: Steps) -> tuple[Array, Array]:
    """The update of every line of ``updates``, (n, width), and whether its step was recorded, (n,) bool.

    In the order of application, shard by shard; numbers of other shards' rows are 0.
    """
    u, order = case.updates, case.history.order
    found = steps.find(u["worker"][order], u["seq"][order])
    mine = _elements(case).row % case.shards == u["shard"][order][:, None]
    made = np.zeros(mine.shape)
    here = mine & (found >= 0)[:, None]
    line, number = np.nonzero(here)
    made[here] = steps.update[found[line], number]
    return made, found >= 0


def gradients_are_updates(case: Case) -> Finding | str:
    """Every update is minus step times gradient, as its norms show; an update without one is empty."""
    if "gradients" not in case.columns:
        return NONE
    order, (made, recorded) = case.history.order, _made(case, Steps(case))
    # Tables of single precision round what they take.
    rounding = max(1e-6 if d.itemsize < 8 else ROUNDING for d in case.layout.dtypes)
    u = case.updates
    l2, linf = np.linalg.norm(made, axis=1), np.abs(made).max(axis=1, initial=0.0)
    said, largest = u["l2"][order], u["linf"][order]
    # Where squares overflow the largest entry alone tells.
    squared = np.isfinite(l2) & np.isfinite(said)
    wrong = np.zeros(len(l2), np.bool_)
    wrong[squared] = np.abs(l2[squared] - said[squared]) > rounding * said[squared]
    wrong |= ~(np.abs(linf - largest) <= rounding * largest)
    wrong &= ~case.dead[u["worker"][order]]  # its gradients are not in the trace

    def tell(i: int) -> str:
        line = int(order[i])
        what = (
            f"step and gradient make it one of norm {l2[i]:g}, largest entry {linf[i]:g}"
            if recorded[i]
            else "no gradient was recorded for that clock"
        )
        return (
            f"{telling.update(case, line)}, norm {u['l2'][line]:g}, largest entry {u['linf'][line]:g}; {what}"
        )

    return breaks(wrong, tell, case.history.t_applied)


def views_decode(case: Case) -> Finding | str:
    """A view is the start, plus the updates of its version in order, plus the own ones re-added in order."""
    if "views" not in case.columns:
        return NONE
    if not case.is_whole("reads"):
        return "only a sample of the reads was recorded"
    if case.dead.any():
        return "a client died, and with it what it recorded of its gradients"
    views, element = case.columns["views"], _elements(case)
    lines = _lines_of(case)
    there = lines[:, 0] >= 0
    decoded = np.full(views["x"].shape, np.nan)
    decoded[there] = _decoded(case, lines[there][:, element.row], element)
    same = (decoded == views["x"]) | (np.isnan(decoded) & np.isnan(views["x"]))  # infinities may cancel
    wrong = ~(there & same.all(axis=1))

    def tell(i: int) -> str:
        who = f"worker {views['worker'][i]} at clock {views['clock'][i]}, {telling.at(int(views['t'][i]))}"
        if not there[i]:
            return f"{who}: a view was recorded, but no read of all rows"
        e = int(np.argmin(same[i]))
        read = int(lines[i, element.row[e]])
        return telling.lines(
            f"{telling.read(case, read)}; its view has {float(views['x'][i, e])!r} as number {e}, start and "
            f"updates make it {float(decoded[i, e])!r}",
            telling.led_there(case, read),
        )

    return breaks(wrong, tell, views["t"])


def _lines_of(case: Case) -> Array:
    """Lines of the reads that belong to each view, by global row: (n, rows) int64, -1 without."""
    r, views, rows = case.reads, case.columns["views"], case.layout.n_rows
    order = np.lexsort((case.read_rows, r["t"], r["clock"], r["worker"]))
    keys = np.stack([r[name][order].astype(np.int64) for name in ("worker", "clock", "t")], axis=1)
    first = np.flatnonzero(np.concatenate([[True], (np.diff(keys, axis=0) != 0).any(axis=1)])[: len(keys)])
    size = np.diff(np.append(first, len(keys)))
    place = {tuple(keys[a]): int(a) for a, n in zip(first.tolist(), size.tolist(), strict=True) if n == rows}
    wanted = zip(*(views[name].tolist() for name in ("worker", "clock", "t")), strict=True)
    begin = np.array([place.get(key, -1) for key in wanted], np.int64)
    lines = np.full((len(begin), rows), -1)
    lines[begin >= 0] = order[begin[begin >= 0, None] + np.arange(rows)]
    return lines


def _decoded(case: Case, line: Array, element: _Element) -> Array:
    """Views from the trace: ``line`` (n, width) has the read of every number of a view."""
    own = Steps(case)
    made, _ = _made(case, own)
    start, r = case.history.start, case.reads
    version, own_from = r["version"][line], r["own_from"][line].astype(np.int64)
    upto, worker = r["own_upto"][line[:, 0]].astype(np.int64), r["worker"][line[:, 0]].astype(np.int64)
    decoded = np.empty(line.shape)
    for j, table in np.unique(np.stack([element.row % case.shards, element.table]), axis=1).T.tolist():
        mine = np.flatnonzero((element.row % case.shards == j) & (element.table == table))
        dtype = case.layout.dtypes[table]
        initial = case.tables[f"initial:{case.layout.tables[table].name}"].ravel()
        first = int(np.flatnonzero(element.table == table)[0])
        steps = made[start[j] : start[j + 1], mine].astype(dtype)
        sums = np.cumsum(np.concatenate([initial[None, mine - first], steps]), axis=0, dtype=dtype)
        index = np.minimum(version[:, mine], len(steps))
        values = sums[index, np.arange(len(mine))]
        # Own units, without the open one, one by one: summed first they differ in the last bit.
        begin, end = own_from[:, mine], np.minimum(upto - 1, own.upto)[:, None]
        for k in range(int((end - begin).max(initial=0))):
            at = own.find(worker[:, None], begin + k)
            here = (begin + k < end) & (at >= 0)
            add = own.update[np.where(here, at, 0), mine].astype(dtype)
            values = np.where(here, values + add, values)
        decoded[:, mine] = values
    return decoded


def ids(case: Case) -> Finding | str:
    """Views and gradients name a worker of the run and a clock, and have a number for every entry."""
    if "views" not in case.columns or "gradients" not in case.columns:
        return NONE
    width = len(_elements(case).row)
    kinds = [("views", "x"), ("gradients", "g")]
    wrong = []
    for name, matrix in kinds:
        lines = case.columns[name]
        outside = (lines["worker"] < 0) | (lines["worker"] >= case.workers) | (lines["clock"] < 0)
        wrong.append(outside | (lines[matrix].shape[1] != width))
    split = len(wrong[0])

    def tell(i: int) -> str:
        name, matrix = kinds[i >= split]
        lines, k = case.columns[name], i - split * (i >= split)
        return (
            f"line {k} of {name}: worker {lines['worker'][k]}, clock {lines['clock'][k]}, "
            f"{lines[matrix].shape[1]} numbers; the run has {case.workers} workers and {width} entries"
        )

    return breaks(np.concatenate(wrong), tell)


IDS = (Check("ids of views and gradients", ids),)
CHECKS = (
    Check("gradients are the updates", gradients_are_updates),
    Check("views decode", views_decode),
)

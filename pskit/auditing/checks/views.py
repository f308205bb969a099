"""Views and gradients of a convex run: the values, against the integers of all other tables."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.auditing import telling
from pskit.auditing.case import Array, Case
from pskit.auditing.findings import Check, Finding, breaks

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


def _made(case: Case) -> tuple[Array, Array]:
    """The update of every line of ``updates``, (n, width), and whether its step was recorded, (n,) bool.

    In the order of application, shard by shard; numbers of other shards' rows are 0.
    """
    gradients, u = case.columns["gradients"], case.updates
    width = int(max(gradients["clock"].max(initial=0), u["clock"].max(initial=0))) + 1
    line = np.full(case.workers * width, -1)
    line[gradients["worker"].astype(np.int64) * width + gradients["clock"]] = np.arange(len(gradients["eta"]))
    order = case.history.order
    found = line[u["worker"][order].astype(np.int64) * width + u["clock"][order]]
    if case.gated:  # the INC is a unit of its own, and the tick after it is empty
        found[case.tick[order]] = -1
    updates = (
        -gradients["eta"][found, None] * gradients["g"][found]
        if len(gradients["eta"])
        else np.zeros((len(order), case.columns["views"]["x"].shape[1]))
    )
    mine = _elements(case).row % case.shards == u["shard"][order][:, None]
    return np.where(mine & (found >= 0)[:, None], updates, 0.0), found >= 0


def gradients_are_updates(case: Case) -> Finding | str:
    """Every update is minus step times gradient, as its norms show; an update without one is empty."""
    if "gradients" not in case.columns:
        return NONE
    order, (made, recorded) = case.history.order, _made(case)
    # Tables of single precision round what they take.
    rounding = max(1e-6 if d.itemsize < 8 else ROUNDING for d in case.layout.dtypes)
    u = case.updates
    l2, linf = np.linalg.norm(made, axis=1), np.abs(made).max(axis=1, initial=0.0)
    wrong = np.abs(l2 - u["l2"][order]) > rounding * u["l2"][order]
    wrong |= np.abs(linf - u["linf"][order]) > rounding * u["linf"][order]
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
    wrong = ~there | (decoded != views["x"]).any(axis=1)

    def tell(i: int) -> str:
        who = f"worker {views['worker'][i]} at clock {views['clock'][i]}, {telling.at(int(views['t'][i]))}"
        if not there[i]:
            return f"{who}: a view was recorded, but no read of all rows"
        e = int(np.argmax(decoded[i] != views["x"][i]))
        read = int(lines[i, element.row[e]])
        return telling.lines(
            f"{telling.read(case, read)}; its view has {views['x'][i, e]!r} as number {e}, start and updates "
            f"make it {decoded[i, e]!r}",
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
    made, _ = _made(case)
    start, r = case.history.start, case.reads
    version, own_from = r["version"][line], r["own_from"][line].astype(np.int64)
    upto, worker = r["own_upto"][line[:, 0]].astype(np.int64), r["worker"][line[:, 0]].astype(np.int64)
    decoded, position = np.empty(line.shape), _positions(case)
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
        places = case.history.by_owner.start[j * case.workers + worker]
        begin = case.history.numbered_below(j, worker[:, None], own_from[:, mine])
        end = case.history.numbered_below(j, worker, upto - 1)[:, None]
        for k in range(int((end - begin).max(initial=0))):
            unit = begin + k
            here = unit < end
            at = position[np.where(here, places[:, None] + unit, 0)]
            add = made[at, mine].astype(dtype)
            values = np.where(here, values + add, values)
        decoded[:, mine] = values
    return decoded


def _positions(case: Case) -> npt.NDArray[np.int64]:
    """Place in the order of application of each line in the order of owners."""
    place = np.empty(len(case.history.order), np.int64)
    place[case.history.order] = np.arange(len(place))
    return np.asarray(place[case.history.by_owner.order])


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

"""Updates of a sample of rows, recorded of applications that are not convex: norms, and final tables."""

import numpy as np

from pskit.auditing import telling
from pskit.auditing.case import UNDER_WAY, Array, Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.trace.steps import sampled_rows

NONE = "the run recorded no updates of rows"
DEAD = "a client died, and with it what it recorded of its updates"
ROUNDING = 1e-9
TINY = 1e-140
EXACT = 2.0**53
"""Integers from here on may not be what was added."""


def _said(case: Case, i: int) -> str:
    lines = case.columns["row_updates"]
    where = ", ".join(f"{name} {lines[name][i]}" for name in ("worker", "clock", "table", "row"))
    return f"line {i} of row_updates ({where})"


def ids(case: Case) -> Finding | str:
    """Updates of rows name a worker, and a row of the sample that the seed gives, once in each clock."""
    if "row_updates" not in case.columns:
        return NONE
    lines, layout = case.columns["row_updates"], case.layout
    size = np.array([t.rows for t in layout.tables])
    table = np.minimum(lines["table"], len(size) - 1)
    wrong = (lines["worker"] < 0) | (lines["worker"] >= case.workers) | (lines["clock"] < 0)
    wrong |= (lines["table"] >= len(size)) | (lines["row"] < 0) | (lines["row"] >= size[table])
    row = layout.offsets[table] + lines["row"]
    wrong |= ~np.isin(row, sampled_rows(layout.n_rows, case.manifest["seed"]))
    wrong |= ~np.isfinite(lines["u"]).all(axis=1)
    cols = np.array([t.cols for t in layout.tables])[table]
    wrong |= ((lines["u"] != 0) & (np.arange(lines["u"].shape[1]) >= cols[:, None])).any(axis=1)
    key = np.stack([lines["worker"], lines["clock"], row], axis=1)
    again = np.ones(len(key), np.bool_)
    again[np.unique(key, axis=0, return_index=True)[1]] = False
    return breaks(wrong | again, lambda i: f"{_said(case, i)} does not fit this run")


def _applied(case: Case) -> tuple[Array, Array]:
    """Global row of each line of ``row_updates``, and its line of ``updates``, -1 where never applied."""
    lines, history = case.columns["row_updates"], case.history
    row = case.layout.offsets[lines["table"]] + lines["row"].astype(np.int64)
    shard, worker = row % case.shards, lines["worker"].astype(np.int64)
    there = lines["clock"] < history.units[shard, worker]
    place = history.by_owner.start[shard * case.workers + worker] + lines["clock"]
    if not len(history.by_owner.order):
        return row, np.full(len(row), -1)
    return row, np.where(there, history.by_owner.order[np.where(there, place, 0)], -1)


def norms(case: Case) -> Finding | str:
    """No update is smaller than it is on the sampled rows; where all rows of a shard are, it is no larger."""
    if "row_updates" not in case.columns:
        return NONE
    u, value = case.updates, case.columns["row_updates"]["u"]
    _, line = _applied(case)
    here = line >= 0
    squares, linf = np.zeros((2, len(u["l2"])))
    np.add.at(squares, line[here], (value[here] ** 2).sum(axis=1))
    np.maximum.at(linf, line[here], np.abs(value[here]).max(axis=1))
    l2 = np.sqrt(squares)
    sampled = np.zeros(case.layout.n_rows, np.bool_)
    sampled[sampled_rows(case.layout.n_rows, case.manifest["seed"])] = True
    whole = np.array([sampled[j :: case.shards].all() for j in range(case.shards)])[u["shard"]]
    whole &= ~case.dead[u["worker"]]  # its lines are not in the trace
    usual = np.isfinite(l2) & np.isfinite(u["l2"]) & (linf > TINY)
    wrong = (linf > u["linf"] * (1 + ROUNDING)) | (usual & (l2 > u["l2"] * (1 + ROUNDING)))
    wrong |= whole & ((linf < u["linf"] * (1 - ROUNDING)) | (usual & (l2 < u["l2"] * (1 - ROUNDING))))
    return breaks(
        wrong,
        lambda i: (
            f"{telling.update(case, i)}; it has norm {u['l2'][i]:.9g}, largest entry {u['linf'][i]:.9g}; on "
            f"{'its' if whole[i] else 'the sampled'} rows that is {l2[i]:.9g} and {linf[i]:.9g}"
        ),
        u["t_applied"],
    )


def final(case: Case) -> Finding | str:
    """A sampled row ends as its start with its updates, in the order of application: to the last bit."""
    if "row_updates" not in case.columns:
        return NONE
    if not case.ended:
        return UNDER_WAY
    if case.dead.any():
        return DEAD
    value, index = case.columns["row_updates"]["u"], case.updates["apply_index"]
    row, line = _applied(case)
    rows = sampled_rows(case.layout.n_rows, case.manifest["seed"])
    table = np.searchsorted(case.layout.offsets, rows, side="right") - 1
    wrong, said = np.zeros(len(rows), np.bool_), []
    for i, (r, k) in enumerate(zip(rows.tolist(), table.tolist(), strict=True)):
        spec, local = case.layout.tables[k], r - int(case.layout.offsets[k])
        initial, end = (case.tables[f"{which}:{spec.name}"][local] for which in ("initial", "final"))
        mine = np.flatnonzero((row == r) & (line >= 0))
        mine = mine[np.argsort(index[line[mine]], kind="stable")]
        added = value[mine, : spec.cols]
        again = np.cumsum(np.concatenate([initial[None], added.astype(end.dtype)]), axis=0, dtype=end.dtype)[
            -1
        ]
        same = (again == end) | (np.isnan(again) & np.isnan(end)) if end.dtype.kind == "f" else again == end
        known = end.dtype.kind == "f" or bool((np.abs(added) < EXACT).all())
        wrong[i] = known and not same.all()
        said.append((spec.name, local, again, end))

    def tell(i: int) -> str:
        name, local, again, end = said[i]
        return (
            f"table {name!r}, row {local}: start and updates make it {again.tolist()}, it ended as "
            f"{end.tolist()}"
        )

    return breaks(wrong, tell)


IDS = (Check("ids of row updates", ids),)
CHECKS = (Check("row updates within norms", norms),)
END = (Check("sampled rows add up", final),)

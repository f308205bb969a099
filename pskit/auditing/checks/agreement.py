"""What starts of computations of a convex run say, against its views and gradients, which say it again."""

import numpy as np

from pskit.auditing.case import Array, Case
from pskit.auditing.checks.starts import CLOSE, NO_GATE, about
from pskit.auditing.checks.views import NONE, Steps
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.groups import SortedGroups
from pskit.trace.starts import entries


def _of_starts(case: Case, table: str) -> Array:
    """Line of ``views`` or ``gradients`` of the same worker and clock as each start, -1 without: int64."""
    s, lines = case.columns["starts"], case.columns[table]
    by_worker = SortedGroups(lines["worker"], lines["clock"], case.workers)
    place = by_worker.first(s["worker"], s["clock"])
    there = place < by_worker.start[s["worker"].astype(np.int64) + 1]
    if not len(by_worker.value):
        return np.full(len(s["t"]), -1)
    place = np.where(there, place, 0)
    return np.where(there & (by_worker.value[place] == s["clock"]), by_worker.order[place], -1)


def values(case: Case) -> Finding | str:
    """The entries that a start read are those of its view, its updates minus step times gradient: exactly."""
    if not case.gated:
        return NO_GATE
    if "views" not in case.columns or "gradients" not in case.columns:
        return NONE
    e = case.columns["start_values"]
    start, number = e["t"] - 1, entries(dict(e), case.layout)
    said = []
    for table, matrix, name in (
        ("views", case.columns["views"]["x"], "view"),
        ("gradients", Steps(case).update, "update"),
    ):
        line = _of_starts(case, table)[start]
        known = line >= 0
        again = np.full(len(number), np.nan)
        again[known] = matrix[line[known], number[known]]
        for i, dtype in enumerate(case.layout.dtypes):  # what is added to a table of single precision
            mine = e["table"] == i
            again[mine] = again[mine].astype(dtype)
        same = (e[name] == again) | (np.isnan(e[name]) & np.isnan(again))
        said.append((name, again, known & ~same))
    split = len(number)

    def tell(i: int) -> str:
        name, again, _ = said[i >= split]
        k = i % split
        return (
            f"{about(case, int(start[k]))}; its {name} has {float(e[name][k])!r} in row {e['row'][k]}, "
            f"column {e['col'][k]} of table {case.layout.tables[e['table'][k]].name!r}, the table of "
            f"{name.replace('update', 'gradient')}s makes it {float(again[k])!r}"
        )

    return breaks(np.concatenate([wrong for _, _, wrong in said]), tell, np.concatenate([e["t"], e["t"]]))


def reservations(case: Case) -> Finding | str:
    """A computation reserves its step times L_inf, the largest entry that a gradient can have."""
    if not case.gated:
        return NO_GATE
    if "gradients" not in case.columns:
        return NONE
    largest = case.manifest.get("convex", {}).get("L_inf")
    if largest is None or not case.manifest["gate"]["reserves"]:
        return "nothing is reserved"
    if ":" in case.manifest["config"]["app"]["name"]:
        return "an application of one's own may reserve more"
    s, line = case.columns["starts"], _of_starts(case, "gradients")
    known = np.flatnonzero(line >= 0)
    expected = case.columns["gradients"]["eta"][line[known]] * largest
    wrong = np.abs(s["reservation"][known] - expected) > CLOSE * expected
    return breaks(
        wrong,
        lambda i: f"{about(case, int(known[i]))}; its step and L_inf make that {expected[i]:.9g}",
        s["t_start"][known],
    )


CHECKS = (Check("values of starts", values), Check("reservations of starts", reservations))

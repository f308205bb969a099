"""The end of the run: the tables, and what identifies the result."""

import numpy as np

from pskit.auditing import telling
from pskit.auditing.case import UNDER_WAY, Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.trace.hashing import run_value_hash


def end_state(case: Case) -> Finding | str:
    """Final table = initial + sum of all INCs: exactly for integers, to rounding for floats.

    A sum of n floats that never exceeds M in magnitude is off by at most n eps M, whatever the order. M is
    here the initial entry plus the largest entries of all updates, n the number of updates of the table's
    shards, and there are two sums, of which one may start at 0: 4 n eps M leaves room for a few INCs of a
    clock to one entry, which cancel.
    """
    if not case.ended:
        return UNDER_WAY
    largest = np.bincount(case.updates["shard"], case.updates["linf"], minlength=case.shards)
    wrong, said = [], []
    for spec, offset in zip(case.layout.tables, case.layout.offsets, strict=False):
        initial, incs, final = (case.tables[f"{which}:{spec.name}"] for which in ("initial", "incs", "final"))
        if final.dtype.kind == "i":
            allowed = np.zeros(final.shape)
            off = final != initial + incs  # in the table's own integers, which wrap around
        else:
            shard = (offset + np.arange(spec.rows)) % case.shards
            scale = np.abs(initial, dtype=np.float64) + largest[shard][:, None]
            allowed = 4 * case.history.count[shard][:, None] * np.finfo(final.dtype).eps * scale
            off = np.abs(final.astype(np.float64) - initial - incs)
        wrong.append((~(off <= allowed) | ~np.isfinite(allowed)).ravel())  # a NaN is wrong, too
        said.append((spec.name, initial, incs, final, allowed))
    sizes = np.cumsum([0, *(len(w) for w in wrong)])

    def tell(i: int) -> str:
        table = int(np.searchsorted(sizes, i, side="right")) - 1
        name, initial, incs, final, allowed = said[table]
        row, col = divmod(int(i - sizes[table]), initial.shape[1])
        room = allowed[row, col]
        why = f"rounding may make {room:.3g}" if np.isfinite(room) else "no sum says where such an entry ends"
        return (
            f"table {name!r}, row {row}, column {col}: it began as {initial[row, col]}, all INCs add up to "
            f"{incs[row, col]}, but it ended as {final[row, col]} ({why})"
        )

    return breaks(np.concatenate(wrong), tell)


def end_time(case: Case) -> Finding | str:
    """The run ends when the last worker leaves the last shard; if it was stopped, after all that happened."""
    if case.ended:
        last = int(case.members["t"].max(initial=0))
        wrong = case.emulated != last
    elif case.live:
        return "the run was stopped, and its processes noticed that at different times"
    else:
        events = (
            (case.reads, "t"), (case.updates, "t_applied"), (case.clocks, "t_end"), (case.members, "t"),
            (case.columns["metrics"], "t"), (case.columns["faults"], "t"),
        )  # fmt: skip
        last = max(int(columns[name].max(initial=0)) for columns, name in events)
        wrong = case.emulated < last
    return breaks(
        np.array([wrong]),
        lambda _: (
            f"the manifest says that the run took {telling.at(case.emulated)}, its last event was at "
            f"{telling.at(last)}"
        ),
    )


def value_hash(case: Case) -> Finding | str:
    """The value hash is that of the final tables and losses in the trace."""
    said = case.manifest["value_hash"]
    found = run_value_hash(case.tables, case.columns["metrics"])
    return breaks(
        np.array([said != found]),
        lambda _: f"the manifest says {said}, final tables and losses of the trace give {found}",
    )


TIME = (Check("end of the run", end_time),)
CHECKS = (
    Check("end state", end_state),
    Check("value hash", value_hash),
)

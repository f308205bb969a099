"""What starts of computations saw, and what they had not seen, against the updates of all computations."""

import numpy as np

from pskit.auditing.case import Array, Case
from pskit.auditing.checks.stalls import started_with
from pskit.auditing.checks.starts import CLOSE, NO_GATE, about, rounding
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.transit import Lacking
from pskit.trace.starts import references

DEAD = "a client died, and with it what it recorded of its starts"


def whole(case: Case) -> Finding | str:
    """Of every start whose values were kept there is one for every entry that it read."""
    if not case.gated:
        return NO_GATE
    if not case.is_whole("reads"):
        return "only a sample of the reads was recorded"
    if not all(np.isfinite(case.tables[f"final:{t.name}"]).all() for t in case.layout.tables):
        return "some values are no numbers, and look like none"
    s, e = case.columns["starts"], case.columns["start_values"]
    cols = np.array([t.cols for t in case.layout.tables])
    reads, start = started_with(case, np.arange(len(case.reads["t"])))
    wanted = np.zeros(len(s["t"]), np.int64)
    np.add.at(wanted, start, cols[case.reads["table"][reads]])
    there = np.bincount(e["t"][~np.isnan(e["view"])] - 1, minlength=len(wanted))
    wrong = ~np.isnan(s["distance"]) & (there != wanted)
    return breaks(
        wrong,
        lambda i: f"{about(case, i)}; it read {wanted[i]} entries, of which {there[i]} have a value",
        s["t_start"],
    )


def views(case: Case) -> Finding | str:
    """The view of start t is x^_t without the updates of others that its copies lack, to rounding."""
    if not case.gated:
        return NO_GATE
    if case.dead.any():
        return DEAD
    e, lacking = case.columns["start_values"], case.transit.unmade()
    initial = {t.name: case.tables[f"initial:{t.name}"] for t in case.layout.tables}
    line, start = lacking.line, e["t"][lacking.line] - 1
    expected = references(dict(e), case.layout, initial)[line] - lacking.total
    wrong = np.abs(e["view"][line] - expected) > rounding(case)[start] + CLOSE * lacking.scale

    def tell(i: int) -> str:
        k = int(line[i])
        table = case.layout.tables[e["table"][k]].name
        return (
            f"{about(case, int(start[i]))}; it read {float(e['view'][k])!r} in row {e['row'][k]}, column "
            f"{e['col'][k]} of table {table!r}, the updates in its copy make it {float(expected[i])!r}"
        )

    return breaks(wrong, tell, e["t"][line])


def unseen(case: Case) -> Finding | str:
    """What a worker had not seen at its start is the norm of what others had made, and its copies lacked."""
    if not case.gated:
        return NO_GATE
    if case.live:
        return "every process has a clock of its own, and the order of what they did at once is not recorded"
    if case.dead.any():
        return DEAD
    s, transit = case.columns["starts"], case.transit
    # An update of the very moment of a start may have been made before it or after it.
    options = [_norms(case, transit.unseen(ties)) for ties in (False, True)]
    tied = transit.tied()
    off = np.all([np.abs(s["unseen"] - norm) > CLOSE * scale for norm, scale, _ in options], axis=0)
    checked = np.flatnonzero(options[0][2] & options[1][2] & (tied <= 1))

    def tell(i: int) -> str:
        k = int(checked[i])
        without, with_it = (float(norm[k]) for norm, _, _ in options)
        tie = f", or {with_it:.9g} with that of the very moment" if tied[k] else ""
        return f"{about(case, k)}; the updates make the unseen {without:.9g}{tie}"

    return breaks(np.asarray(off)[checked], tell, s["t_start"][checked])


def _norms(case: Case, lacking: Lacking) -> tuple[Array, Array, Array]:
    """Norm of what each start lacked, what was added up for it, and whether all it read is known."""
    e, number = case.columns["start_values"], len(case.columns["starts"]["t"])
    by_producer = case.manifest["config"]["ps"]["vap_variant"] == "per_worker"
    norm, scale = np.zeros((2, number))
    start = e["t"][lacking.line] - 1
    np.maximum.at(norm, start, lacking.largest if by_producer else np.abs(lacking.total))
    np.maximum.at(scale, start, lacking.scale)
    of_read = np.bincount(e["t"][~np.isnan(e["view"])] - 1, minlength=number)
    known = (np.bincount(start, minlength=number) == of_read) & (of_read > 0)
    return norm, scale, known


CHECKS = (
    Check("values are whole", whole),
    Check("views of starts", views),
    Check("unseen at the gate", unseen),
)

"""What starts of computations saw, reserved and waited for, where another table says it again."""

import numpy as np

from pskit.auditing.case import Case
from pskit.trace.starts import references
from tests.auditing.corruptions.planting import Faults

TRANSIT = Faults()


@TRANSIT.fault("a view of a start is off by its last bit", "values of starts", "absolute, vap")
def _(draft):
    view = draft["start_values"]["view"]
    view[40] = np.nextafter(view[40], np.inf)


@TRANSIT.fault("a view of a start is left out", "values of starts", "absolute, vap")
def _(draft):
    draft["start_values"]["view"][40] = np.nan


@TRANSIT.fault("an update of a start is off by its last bit", "values of starts", "absolute, vap")
def _(draft):
    update = draft["start_values"]["update"]
    line = int(np.flatnonzero(update)[-1])
    update[line] = np.nextafter(update[line], 0)


@TRANSIT.fault("a start reserves one per mille too much", "reservations of starts", "absolute, vap")
def _(draft):
    draft["starts"]["reservation"][-1] *= 1.001  # nobody starts while the last one computes


def _unobtrusive(draft, step):
    """A line of the values whose view may change by ``step`` and is still not the one farthest off."""
    case, e = Case(draft.manifest, draft.columns, draft.tables), draft["start_values"]
    initial = {t.name: draft.tables[f"initial:{t.name}"] for t in case.layout.tables}
    off = np.abs(e["view"] - references(e, case.layout, initial))
    lines = case.transit.unmade().line
    return lines[np.flatnonzero(off[lines] + step < case.off_reference[e["t"][lines] - 1])[-1]]


@TRANSIT.fault("a view is wrong, and others of its start are farther off", "views of starts", "vap")
def _(draft):
    draft["start_values"]["view"][_unobtrusive(draft, 1e-6)] += 1e-6


@TRANSIT.fault("a value that was read is not there", "values are whole", "vap")
def _(draft):
    draft["start_values"]["view"][_unobtrusive(draft, 0.0)] = np.nan


@TRANSIT.fault("a start has not seen a tenth of a per mille more", "unseen at the gate", "absolute, vap")
def _(draft):
    s = draft["starts"]
    busy = (s["unseen"] > 0) & (s["others"] > 0) & (s["unseen"] * 1.0001 + s["others"] <= s["v"])
    s["unseen"][np.flatnonzero(busy)[0]] *= 1.0001


@TRANSIT.fault("a producer's unseen sum is another one", "unseen at the gate", "vap, each worker's")
def _(draft):
    s = draft["starts"]
    line = int(np.flatnonzero((s["unseen"] > 0) & (s["unseen"] * 1.0001 <= s["v"]))[0])
    s["unseen"][line] *= 1.0001


@TRANSIT.fault("the others in flight have reserved a tenth of a per mille more", "gate of VAP", "vap")
def _(draft):
    s = draft["starts"]
    s["others"][np.flatnonzero(s["others"] > 0)[-1]] *= 1.0001


@TRANSIT.fault("nobody is said to have been in flight", "gate of VAP", "absolute, vap")
def _(draft):
    s = draft["starts"]
    s["others"][np.flatnonzero(s["others"] > 0)[0]] = 0


@TRANSIT.fault("the last computation is over later than its clock", "spans of computations", "vap")
def _(draft):
    draft["starts"]["t_over"][-1] += 1


@TRANSIT.fault("a worker whose rows were all there was not at the gate", "stalls at the gate", "vap")
def _(draft):
    s = draft["starts"]
    s["stalled"][np.flatnonzero((s["stalled"] > 0) & (s["stalled"] == s["waited"]))[0]] = 0


@TRANSIT.fault("a worker came to the gate before its rows did", "stalls at the gate", "vap")
def _(draft):
    s = draft["starts"]
    s["stalled"][np.flatnonzero(s["stalled"] < s["waited"])[0]] += 1

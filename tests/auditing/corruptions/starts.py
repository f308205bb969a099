"""Starts of computations under a policy with a gate, and its units."""

import numpy as np

from tests.auditing.corruptions.planting import Faults

STARTS = Faults()


def _start_where(draft, fits):
    """The first start for which ``fits(line)``, not among the very first."""
    return next(i for i in range(4, len(draft["starts"]["t"])) if fits(i))


@STARTS.fault("the values of starts are missing", "tables of starts", "vap")
def _(draft):
    del draft.columns["start_values"]


@STARTS.fault("the manifest does not say what the gate cost", "tables of starts", "vap")
def _(draft):
    del draft.manifest["gate"]


@STARTS.fault("a run without a gate says what one cost", "tables of starts")
def _(draft):
    draft.manifest["gate"] = {}


@STARTS.fault("a number of a start is given twice", "ids of starts", "vap")
def _(draft):
    draft["starts"]["t"][3] = 3


@STARTS.fault("a start is of a worker that does not exist", "ids of starts", "vap")
def _(draft):
    draft["starts"]["worker"][5] = 3


@STARTS.fault("a reservation is no number", "ids of starts", "vap")
def _(draft):
    draft["starts"]["reservation"][5] = np.nan


@STARTS.fault("a worker stalls longer than it waits", "ids of starts", "vap")
def _(draft):
    draft["starts"]["stalled"][5] = draft["starts"]["waited"][5] + 1


@STARTS.fault("a value is of a column that does not exist", "ids of values", "vap")
def _(draft):
    draft["start_values"]["col"][7] = 2


@STARTS.fault("a value is there twice", "ids of values", "vap")
def _(draft):
    draft.repeat("start_values", 7)


@STARTS.fault("a unit of a worker is nowhere", "every unit is applied", "vap")
def _(draft):
    u = draft["updates"]
    u["seq"][(u["worker"] == 1) & (u["seq"] >= 6)] += 1


@STARTS.fault("two units of a worker change places where every INC is one", "applied in order", "vap")
def _(draft):
    u = draft["updates"]
    a, b = np.flatnonzero((u["shard"] == 0) & (u["worker"] == 1))[3:5]
    u["seq"][[a, b]] = u["seq"][[b, a]]


@STARTS.fault("a read lacks an own INC made before it", "read-my-writes", "vap")
def _(draft):
    r = draft["reads"]
    line = draft.read_where(lambda i: r["clock"][i] > 1 and r["own_from"][i] < r["own_upto"][i] - 1)
    r["own_upto"][(r["worker"] == r["worker"][line]) & (r["t"] == r["t"][line])] -= 1


@STARTS.fault("a threshold is one per mille too high", "thresholds of starts", "vap")
def _(draft):
    draft["starts"]["v"][6] *= 1.001


@STARTS.fault(
    "something is reserved though no bound is known", "thresholds of starts", "vap, nothing reserved"
)
def _(draft):
    draft["starts"]["reservation"][6] = 0.01


@STARTS.fault("a start is of another time than the GET", "starts are GETs", "vap")
def _(draft):
    draft["starts"]["t_start"][8] += 1


@STARTS.fault("a start has read another number of rows", "starts are GETs", "vap")
def _(draft):
    draft["starts"]["rows"][8] += 1


@STARTS.fault("a computation is over after the worker's next one has begun", "spans of computations", "vap")
def _(draft):
    s = draft["starts"]
    a, b = np.flatnonzero(s["worker"] == 1)[2:4]
    s["t_over"][a] = s["t_start"][b] + 1


@STARTS.fault("two starts change places in the order of t", "spans of computations", "vap")
def _(draft):
    s = draft["starts"]
    i = _start_where(draft, lambda i: s["t_start"][i] < s["t_start"][i + 1])
    for name in ("t_start", "t_over", "worker", "clock", "seq", "rows", "waited", "stalled"):
        s[name][[i, i + 1]] = s[name][[i + 1, i]]


@STARTS.fault("more is unseen than may be", "gate of VAP", "vap")
def _(draft):
    draft["starts"]["unseen"][9] = 1.01 * draft["starts"]["v"][9]


@STARTS.fault("the others in flight are forgotten", "gate of VAP", "vap")
def _(draft):
    s = draft["starts"]
    s["others"][
        _start_where(draft, lambda i: s["others"][i] > 0 and s["t_start"][i] < s["t_over"][i - 1])
    ] = 0


@STARTS.fault("an update is larger than its reservation", "updates within reservations", "vap")
def _(draft):
    draft["start_values"]["update"][10] *= 1.001


@STARTS.fault("a view is farther off than v", "value bound", "vap")
def _(draft):
    e = draft["start_values"]
    line = int(np.flatnonzero(~np.isnan(e["view"]))[20])
    e["view"][line] += 1.0


@STARTS.fault("a distance is recorded smaller than it was", "distances from the reference", "vap")
def _(draft):
    s = draft["starts"]
    s["distance"][_start_where(draft, lambda i: s["distance"][i] > 0)] *= 0.5


@STARTS.fault("an overshoot is kept secret", "distances from the reference", "vap, nothing reserved")
def _(draft):
    s = draft["starts"]
    s["overshoot"][_start_where(draft, lambda i: s["overshoot"][i] > 0)] = 0.0


@STARTS.fault("the last update is halved", "updates of starts add up", "vap")
def _(draft):
    e = draft["start_values"]
    e["update"][e["t"] == e["t"].max()] *= 0.5


@STARTS.fault("a message of the gate is not counted", "traffic of the gate", "vap")
def _(draft):
    draft.manifest["gate"]["by_kind"]["seen"]["messages"] -= 1


@STARTS.fault("an INC is not announced", "traffic of the gate", "vap")
def _(draft):
    gate = draft.manifest["gate"]
    gate["by_kind"]["announced"]["messages"] -= 1
    gate["messages"] -= 1

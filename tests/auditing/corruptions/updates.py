"""What shards applied, in which order and when, and how large it was."""

import numpy as np

from tests.auditing.corruptions.planting import Faults

UPDATES = Faults()


@UPDATES.fault("an update is dropped", "applied exactly once")
def _(draft):
    draft.remove("updates", draft.update(0, 7))


@UPDATES.fault("an update is dropped, and later ones are renumbered", "applied in order")
def _(draft):
    draft.remove("updates", draft.update(0, 7))
    draft.shift(0, 8, by=-1)


@UPDATES.fault("the last update of a shard is dropped", "one oplog per clock and shard")
def _(draft):
    draft.remove("updates", draft.update(0, np.count_nonzero(draft["updates"]["shard"] == 0) - 1))


@UPDATES.fault("an update is applied twice", "applied in order")
def _(draft):
    draft.shift(0, 8, by=1)
    draft.repeat("updates", draft.update(0, 7))
    draft["updates"]["apply_index"][-1] = 8


@UPDATES.fault("two updates get the same number", "applied exactly once")
def _(draft):
    draft["updates"]["apply_index"][draft.update(0, 8)] = 7


@UPDATES.fault("two updates of a worker change places", "applied in order")
def _(draft):
    u = draft["updates"]
    a, b = np.flatnonzero((u["shard"] == 0) & (u["worker"] == 1) & np.isin(u["clock"], (3, 4)))
    u["apply_index"][[a, b]] = u["apply_index"][[b, a]]


@UPDATES.fault("updates of two workers change places", "times of an update")
def _(draft):
    u = draft["updates"]
    a, b = draft.neighbours(lambda a, b: u["worker"][a] != u["worker"][b])
    u["apply_index"][[a, b]] = u["apply_index"][[b, a]]


@UPDATES.fault("updates of two workers change places, and times with them", "applied on arrival")
def _(draft):
    u = draft["updates"]
    a, b = draft.neighbours(lambda a, b: u["t_sent"][b] < u["t_applied"][a] < u["t_applied"][b])
    for name in ("apply_index", "t_applied"):
        u[name][[a, b]] = u[name][[b, a]]


@UPDATES.fault("an update bears the tag of the clock after", "applied in order")
def _(draft):
    draft["updates"]["clock"][draft.update(1, 6)] += 1


@UPDATES.fault("an update is applied before it was sent", "times of an update")
def _(draft):
    line = draft.update(0, 0)
    draft["updates"]["t_applied"][line] = draft["updates"]["t_sent"][line] - 1


@UPDATES.fault("an update is sent before its clock ended", "times of an update")
def _(draft):
    draft["updates"]["t_sent"][draft.update(0, 5)] -= 1


@UPDATES.fault("an update names a worker that does not exist", "ids of updates")
def _(draft):
    draft["updates"]["worker"][3] = 3


@UPDATES.fault("BSP: updates of a clock are applied in another order", "BSP order", "bsp")
def _(draft):
    u = draft["updates"]
    a, b = draft.neighbours(lambda a, b: u["clock"][a] == u["clock"][b])
    u["apply_index"][[a, b]] = u["apply_index"][[b, a]]


@UPDATES.fault("BSP: an update is applied when it arrives", "BSP order", "bsp")
def _(draft):
    u = draft["updates"]
    first, last = draft.neighbours(
        lambda a, b: u["worker"][a] == 0 and u["clock"][a] > 0 and u["t_sent"][a] < u["t_sent"][b]
    )
    u["t_applied"][first] = u["t_sent"][last] - 1


@UPDATES.fault("a Euclidean norm is below the largest entry", "norms of an update")
def _(draft):
    draft["updates"]["l2"][9] = draft["updates"]["linf"][9] / 2


@UPDATES.fault("a Euclidean norm is too large for the entries", "norms of an update")
def _(draft):
    draft["updates"]["l2"][9] *= 100


@UPDATES.fault("a largest entry is negative", "norms of an update")
def _(draft):
    draft["updates"]["linf"][9] *= -1


@UPDATES.fault("a norm is not a number", "norms of an update")
def _(draft):
    draft["updates"]["l2"][9] = np.nan


@UPDATES.fault("norms are infinite", "norms of an update")
def _(draft):
    draft["updates"]["l2"][9] = draft["updates"]["linf"][9] = np.inf


@UPDATES.fault("an oplog without rows has norms", "norms of an update")
def _(draft):
    m, u = draft["messages"], draft["updates"]
    empty = draft.message_where("oplog", lambda line: m["rows"][line] == 0)
    sent = (u["t_sent"] == m["t_send"][empty]) & (u["shard"] == m["dst"][empty] - draft.clients)
    u["l2"][sent] = u["linf"][sent] = 1.0


@UPDATES.fault("the norms of all updates are zero", "norms bound the INCs")
def _(draft):
    draft["updates"]["l2"][:] = draft["updates"]["linf"][:] = 0.0

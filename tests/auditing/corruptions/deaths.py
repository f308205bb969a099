"""A client that died, and what the others and the shards have of it."""

import numpy as np

from tests.auditing.corruptions.planting import Faults
from tests.auditing.runs import DEATH

DEATHS = Faults()


def _lost(draft, shard):
    """Line of ``members`` where the dead worker was taken out of ``shard``."""
    m = draft["members"]
    return int(np.flatnonzero((m["event"] == "lost") & (m["shard"] == shard))[0])


def _of_the_dead(draft, shard):
    """Lines of ``updates`` of the dead worker on ``shard``, as applied."""
    u, worker = draft["updates"], draft["members"]["worker"][_lost(draft, shard)]
    lines = np.flatnonzero((u["worker"] == worker) & (u["shard"] == shard))
    return lines[np.argsort(u["apply_index"][lines])]


@DEATHS.fault("a worker is lost though its client lives", "ids of members")
def _(draft):
    draft["members"]["event"][1] = "lost"


@DEATHS.fault("the death is not told", "ids of members", DEATH)
def _(draft):
    draft.remove("faults", 0)


@DEATHS.fault("a dead worker is never taken out of a shard", "leaves once", DEATH)
def _(draft):
    draft.remove("members", _lost(draft, 1))


@DEATHS.fault("a dead worker is taken out before its last update", "leaves after its last clock", DEATH)
def _(draft):
    m, u = draft["members"], draft["updates"]
    lost, last = _lost(draft, 0), _of_the_dead(draft, 0)[-1]
    m["apply_index"][lost] = u["apply_index"][last]
    m["t"][lost] = u["t_applied"][last]


@DEATHS.fault("a dead worker keeps the shard's clock down", "clock of the shard on leaving", DEATH)
def _(draft):
    m, lost = draft["members"], _lost(draft, 0)
    m["clock"][lost] = len(_of_the_dead(draft, 0)) - 1


@DEATHS.fault("a shard's clock is beyond those who live", "clock of the shard on leaving", DEATH)
def _(draft):
    draft["members"]["clock"][_lost(draft, 1)] += 5


@DEATHS.fault("two updates of the dead reached one shard only", "one oplog per clock and shard", DEATH)
def _(draft):
    for _again in range(2):
        line = int(_of_the_dead(draft, 1)[-1])
        index = draft["updates"]["apply_index"][line]
        draft.remove("updates", line)
        draft.shift(1, index, by=-1)


@DEATHS.fault("a copy claims a clock that the dead worker held back", "true ages", DEATH)
def _(draft):
    r, lost = draft["reads"], _lost(draft, 0)
    units, index = len(_of_the_dead(draft, 0)), draft["members"]["apply_index"][lost]
    held = (r["shard"] == 0) & (r["version"] < index) & (r["clock"] - r["age"] == units)
    line = int(np.flatnonzero(held)[-1])
    r["age"][line] -= 1


@DEATHS.fault(
    "a living worker's clock is missing beside the dead one's", "one oplog per clock and shard", DEATH
)
def _(draft):
    c = draft["clocks"]
    draft.remove("clocks", int(np.flatnonzero((c["worker"] == 0) & (c["clock"] == c["clock"].max()))[0]))

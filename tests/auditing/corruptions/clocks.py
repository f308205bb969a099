"""When the clocks of workers began and ended, and what they did meanwhile."""

import numpy as np

from tests.auditing.corruptions.planting import Faults

CLOCKS = Faults()


@CLOCKS.fault("a clock record is removed", "clocks are gapless")
def _(draft):
    draft.remove("clocks", len(draft["clocks"]["t_end"]) // 2)


@CLOCKS.fault("a worker's last clock record is removed", "one oplog per clock and shard")
def _(draft):
    c = draft["clocks"]
    draft.remove("clocks", int(np.flatnonzero(c["worker"] == 1)[-1]))


@CLOCKS.fault("a clock is recorded twice", "clocks are gapless")
def _(draft):
    draft.repeat("clocks", 5)


@CLOCKS.fault("a clock begins before the last one ended", "times of a clock")
def _(draft):
    draft["clocks"]["t_begin"][-1] -= 1


@CLOCKS.fault("a worker computes and waits longer than its clock lasts", "times of a clock")
def _(draft):
    c = draft["clocks"]
    c["t_compute"][6] = c["t_end"][6] - c["t_begin"][6] - c["t_wait"][6] + 1


@CLOCKS.fault("a clock's waiting time is left out", "waiting times add up")
def _(draft):
    draft["clocks"]["t_wait"][np.argmax(draft["clocks"]["t_wait"])] = 0


@CLOCKS.fault("a clock record names a worker that does not exist", "ids of clocks")
def _(draft):
    draft["clocks"]["worker"][0] = -1

"""Workers that leave the shards."""

import numpy as np

from tests.auditing.corruptions.planting import Faults

MEMBERS = Faults()


@MEMBERS.fault("a worker leaves before its last update is taken in", "leaves after its last clock")
def _(draft):
    u, m = draft["updates"], draft["members"]
    m["apply_index"][0] -= 1
    m["t"][0] = u["t_applied"][draft.update(int(m["shard"][0]), int(m["apply_index"][0]) - 1)]


@MEMBERS.fault("BSP: a worker leaves before its last update was sent", "leaves after its last clock", "bsp")
def _(draft):
    u, m = draft["updates"], draft["members"]
    ours = (u["worker"] == m["worker"][0]) & (u["shard"] == m["shard"][0])
    m["t"][0] = u["t_sent"][ours].max() - 1


@MEMBERS.fault("a leaver is forgotten", "leaves once")
def _(draft):
    draft.remove("members", 1)


@MEMBERS.fault("a worker leaves twice", "leaves once")
def _(draft):
    draft.repeat("members", 1)


@MEMBERS.fault("a leaver keeps the shard's clock down", "clock of the shard on leaving")
def _(draft):
    draft["members"]["clock"][0] -= 1


@MEMBERS.fault("a member joins in the middle", "ids of members")
def _(draft):
    draft["members"]["event"] = np.where(np.arange(6) == 2, "joined", "left")

"""Totals of reads and messages, and the tables at the end of a run."""

import numpy as np

from tests.auditing.corruptions.planting import Faults

TOTALS = Faults()


@TOTALS.fault("the histogram is altered", "histogram of ages")
def _(draft):
    draft["histogram"]["count"][3] += 1
    draft["histogram"]["count"][4] -= 1


@TOTALS.fault("a read is removed", "histogram of ages")
def _(draft):
    draft.remove("reads", 50)


@TOTALS.fault("a miss is turned into a hit", "totals of reads")
def _(draft):
    line = draft.read_where(lambda line: not draft["reads"]["hit"][line])
    draft["reads"]["hit"][line] = True


@TOTALS.fault("a message total is altered", "totals of messages")
def _(draft):
    draft["message_totals"]["bytes"][2] += 1


@TOTALS.fault("the manifest claims another number of reads", "lines kept")
def _(draft):
    draft.manifest["trace"]["sampling"]["reads"]["total"] += 1


@TOTALS.fault("a final table is altered", "end state")
def _(draft):
    draft.tables["final:counts"][2, 1] += 1


@TOTALS.fault("a final entry of a float table is altered", "end state")
def _(draft):
    draft.tables["final:sums"][4, 1] += np.float32(0.1)


@TOTALS.fault("a sum of INCs is altered", "end state")
def _(draft):
    draft.tables["incs:counts"][0, 0] -= 1


@TOTALS.fault("the last bit of a final table is altered", "value hash")
def _(draft):
    values = draft.tables["final:sums"]
    values[3, 2] = np.nextafter(values[3, 2], np.float32(9))


@TOTALS.fault("a loss is altered", "value hash")
def _(draft):
    draft["metrics"]["value"][2] *= 1.5


@TOTALS.fault("messages are counted for a later clock", "totals of messages by clock")
def _(draft):
    totals = draft["message_totals"]
    oplogs = np.flatnonzero(totals["kind"] == 2)
    for name in ("count", "rows", "bytes"):
        part = totals[name][oplogs[1]] // 2
        totals[name][oplogs[1]] -= part
        totals[name][oplogs[2]] += part


@TOTALS.fault("bytes are counted for a later clock", "totals of messages by clock")
def _(draft):
    totals = draft["message_totals"]
    first, second = np.flatnonzero(totals["kind"] == 2)[:2]
    totals["bytes"][[first, second]] += (-8, 8)


@TOTALS.fault("a message total names a clock that nobody finished", "ids of totals")
def _(draft):
    draft["message_totals"]["clock"][-1] = 10**6


@TOTALS.fault("a message total names no kind", "ids of totals")
def _(draft):
    draft["message_totals"]["kind"][0] = 77


@TOTALS.fault("a line of the histogram is negative", "ids of totals")
def _(draft):
    draft["histogram"]["count"][0] *= -1


@TOTALS.fault("a GET too many is counted", "totals of GETs")
def _(draft):
    draft["read_totals"]["gets"][1] += 1


@TOTALS.fault("a wait after the last clock is added", "totals of GETs")
def _(draft):
    draft["read_totals"]["waited"][-1] += 1


@TOTALS.fault("a final entry's highest bit is altered", "end state")
def _(draft):
    draft.tables["final:counts"][1, 1] ^= np.int64(-(2**63))


@TOTALS.fault("an initial entry is infinite", "end state")
def _(draft):
    draft.tables["initial:sums"][1, 1] = np.inf


@TOTALS.fault("a GET too few is counted", "totals of GETs")
def _(draft):
    draft["read_totals"]["gets"][1] -= 1

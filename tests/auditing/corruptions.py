"""Planted faults of a trace: what a broken protocol or recorder would leave, or a forger.

``python -m tests.auditing.corruptions`` prints the table: what was planted, and the check that names it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pskit import audit
from tests.auditing.drafts import Draft
from tests.auditing.runs import run

PLANTED: "list[Corruption]" = []


class Corruption(NamedTuple):
    """A fault, how to plant it in a good run, and the check that has to name it first.

    Attributes
    ----------
    what : str
    caught_by : str
    plant : callable
        Changes a draft.
    policy : str
        Of the run that it is planted in.
    """

    what: str
    caught_by: str
    plant: Callable[[Draft], None]
    policy: str


def corruption(what: str, caught_by: str, policy: str = "ssp") -> Callable[[Callable[[Draft], None]], None]:
    """Register the decorated planting."""

    def register(plant: Callable[[Draft], None]) -> None:
        PLANTED.append(Corruption(what, caught_by, plant, policy))

    return register


def plant(fault: Corruption) -> Draft:
    """A run with the fault in it."""
    draft = Draft(run(fault.policy))
    fault.plant(draft)
    return draft


# -- updates -----------------------------------------------------------------------------------------


@corruption("an update is dropped", "applied exactly once")
def _(draft):
    draft.remove("updates", draft.update(0, 7))


@corruption("an update is dropped, and later ones are renumbered", "applied in order")
def _(draft):
    draft.remove("updates", draft.update(0, 7))
    draft.shift(0, 8, by=-1)


@corruption("the last update of a shard is dropped", "one oplog per clock and shard")
def _(draft):
    draft.remove("updates", draft.update(0, np.count_nonzero(draft["updates"]["shard"] == 0) - 1))


@corruption("an update is applied twice", "applied in order")
def _(draft):
    draft.shift(0, 8, by=1)
    draft.repeat("updates", draft.update(0, 7))
    draft["updates"]["apply_index"][-1] = 8


@corruption("two updates get the same number", "applied exactly once")
def _(draft):
    draft["updates"]["apply_index"][draft.update(0, 8)] = 7


@corruption("two updates of a worker change places", "applied in order")
def _(draft):
    u = draft["updates"]
    a, b = np.flatnonzero((u["shard"] == 0) & (u["worker"] == 1) & np.isin(u["clock"], (3, 4)))
    u["apply_index"][[a, b]] = u["apply_index"][[b, a]]


@corruption("updates of two workers change places", "times of an update")
def _(draft):
    u = draft["updates"]
    a, b = draft.neighbours(lambda a, b: u["worker"][a] != u["worker"][b])
    u["apply_index"][[a, b]] = u["apply_index"][[b, a]]


@corruption("updates of two workers change places, and times with them", "applied on arrival")
def _(draft):
    u = draft["updates"]
    a, b = draft.neighbours(lambda a, b: u["t_sent"][b] < u["t_applied"][a] < u["t_applied"][b])
    for name in ("apply_index", "t_applied"):
        u[name][[a, b]] = u[name][[b, a]]


@corruption("an update bears the tag of the clock after", "applied in order")
def _(draft):
    draft["updates"]["clock"][draft.update(1, 6)] += 1


@corruption("an update is applied before it was sent", "times of an update")
def _(draft):
    line = draft.update(0, 0)
    draft["updates"]["t_applied"][line] = draft["updates"]["t_sent"][line] - 1


@corruption("an update is sent before its clock ended", "times of an update")
def _(draft):
    draft["updates"]["t_sent"][draft.update(0, 5)] -= 1


@corruption("an update names a worker that does not exist", "ids of updates")
def _(draft):
    draft["updates"]["worker"][3] = 3


@corruption("BSP: updates of a clock are applied in another order", "BSP order", "bsp")
def _(draft):
    u = draft["updates"]
    a, b = draft.neighbours(lambda a, b: u["clock"][a] == u["clock"][b])
    u["apply_index"][[a, b]] = u["apply_index"][[b, a]]


@corruption("BSP: an update is applied when it arrives", "BSP order", "bsp")
def _(draft):
    u = draft["updates"]
    first, last = draft.neighbours(
        lambda a, b: u["worker"][a] == 0 and u["clock"][a] > 0 and u["t_sent"][a] < u["t_sent"][b]
    )
    u["t_applied"][first] = u["t_sent"][last] - 1


# -- clocks ------------------------------------------------------------------------------------------


@corruption("a clock record is removed", "clocks are gapless")
def _(draft):
    draft.remove("clocks", len(draft["clocks"]["t_end"]) // 2)


@corruption("a worker's last clock record is removed", "one oplog per clock and shard")
def _(draft):
    c = draft["clocks"]
    draft.remove("clocks", int(np.flatnonzero(c["worker"] == 1)[-1]))


@corruption("a clock is recorded twice", "clocks are gapless")
def _(draft):
    draft.repeat("clocks", 5)


@corruption("a clock begins before the last one ended", "times of a clock")
def _(draft):
    draft["clocks"]["t_begin"][-1] -= 1


@corruption("a worker computes and waits longer than its clock lasts", "times of a clock")
def _(draft):
    c = draft["clocks"]
    c["t_compute"][6] = c["t_end"][6] - c["t_begin"][6] - c["t_wait"][6] + 1


@corruption("a clock's waiting time is left out", "waiting times add up")
def _(draft):
    draft["clocks"]["t_wait"][np.argmax(draft["clocks"]["t_wait"])] = 0


@corruption("a clock record names a worker that does not exist", "ids of clocks")
def _(draft):
    draft["clocks"]["worker"][0] = -1


# -- messages ----------------------------------------------------------------------------------------


@corruption("a message is delivered before it was sent", "delivered after sent")
def _(draft):
    line = draft.message_where("request")
    draft["messages"]["t_deliver"][line] = draft["messages"]["t_send"][line] - 1


@corruption("a message is lost on a reliable link", "lost only where links lose")
def _(draft):
    draft["messages"]["t_deliver"][draft.message_where("oplog")] = -1


@corruption("a message overtakes another one", "links are FIFO")
def _(draft):
    m = draft["messages"]
    line = draft.message_where("reply")
    link = np.flatnonzero((m["src"] == m["src"][line]) & (m["dst"] == m["dst"][line]))
    before = link[np.searchsorted(link, line) - 1]
    m["t_deliver"][before] = m["t_deliver"][line] + 1


@corruption("an oplog message is removed", "applied on arrival")
def _(draft):
    draft.remove_message(draft.message_where("oplog"))


@corruption("an oplog arrives later than it is applied", "applied on arrival")
def _(draft):
    m = draft["messages"]
    last = np.flatnonzero((m["kind"] == 2) & (m["src"] == 1) & (m["dst"] == 3))[-1]
    m["t_deliver"][last] += 1


@corruption("a reply is removed", "replies follow requests")
def _(draft):
    draft.remove_message(draft.message_where("reply"))


@corruption("a reply arrives later than it is read", "versions travel in messages")
def _(draft):
    m = draft["messages"]
    line = draft.message_where("reply", lambda line: draft.only_it_brought(line))
    link = (m["src"] == m["src"][line]) & (m["dst"] == m["dst"][line])
    m["t_deliver"][link & (m["id"] >= m["id"][line])] += 10**12


@corruption("a push is removed", "versions travel in messages", "essp")
def _(draft):
    draft.remove_message(draft.message_where("push", lambda line: draft.only_it_brought(line)))


@corruption("a push is sent out of nothing", "pushes follow oplogs", "essp")
def _(draft):
    sent = draft["messages"]["t_send"]
    sent[draft.message_where("push", lambda line: sent[line + 1] > sent[line])] += 1


@corruption("two messages have the same number", "ids of messages")
def _(draft):
    draft["messages"]["id"][7] = draft["messages"]["id"][8]


@corruption("a reply goes from a client to a shard", "ids of messages")
def _(draft):
    m = draft["messages"]
    line = draft.message_where("reply")
    m["src"][line], m["dst"][line] = m["dst"][line], m["src"][line]


# -- reads -------------------------------------------------------------------------------------------


@corruption("a version is raised beyond what was applied", "versions exist")
def _(draft):
    r = draft["reads"]
    draft["reads"]["version"][len(r["t"]) // 2] += 9


@corruption("a version is raised by another worker's update", "versions travel in messages", "essp")
def _(draft):
    r, u = draft["reads"], draft["updates"]

    def is_harmless_otherwise(line):
        after = draft.next_after(line)
        return (
            after is not None
            and u["worker"][after] != r["worker"][line]
            and u["t_applied"][after] <= r["t"][line]
            and not draft.raises_clock(after)
            and not draft.reads_of_same_row(line)[line + 1 :].any()
            and not draft.sent_while_newest(after, int(r["worker"][line])).any()
        )

    r["version"][draft.read_where(is_harmless_otherwise)] += 1


@corruption("a version is lowered below the guarantee", "SSP guarantee", "ssp, slack 0")
def _(draft):
    r, u = draft["reads"], draft["updates"]

    def is_needed(line):
        newest = draft.newest_in(line)
        return (
            newest is not None
            and u["worker"][newest] != r["worker"][line]
            and u["clock"][newest] == r["clock"][line] - 1
        )

    r["version"][draft.read_where(is_needed)] -= 1


@corruption("a version is lowered by an own update", "own updates exactly once")
def _(draft):
    r, u = draft["reads"], draft["updates"]

    def is_own(line):
        newest = draft.newest_in(line)
        return newest is not None and u["worker"][newest] == r["worker"][line]

    r["version"][draft.read_where(is_own)] -= 1


@corruption("own_from is one too high: an own update is lost", "own updates exactly once")
def _(draft):
    draft["reads"]["own_from"][50] += 1


@corruption("own_from is one too low: an own update counts twice", "own updates exactly once", "essp")
def _(draft):
    draft["reads"]["own_from"][draft.read_where(lambda line: draft["reads"]["own_from"][line] > 0)] -= 1


@corruption("own_upto leaves out the current clock", "read-my-writes")
def _(draft):
    draft["reads"]["own_upto"][50] -= 1


@corruption("an age is too low", "true ages")
def _(draft):
    draft["reads"]["age"][draft.read_where(lambda line: draft["reads"]["age"][line] > 0)] -= 1


@corruption("an age is too high", "true ages", "asp")
def _(draft):
    draft["reads"]["age"][50] += 1


@corruption("a user's own policy: an age is above the slack", "ages within the slack")
def _(draft):
    draft.manifest["config"]["ps"]["policy"] = "my-own"
    draft["reads"]["age"][50] = 9


@corruption("a read is moved to a later clock", "reads inside their clock")
def _(draft):
    r = draft["reads"]
    r["clock"][draft.read_where(lambda line: r["clock"][line] % 3 == 0)] += 1  # it computes after that read


@corruption("a read is moved to a later time", "reads inside their clock")
def _(draft):
    draft["reads"]["t"][50] += 10**10


@corruption("a row is seen going back", "versions never go back", "essp")
def _(draft):
    r = draft["reads"]

    def recent_enough(line):
        """Earlier reads of the row, whose copies the slack still allows."""
        earlier = draft.reads_of_same_row(line)[:line]
        return np.flatnonzero(earlier & (r["clock"][:line] - r["age"][:line] >= r["clock"][line] - 3))

    def goes_back(line):
        older = recent_enough(line)
        return len(older) > 1 and r["version"][older[0]] < r["version"][older[-1]]

    line = draft.read_where(goes_back)
    draft.read_copy_of(line, recent_enough(line)[0])


@corruption("ASP: a copy fetched in an earlier clock is read", "ASP fetches in every clock", "asp")
def _(draft):
    r, c, m = draft["reads"], draft["clocks"], draft["messages"]

    def before(line):
        """The last read of the row in an earlier clock."""
        earlier = draft.reads_of_same_row(line)[:line] & (r["clock"][:line] < r["clock"][line])
        return np.flatnonzero(earlier)[-1:]

    def is_out_of_date(line):
        older = before(line)
        if not len(older) or not r["version"][older[0]] or r["version"][older[0]] == r["version"][line]:
            return False
        began = c["t_begin"][(c["worker"] == r["worker"][line]) & (c["clock"] == r["clock"][line])]
        brought = draft.sent_while_newest(draft.newest_in(older[0]), int(r["worker"][line]))
        return len(began) and not (m["t_deliver"][brought] >= began).any()

    line = draft.read_where(is_out_of_date)
    draft.read_copy_of(line, before(line)[0])


@corruption("BSP: a read has an update of the current clock", "BSP view", "bsp")
def _(draft):
    draft["reads"]["version"][50] += 1


@corruption("a read names a row that its table does not have", "ids of reads")
def _(draft):
    draft["reads"]["row"][50] = 7


@corruption("a read names the wrong shard", "ids of reads")
def _(draft):
    draft["reads"]["shard"][50] ^= 1


# -- members -----------------------------------------------------------------------------------------


@corruption("a worker leaves before its last update is taken in", "leaves after its last clock")
def _(draft):
    u, m = draft["updates"], draft["members"]
    m["apply_index"][0] -= 1
    m["t"][0] = u["t_applied"][draft.update(int(m["shard"][0]), int(m["apply_index"][0]) - 1)]


@corruption("BSP: a worker leaves before its last update was sent", "leaves after its last clock", "bsp")
def _(draft):
    u, m = draft["updates"], draft["members"]
    ours = (u["worker"] == m["worker"][0]) & (u["shard"] == m["shard"][0])
    m["t"][0] = u["t_sent"][ours].max() - 1


@corruption("a leaver is forgotten", "leaves once")
def _(draft):
    draft.remove("members", 1)


@corruption("a worker leaves twice", "leaves once")
def _(draft):
    draft.repeat("members", 1)


@corruption("a leaver keeps the shard's clock down", "clock of the shard on leaving")
def _(draft):
    draft["members"]["clock"][0] -= 1


@corruption("a member joins in the middle", "ids of members")
def _(draft):
    draft["members"]["event"] = np.where(np.arange(6) == 2, "joined", "left")


# -- totals and the end --------------------------------------------------------------------------------


@corruption("the histogram is altered", "histogram of ages")
def _(draft):
    draft["histogram"]["count"][3] += 1
    draft["histogram"]["count"][4] -= 1


@corruption("a read is removed", "histogram of ages")
def _(draft):
    draft.remove("reads", 50)


@corruption("a miss is turned into a hit", "totals of reads")
def _(draft):
    line = draft.read_where(lambda line: not draft["reads"]["hit"][line])
    draft["reads"]["hit"][line] = True


@corruption("a message total is altered", "totals of messages")
def _(draft):
    draft["message_totals"]["bytes"][2] += 1


@corruption("the manifest claims another number of reads", "lines kept")
def _(draft):
    draft.manifest["trace"]["sampling"]["reads"]["total"] += 1


@corruption("a final table is altered", "end state")
def _(draft):
    draft.tables["final:counts"][2, 1] += 1


@corruption("a final entry of a float table is altered", "end state")
def _(draft):
    draft.tables["final:sums"][4, 1] += np.float32(0.1)


@corruption("a sum of INCs is altered", "end state")
def _(draft):
    draft.tables["incs:counts"][0, 0] -= 1


@corruption("the last bit of a final table is altered", "value hash")
def _(draft):
    values = draft.tables["final:sums"]
    values[3, 2] = np.nextafter(values[3, 2], np.float32(9))


@corruption("a loss is altered", "value hash")
def _(draft):
    draft["metrics"]["value"][2] *= 1.5


# -- metrics -------------------------------------------------------------------------------------------


@corruption("an evaluation is moved before the one before", "times of metrics")
def _(draft):
    draft["metrics"]["t"][3] = draft["metrics"]["t"][2] - 1


@corruption("an evaluation names an earlier clock than the one before", "times of metrics")
def _(draft):
    draft["metrics"]["clock"][3] = draft["metrics"]["clock"][2] - 1


@corruption("an evaluation claims a clock whose updates were not in", "times of metrics")
def _(draft):
    draft["metrics"]["clock"][2:5] += 1


@corruption("the first evaluation is not that of clock 0", "times of metrics")
def _(draft):
    draft.remove("metrics", 0)


@corruption("the first evaluation is after time 0", "times of metrics")
def _(draft):
    draft["metrics"]["t"][0] = 1


@corruption("an evaluation is after the end of the run", "times of metrics")
def _(draft):
    draft["metrics"]["t"][-1] += 1


# -- times, totals and norms that nothing else hangs on ---------------------------------------------------


@corruption("a message is sent at a negative time", "ids of messages")
def _(draft):
    draft["messages"]["t_send"][0] = -5


@corruption("a message has a negative size", "ids of messages")
def _(draft):
    draft["messages"]["bytes"][4] = -1


@corruption("a message is sent after the run", "messages within the run")
def _(draft):
    m = draft["messages"]
    m["t_send"][-1] = draft.manifest["emulated_ns"] + 1
    m["t_deliver"][-1] = m["t_send"][-1] + 10**9


@corruption("messages are counted for a later clock", "totals of messages by clock")
def _(draft):
    totals = draft["message_totals"]
    oplogs = np.flatnonzero(totals["kind"] == 2)
    for name in ("count", "rows", "bytes"):
        part = totals[name][oplogs[1]] // 2
        totals[name][oplogs[1]] -= part
        totals[name][oplogs[2]] += part


@corruption("bytes are counted for a later clock", "totals of messages by clock")
def _(draft):
    totals = draft["message_totals"]
    first, second = np.flatnonzero(totals["kind"] == 2)[:2]
    totals["bytes"][[first, second]] += (-8, 8)


@corruption("a message total names a clock that nobody finished", "ids of totals")
def _(draft):
    draft["message_totals"]["clock"][-1] = 10**6


@corruption("a message total names no kind", "ids of totals")
def _(draft):
    draft["message_totals"]["kind"][0] = 77


@corruption("a line of the histogram is negative", "ids of totals")
def _(draft):
    draft["histogram"]["count"][0] *= -1


@corruption("a GET too many is counted", "totals of GETs")
def _(draft):
    draft["read_totals"]["gets"][1] += 1


@corruption("a wait after the last clock is added", "totals of GETs")
def _(draft):
    draft["read_totals"]["waited"][-1] += 1


@corruption("a final entry's highest bit is altered", "end state")
def _(draft):
    draft.tables["final:counts"][1, 1] ^= np.int64(-(2**63))


@corruption("an initial entry is infinite", "end state")
def _(draft):
    draft.tables["initial:sums"][1, 1] = np.inf


@corruption("a run in virtual time is said to be live", "manifest facts")
def _(draft):
    draft.manifest["config"]["run"]["runtime"] = "live"


@corruption("a GET too few is counted", "totals of GETs")
def _(draft):
    draft["read_totals"]["gets"][1] -= 1


@corruption("a hit is neither true nor false", "ids of reads")
def _(draft):
    draft["reads"]["hit"].view(np.uint8)[50] = 2


@corruption("a miss is turned into a hit, and counted as one", "hits and misses")
def _(draft):
    r, totals = draft["reads"], draft["read_totals"]
    line = draft.read_where(lambda line: not r["hit"][line])
    get = (r["t"] == r["t"][line]) & (r["worker"] == r["worker"][line])
    for clock in r["clock"][get & ~r["hit"]]:
        totals["hits"][totals["clock"] == clock] += 1
    r["hit"][get] = True


@corruption("a hit is turned into a miss, and counted as one", "hits and misses", "essp")
def _(draft):
    r, totals = draft["reads"], draft["read_totals"]
    line = draft.read_where(lambda line: r["hit"][line] and not r["waited"][line])
    r["hit"][line] = False
    totals["hits"][totals["clock"] == r["clock"][line]] -= 1


@corruption("a Euclidean norm is below the largest entry", "norms of an update")
def _(draft):
    draft["updates"]["l2"][9] = draft["updates"]["linf"][9] / 2


@corruption("a Euclidean norm is too large for the entries", "norms of an update")
def _(draft):
    draft["updates"]["l2"][9] *= 100


@corruption("a largest entry is negative", "norms of an update")
def _(draft):
    draft["updates"]["linf"][9] *= -1


@corruption("a norm is not a number", "norms of an update")
def _(draft):
    draft["updates"]["l2"][9] = np.nan


@corruption("norms are infinite", "norms of an update")
def _(draft):
    draft["updates"]["l2"][9] = draft["updates"]["linf"][9] = np.inf


@corruption("an oplog without rows has norms", "norms of an update")
def _(draft):
    m, u = draft["messages"], draft["updates"]
    empty = draft.message_where("oplog", lambda line: m["rows"][line] == 0)
    sent = (u["t_sent"] == m["t_send"][empty]) & (u["shard"] == m["dst"][empty] - draft.clients)
    u["l2"][sent] = u["linf"][sent] = 1.0


@corruption("the norms of all updates are zero", "norms bound the INCs")
def _(draft):
    draft["updates"]["l2"][:] = draft["updates"]["linf"][:] = 0.0


# -- the manifest ------------------------------------------------------------------------------------


@corruption("the manifest claims another status", "status")
def _(draft):
    draft.manifest["status"] = "diverged"


@corruption("the manifest claims that a diverging loss finished", "status")
def _(draft):
    draft["metrics"]["value"][4] *= 1e6


@corruption("the manifest claims another number of workers", "manifest facts")
def _(draft):
    draft.manifest["workers"] += 1


@corruption("the manifest claims another policy", "manifest facts", "essp")
def _(draft):
    draft.manifest["config"]["ps"]["policy"] = "ssp"


@corruption("the manifest claims a bound that its policy cannot have", "manifest facts", "asp")
def _(draft):
    draft.manifest["config"]["ps"]["slack"] = 3


@corruption("config and layout have different numbers of shards", "manifest facts")
def _(draft):
    draft.manifest["config"]["ps"]["shards"] += 1


@corruption("the manifest claims another seed", "manifest facts")
def _(draft):
    draft.manifest["seed"] += 1


@corruption("a full trace is said to be a sample", "manifest facts")
def _(draft):
    draft.manifest["trace"]["sampling"]["messages"]["share"] = 0.5


@corruption("the fingerprint is no hash", "manifest facts")
def _(draft):
    draft.manifest["fingerprint"] = "0" * 63 + "g"


@corruption("the schedule hash is no hash", "manifest facts")
def _(draft):
    draft.manifest["schedule_hash"] = draft.manifest["schedule_hash"][:-1]


@corruption("the schedule hash is another one", "schedule hash")
def _(draft):
    draft.manifest["schedule_hash"] = draft.manifest["schedule_hash"][::-1]


@corruption("the size of two messages is altered, their sum is not", "schedule hash")
def _(draft):
    m = draft["messages"]
    line = draft.message_where("request", lambda line: m["kind"][line + 1] == m["kind"][line])
    m["bytes"][[line, line + 1]] += (-1, 1)


@corruption("the run is said to end later", "end of the run")
def _(draft):
    draft.manifest["emulated_ns"] += 1


@corruption("the run is said to end earlier", "end of the run")
def _(draft):
    m = draft["metrics"]
    m["t"][-1] = draft.manifest["emulated_ns"] = draft.manifest["emulated_ns"] - 1


# -- views and gradients -----------------------------------------------------------------------------


@corruption("a view's line names no worker of the run", "ids of views and gradients", "absolute")
def _(draft):
    draft["views"]["worker"][3] = 99


@corruption("a gradient's line names a clock before the first", "ids of views and gradients", "absolute")
def _(draft):
    draft["gradients"]["clock"][0] = -1


@corruption("a gradient is twice as long", "gradients are the updates", "absolute")
def _(draft):
    draft["gradients"]["g"][5] *= 2


@corruption("a step size is smaller", "gradients are the updates", "absolute")
def _(draft):
    draft["gradients"]["eta"][5] /= 2


@corruption("a gradient is left out", "gradients are the updates", "absolute")
def _(draft):
    draft.remove("gradients", 4)


@corruption("gradients point the other way", "views decode", "absolute")
def _(draft):
    for i, j in ((2, 3), (4, 5)):
        draft["gradients"]["g"][[i, j]] *= -1


@corruption("one number of a view is off by its last bit", "views decode", "absolute")
def _(draft):
    x = draft["views"]["x"]
    x[7, 1] = np.nextafter(x[7, 1], np.inf)


@corruption("a view lacks the newest update of its version", "views decode", "absolute")
def _(draft):
    x, g = draft["views"]["x"], draft["gradients"]
    x[-1] += g["eta"][0] * g["g"][0]


@corruption("a view is of another time than the read", "views decode", "absolute")
def _(draft):
    draft["views"]["t"][6] += 1


# -- starts of computations --------------------------------------------------------------------------


def _start_where(draft, fits):
    """The first start for which ``fits(line)``, not among the very first."""
    return next(i for i in range(4, len(draft["starts"]["t"])) if fits(i))


@corruption("the values of starts are missing", "tables of starts", "vap")
def _(draft):
    del draft.columns["start_values"]


@corruption("the manifest does not say what the gate cost", "tables of starts", "vap")
def _(draft):
    del draft.manifest["gate"]


@corruption("a run without a gate says what one cost", "tables of starts")
def _(draft):
    draft.manifest["gate"] = {}


@corruption("a number of a start is given twice", "ids of starts", "vap")
def _(draft):
    draft["starts"]["t"][3] = 3


@corruption("a start is of a worker that does not exist", "ids of starts", "vap")
def _(draft):
    draft["starts"]["worker"][5] = 3


@corruption("a reservation is no number", "ids of starts", "vap")
def _(draft):
    draft["starts"]["reservation"][5] = np.nan


@corruption("a worker stalls longer than it waits", "ids of starts", "vap")
def _(draft):
    draft["starts"]["stalled"][5] = draft["starts"]["waited"][5] + 1


@corruption("a value is of a column that does not exist", "ids of values", "vap")
def _(draft):
    draft["start_values"]["col"][7] = 2


@corruption("a value is there twice", "ids of values", "vap")
def _(draft):
    draft.repeat("start_values", 7)


@corruption("a unit of a worker is nowhere", "every unit is applied", "vap")
def _(draft):
    u = draft["updates"]
    u["seq"][(u["worker"] == 1) & (u["seq"] >= 6)] += 1


@corruption("two units of a worker change places where every INC is one", "applied in order", "vap")
def _(draft):
    u = draft["updates"]
    a, b = np.flatnonzero((u["shard"] == 0) & (u["worker"] == 1))[3:5]
    u["seq"][[a, b]] = u["seq"][[b, a]]


@corruption("a read lacks an own INC made before it", "read-my-writes", "vap")
def _(draft):
    r = draft["reads"]
    line = draft.read_where(lambda i: r["clock"][i] > 1 and r["own_from"][i] < r["own_upto"][i] - 1)
    r["own_upto"][(r["worker"] == r["worker"][line]) & (r["t"] == r["t"][line])] -= 1


@corruption("a threshold is one per mille too high", "thresholds of starts", "vap")
def _(draft):
    draft["starts"]["v"][6] *= 1.001


@corruption("something is reserved though no bound is known", "thresholds of starts", "vap, nothing reserved")
def _(draft):
    draft["starts"]["reservation"][6] = 0.01


@corruption("a start is of another time than the GET", "starts are GETs", "vap")
def _(draft):
    draft["starts"]["t_start"][8] += 1


@corruption("a start has read another number of rows", "starts are GETs", "vap")
def _(draft):
    draft["starts"]["rows"][8] += 1


@corruption("a computation is over after the worker's next one has begun", "spans of computations", "vap")
def _(draft):
    s = draft["starts"]
    a, b = np.flatnonzero(s["worker"] == 1)[2:4]
    s["t_over"][a] = s["t_start"][b] + 1


@corruption("two starts change places in the order of t", "spans of computations", "vap")
def _(draft):
    s = draft["starts"]
    i = _start_where(draft, lambda i: s["t_start"][i] < s["t_start"][i + 1])
    for name in ("t_start", "t_over", "worker", "clock", "seq", "rows", "waited", "stalled"):
        s[name][[i, i + 1]] = s[name][[i + 1, i]]


@corruption("more is unseen than may be", "gate of VAP", "vap")
def _(draft):
    draft["starts"]["unseen"][9] = 1.01 * draft["starts"]["v"][9]


@corruption("the others in flight are forgotten", "gate of VAP", "vap")
def _(draft):
    s = draft["starts"]
    s["others"][
        _start_where(draft, lambda i: s["others"][i] > 0 and s["t_start"][i] < s["t_over"][i - 1])
    ] = 0


@corruption("an update is larger than its reservation", "updates within reservations", "vap")
def _(draft):
    draft["start_values"]["update"][10] *= 1.001


@corruption("a view is farther off than v", "value bound", "vap")
def _(draft):
    e = draft["start_values"]
    line = int(np.flatnonzero(~np.isnan(e["view"]))[20])
    e["view"][line] += 1.0


@corruption("a distance is recorded smaller than it was", "distances from the reference", "vap")
def _(draft):
    s = draft["starts"]
    s["distance"][_start_where(draft, lambda i: s["distance"][i] > 0)] *= 0.5


@corruption("an overshoot is kept secret", "distances from the reference", "vap, nothing reserved")
def _(draft):
    s = draft["starts"]
    s["overshoot"][_start_where(draft, lambda i: s["overshoot"][i] > 0)] = 0.0


@corruption("the last update is halved", "updates of starts add up", "vap")
def _(draft):
    e = draft["start_values"]
    e["update"][e["t"] == e["t"].max()] *= 0.5


@corruption("a message of the gate is not counted", "traffic of the gate", "vap")
def _(draft):
    draft.manifest["gate"]["by_kind"]["seen"]["messages"] -= 1


@corruption("an INC is not announced", "traffic of the gate", "vap")
def _(draft):
    gate = draft.manifest["gate"]
    gate["by_kind"]["announced"]["messages"] -= 1
    gate["messages"] -= 1


def table() -> str:
    """Table in Markdown: what was planted, in a run of which policy, and the check that names it first."""
    lines = ["| planted in the trace | of a run of | caught by |", "|---|---|---|"]
    for fault in PLANTED:
        report = audit(plant(fault).trace())
        caught = report.violations[0].check if report.violations else "**nothing**"
        lines.append(f"| {fault.what} | {fault.policy} | {caught} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())

"""What was read: versions, own updates, ages, hits."""

import numpy as np

from tests.auditing.corruptions.planting import Faults

READS = Faults()


@READS.fault("a version is raised beyond what was applied", "versions exist")
def _(draft):
    r = draft["reads"]
    draft["reads"]["version"][len(r["t"]) // 2] += 9


@READS.fault("a version is raised by another worker's update", "versions travel in messages", "essp")
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


@READS.fault("a version is lowered below the guarantee", "SSP guarantee", "ssp, slack 0")
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


@READS.fault("a version is lowered by an own update", "own updates exactly once")
def _(draft):
    r, u = draft["reads"], draft["updates"]

    def is_own(line):
        newest = draft.newest_in(line)
        return newest is not None and u["worker"][newest] == r["worker"][line]

    r["version"][draft.read_where(is_own)] -= 1


@READS.fault("own_from is one too high: an own update is lost", "own updates exactly once")
def _(draft):
    draft["reads"]["own_from"][50] += 1


@READS.fault("own_from is one too low: an own update counts twice", "own updates exactly once", "essp")
def _(draft):
    draft["reads"]["own_from"][draft.read_where(lambda line: draft["reads"]["own_from"][line] > 0)] -= 1


@READS.fault("own_upto leaves out the current clock", "read-my-writes")
def _(draft):
    draft["reads"]["own_upto"][50] -= 1


@READS.fault("an age is too low", "true ages")
def _(draft):
    draft["reads"]["age"][draft.read_where(lambda line: draft["reads"]["age"][line] > 0)] -= 1


@READS.fault("an age is too high", "true ages", "asp")
def _(draft):
    draft["reads"]["age"][50] += 1


@READS.fault("a user's own policy: an age is above the slack", "ages within the slack")
def _(draft):
    draft.manifest["config"]["ps"]["policy"] = "my-own"
    draft["reads"]["age"][50] = 9


@READS.fault("a read is moved to a later clock", "reads inside their clock")
def _(draft):
    r = draft["reads"]
    r["clock"][draft.read_where(lambda line: r["clock"][line] % 3 == 0)] += 1  # it computes after that read


@READS.fault("a read is moved to a later time", "reads inside their clock")
def _(draft):
    draft["reads"]["t"][50] += 10**10


@READS.fault("a row is seen going back", "versions never go back", "essp")
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


@READS.fault("ASP: a copy fetched in an earlier clock is read", "ASP fetches in every clock", "asp")
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


@READS.fault("BSP: a read has an update of the current clock", "BSP view", "bsp")
def _(draft):
    draft["reads"]["version"][50] += 1


@READS.fault("a read names a row that its table does not have", "ids of reads")
def _(draft):
    draft["reads"]["row"][50] = 7


@READS.fault("a read names the wrong shard", "ids of reads")
def _(draft):
    draft["reads"]["shard"][50] ^= 1


@READS.fault("a hit is neither true nor false", "ids of reads")
def _(draft):
    draft["reads"]["hit"].view(np.uint8)[50] = 2


@READS.fault("a miss is turned into a hit, and counted as one", "hits and misses")
def _(draft):
    r, totals = draft["reads"], draft["read_totals"]
    line = draft.read_where(lambda line: not r["hit"][line])
    get = (r["t"] == r["t"][line]) & (r["worker"] == r["worker"][line])
    for clock in r["clock"][get & ~r["hit"]]:
        totals["hits"][totals["clock"] == clock] += 1
    r["hit"][get] = True


@READS.fault("a hit is turned into a miss, and counted as one", "hits and misses", "essp")
def _(draft):
    r, totals = draft["reads"], draft["read_totals"]
    line = draft.read_where(lambda line: r["hit"][line] and not r["waited"][line])
    r["hit"][line] = False
    totals["hits"][totals["clock"] == r["clock"][line]] -= 1

"""What a read is made of."""

from pskit.core import cache, kernels
from pskit.core.cache import ProcessCache
from pskit.core.client import Client
from pskit.core.server import ServerShard
from pskit.explore import System
from tests.explore.mutants.systems import DELTAS, ESSP1, ESSP_IDLE, SSP1
from tests.explore.mutation import Edit, Mutant

VIEWS = [
    Mutant(
        "own updates twice after a push",
        "a push says which own updates are in, and that replaces what the copy had",
        (Edit(ProcessCache, "install_push", "self.push_applied[shard] = push.applied", "pass"),),
        ESSP1,
    ),
    Mutant(
        "own updates twice after a second reply",
        "a reply says which own updates are in, and that replaces what the copy had",
        (Edit(kernels, "install_reply", "row_applied[r, w] = applied[w]", "pass"),),
        SSP1,
    ),
    Mutant(
        "received in place of applied",
        "applied counts what is in the copy, under BSP not what was merely received",
        (
            Edit(
                ServerShard,
                "_applied_of",
                "applied(w) for",
                "(self.clock.count(w) if w in self.clock else applied(w)) for",
            ),
        ),
        System("bsp", slack=0, clients=1, threads=2, shards=1, scripts={0: "C G0 L", 1: "I0 C I0 C L"}),
    ),
    Mutant(
        "no own updates",
        "a view is the copy plus the worker's own updates that are not in it",
        (Edit(Client, "_read", "state.log.add_to(", "(lambda *_: None)("),),
        SSP1,
    ),
    Mutant(
        "a view that is the cache's row",
        "GET returns copies",
        (
            Edit(
                Client,
                "_read",
                '.take(waiter.have_slot[cut], axis=0, mode="clip")',
                "[waiter.have_slot[cut][0] : waiter.have_slot[cut][0] + 1]",
            ),
        ),
        SSP1,
    ),
    Mutant(
        "forget own updates once they are sent",
        "an own update is re-added until every copy that may come has it",
        (
            Edit(
                Client,
                "_never_needed",
                "seq < self.policy.need(state.clock)",
                "seq < state.clock",
            ),
        ),
        System("ssp", slack=1, shards=1, clocks=2, trim=True),
    ),
    Mutant(
        "pushes do not confirm unchanged rows",
        "a push moves the clock on for all rows of its shard",
        (
            Edit(
                ProcessCache,
                "install_push",
                "self.push_clock[shard] = push.clock",
                "self.push_clock[shard] = push.clock if len(push.rows) else self.push_clock[shard]",
            ),
        ),
        ESSP_IDLE,
    ),
    Mutant(
        "entries of a push are added",
        "changed entries are overwritten with their new values",
        (
            Edit(
                cache,
                "overwrite_entries",
                "entries.cols[keep]] = entries.values[keep]",
                "entries.cols[keep]] += entries.values[keep]",
            ),
        ),
        DELTAS,
    ),
    Mutant(
        "a replied row is not sent in full",
        "a row replied to since the last push goes in full in the next one",
        (Edit(ServerShard, "_reply", "if len(self.replied):", "if False:"),),
        System("essp", slack=1, deltas=True, shards=1, scripts={0: "I0 C U0 C L", 1: "G0 C C G0 L"}),
    ),
    Mutant(
        "a reply a clock too new",
        "a reply carries the shard's clock",
        (Edit(ServerShard, "_reply", "self.clock.minimum,", "self.clock.minimum + 1,"),),
        SSP1,
    ),
    Mutant(
        "a version too new",
        "a reply carries the apply index of its rows",
        (Edit(ServerShard, "_reply", "self.apply_index,", "self.apply_index + 1,"),),
        SSP1,
    ),
]

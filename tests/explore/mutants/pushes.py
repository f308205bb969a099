"""What a shard pushes, and who owns a row version."""

from pskit.core import cache, kernels, server
from pskit.core.policies import ESSP
from pskit.core.server import ServerShard
from tests.explore.mutants.systems import DELTAS, ESSP1, ESSP_IDLE, EVICTING_BARRIER, SSP1
from tests.explore.mutation import Edit, Mutant

PUSHES = [
    Mutant(
        "no push without a changed row",
        "a subscriber with no changed row still gets the clock",
        (
            Edit(
                ServerShard,
                "_send_push",
                "    fields =",
                "    if not len(rows) and not entries:\n        return\n    fields =",
            ),
        ),
        ESSP_IDLE,
    ),
    Mutant(
        "push before the replies",
        "on a rise waiting requests are answered first",
        (Edit(ESSP, "on_rise", "shard.push(replied=shard.release())", "shard.push()\n    shard.release()"),),
        EVICTING_BARRIER,
    ),
    Mutant(
        "pushes overtake the replies of their rise",
        "on a rise waiting requests are answered first",
        (
            Edit(
                ServerShard,
                "receive",
                "return effects",
                "return sorted(effects, key=lambda e: isinstance(e[1], Reply))",
            ),
        ),
        EVICTING_BARRIER,
    ),
    Mutant(
        "push what was just replied",
        "rows replied to in the same rise are left out of that push",
        (Edit(ESSP, "on_rise", "replied=shard.release()", "replied=shard.release()[:0]"),),
        EVICTING_BARRIER,
    ),
    Mutant(
        "pushed rows stay changed",
        "a push carries what changed since the last rise",
        (Edit(ServerShard, "push", "self.dirty[changed] = False", "pass"),),
        ESSP1,
    ),
    Mutant(
        "reply without marking the version as shared",
        "a slot that was handed out is never written again",
        (Edit(ServerShard, "_reply", "self.shared[local] = True", "pass"),),
        SSP1,
    ),
    Mutant(
        "push without marking the version as shared",
        "a slot that was handed out is never written again",
        (Edit(ServerShard, "push", "self.shared[changed] = True", "pass"),),
        ESSP1,
    ),
    Mutant(
        "delta push without marking the version as shared",
        "a slot that was handed out is never written again",
        (Edit(server, "delta_push", "shard.shared[changed] = True", "pass"),),
        DELTAS,
    ),
    Mutant(
        "the server writes shared versions in place",
        "a slot that was handed out is never written again",
        (Edit(kernels, "apply_delta", "if shared[r]:", "if False:"),),
        SSP1,
    ),
    Mutant(
        "the client overwrites shared versions in place",
        "a slot that was handed out is never written again",
        (
            Edit(
                cache, "overwrite_entries", "fresh = pool.take(len(pick))", "fresh = slot[entries.rows[pick]]"
            ),
        ),
        DELTAS,
    ),
]

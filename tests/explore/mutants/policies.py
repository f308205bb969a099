"""BSP and ASP."""

from pskit.core import kernels
from pskit.core.client import Client
from pskit.core.policies import BSP
from pskit.core.server import ServerShard
from pskit.explore import System
from tests.explore.mutants.systems import ASYNC, BARRIER
from tests.explore.mutation import Edit, Mutant

BSP_AND_ASP = [
    Mutant(
        "BSP applies on arrival",
        "the shard applies clock c once all oplogs of it have arrived",
        (Edit(BSP, "on_oplog", "shard.hold(oplog)", "shard.apply(oplog)"),),
        BARRIER,
    ),
    Mutant(
        "BSP answers before it applies",
        "clock c is applied when it is complete, before any answer",
        (
            Edit(BSP, "on_rise", "    shard.apply_held()\n", ""),
            Edit(BSP, "on_rise", "shard.release()", "shard.release()\n    shard.apply_held()"),
        ),
        BARRIER,
    ),
    Mutant(
        "BSP applies only the newest complete clock",
        "all clocks below the shard's are applied",
        (Edit(ServerShard, "apply_held", "if c < self.clock.minimum", "if c == self.clock.minimum - 1"),),
        System("bsp", slack=0, shards=1, scripts={0: "L", 1: "I0 C I0 C L"}),
    ),
    Mutant(
        "ASP keeps a copy for ever",
        "the first GET of a row in each clock fetches it",
        (Edit(kernels, "lookup", "fetched[r] >= fetched_need", "fetched[r] >= 0"),),
        ASYNC,
    ),
    Mutant(
        "ASP marks a row as fetched for nobody",
        "a reply serves the clock of every worker that waits for it",
        (Edit(Client, "receive", "if self.policy.refetches:", "if False:"),),
        ASYNC,
    ),
]

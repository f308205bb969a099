"""Which copy may be returned, and when a request is answered."""

from pskit.core import kernels
from pskit.core.client import Client
from pskit.core.policies import Policy
from pskit.core.server import ServerShard
from pskit.explore import System
from tests.explore.mutants.systems import ESSP0, ESSP_SHARDS, SSP, SSP_THREADS
from tests.explore.mutation import Edit, Mutant

CONDITION = [
    Mutant(
        "the paper's strict condition",
        "a copy may be returned iff k >= c - s",
        (Edit(Policy, "need", "clock - self.slack", "clock - self.slack + 1"),),
        SSP,
    ),
    Mutant(
        "one clock too lax",
        "a copy may be returned iff k >= c - s",
        (Edit(Policy, "need", "clock - self.slack", "clock - self.slack - 1"),),
        SSP,
    ),
    Mutant(
        "the client's slowest clock in place of the reader's",
        "the need follows from the clock of the worker that reads",
        (
            Edit(
                Client,
                "get",
                "self.policy.need(state.clock)",
                "self.policy.need(min(s.clock for s in self.workers.values()))",
            ),
        ),
        SSP_THREADS,
    ),
    Mutant(
        "shards answer a clock too early",
        "a request is answered once the shard's clock reaches its need",
        (Edit(ServerShard, "_on_request", ">= request.need", ">= request.need - 1"),),
        SSP,
    ),
    Mutant(
        "shards answer a clock too late",
        "a request is answered once the shard's clock reaches its need",
        (Edit(ServerShard, "_on_request", ">= request.need", "> request.need"),),
        SSP,
    ),
    Mutant(
        "release equal needs only",
        "a rise answers all requests with need <= clock",
        (
            Edit(ServerShard, "release", "w[1].need <= clock", "w[1].need == clock"),
            Edit(ServerShard, "release", "w[1].need > clock", "w[1].need != clock"),
        ),
        System("ssp", slack=1, shards=1, scripts={0: "I0 L", 1: "C C C G0 L"}),
    ),
    Mutant(
        "release one request at a rise",
        "a rise answers all requests with need <= clock",
        (
            Edit(ServerShard, "release", "self.waiting = [", "ready = ready[:1]\n        self.waiting = ["),
            Edit(ServerShard, "release", "if w[1].need > clock", "if w not in ready"),
        ),
        System("ssp", slack=0, clients=3, shards=1, scripts={0: "I0 C L", 1: "C G0 L", 2: "C G0 L"}),
    ),
    Mutant(
        "the effective clock is the arrival's",
        "a subscribed copy has the later of the clocks it arrived with and that were pushed",
        (Edit(kernels, "lookup", "clock = max(clock, push_clock[j])", "pass"),),
        ESSP0,
    ),
    Mutant(
        "minimum over the shards",
        "no minimum over shards: a client without rows in a shard would wait for ever",
        (Edit(kernels, "lookup", "push_clock[j])", "push_clock.min())"),),
        System("essp", slack=0, shards=2, scripts={0: "G0 I0 C G0 L", 1: "G0 I0 C G0 L"}),
    ),
    Mutant(
        "newest push of any shard",
        "the effective clock is that of the row's own shard",
        (Edit(kernels, "lookup", "push_clock[j])", "push_clock.max())"),),
        ESSP_SHARDS,
    ),
]

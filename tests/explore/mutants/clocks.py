"""Oplogs, clocks and leaving."""

from pskit.core import clocks
from pskit.core.client import Client
from pskit.core.messages import ToShards
from pskit.core.oplog import UpdateLog
from pskit.core.policies import Policy
from pskit.core.server import ServerShard
from pskit.explore import System
from tests.explore.mutants.systems import ESSP_IDLE, SSP, SSP1, UNEVEN
from tests.explore.mutation import Edit, Mutant

CLOCKS = [
    Mutant(
        "clock logic before the updates",
        "an oplog is applied before any clock logic",
        (
            Edit(ServerShard, "_on_oplog", "    self.policy.on_oplog(self, oplog)\n", ""),
            Edit(
                ServerShard,
                "_on_oplog",
                "    if oplog.leaving:",
                "    self.policy.on_oplog(self, oplog)\n    if oplog.leaving:",
            ),
        ),
        SSP1,
    ),
    Mutant(
        "the fastest member's clock",
        "a shard's clock is the minimum over its members",
        (
            Edit(
                clocks, "_raise", "if head[AT_MINIMUM] > 0 or head[MEMBERS] == 0:", "if head[MEMBERS] == 0:"
            ),
            Edit(clocks, "_raise", "count < lowest", "count > lowest"),
            Edit(clocks, "tick", "if count > head[MINIMUM]:", "if False:"),
        ),
        SSP1,
    ),
    Mutant(
        "an empty oplog is not sent",
        "the oplog leaves even when empty: it carries the tick",
        (
            Edit(
                ToShards,
                "each",
                "for j in range(shards)",
                "for j in range(shards) if j in self.parts or self.tick.leaving",
            ),
        ),
        ESSP_IDLE,
    ),
    Mutant(
        "an oplog is sent twice",
        "updates leave exactly once",
        (
            Edit(
                Client,
                "_flush",
                "    state.clock = clock + 1",
                "    effects += effects\n    state.clock = clock + 1",
            ),
        ),
        SSP,
    ),
    Mutant(
        "an oplog is applied twice",
        "updates are applied exactly once",
        (Edit(Policy, "on_oplog", "shard.apply(oplog)", "shard.apply(oplog)\n    shard.apply(oplog)"),),
        SSP,
    ),
    Mutant(
        "updates of an earlier clock leave again",
        "updates leave exactly once",
        (Edit(UpdateLog, "close", "self.seq += 1", "self.seq += self.seq == 0"),),
        SSP1,
    ),
]

LEAVING = [
    Mutant(
        "take a leaver out before its last clock is in",
        "the leaving oplog is taken in as a clock, then the member is removed",
        (
            Edit(
                ServerShard,
                "_on_oplog",
                "    self.policy.on_oplog(self, oplog)\n",
                "    if oplog.leaving:\n"
                "        self._remove(oplog.worker)\n"
                "        self.policy.on_oplog(self, oplog)\n"
                "        return\n"
                "    self.policy.on_oplog(self, oplog)\n",
            ),
        ),
        System("ssp", slack=0, shards=1, scripts={0: "I0 L", 1: "C G0 L"}),
    ),
    Mutant(
        "a leaver stays a member",
        "then the member is removed",
        (Edit(ServerShard, "_on_oplog", "if oplog.leaving:", "if False:"),),
        System("ssp", slack=0, shards=1, scripts=UNEVEN),
    ),
    Mutant(
        "removal does not raise the clock",
        "then the minimum is recomputed",
        (Edit(clocks, "remove", "return bool(_raise(received, head))", "return False"),),
        System("ssp", slack=0, shards=1, scripts=UNEVEN),
    ),
    Mutant(
        "removal answers nobody",
        "and again raises, releases, pushes",
        (Edit(ServerShard, "_remove", "if rose:", "if False:"),),
        System("ssp", slack=0, shards=1, scripts=UNEVEN),
    ),
    Mutant(
        "updates after the last clock() are lost",
        "the leaving oplog has any INCs made after the last clock()",
        (Edit(ToShards, "to", "in self.parts else", "in self.parts and not self.tick.leaving else"),),
        System("ssp", slack=0, shards=1, scripts={0: "I0 L", 1: "L"}),
    ),
    Mutant(
        "what BSP holds back is dropped with the last member",
        "whatever is still buffered is first applied in (clock, worker) order",
        (Edit(ServerShard, "_remove", "if not len(self.clock) and self.held:", "if False:"),),
        System("bsp", slack=0, shards=1, scripts={0: "L", 1: "I0 C I0 C L"}),
    ),
]

"""The arbiter, what it hears, and the clients that wait at the gate (VAP)."""

from pskit.core import transit
from pskit.core.arbiter import Arbiter
from pskit.core.gated import GatedClient
from pskit.core.server import ServerShard
from pskit.core.transit import Transit
from pskit.explore import System
from tests.explore.mutation import Edit, Mutant

ONCE, TWICE = "G0 I0 L", "G0 I0 C G0 I0 L"
TWO = System("vap", shards=1, v0=1.2, schedule="constant", scripts={0: ONCE, 1: ONCE})
"""A computation with nothing unseen and one in flight may start, no more."""
NARROW = System("vap", shards=1, v0=0.5, schedule="constant", scripts={0: ONCE, 1: ONCE})
LONGER = System("vap", shards=1, v0=7.5, schedule="constant", scripts={0: TWICE, 1: ONCE})
TWICE_ADDED = System("vap", shards=1, v0=0.5, schedule="constant", scripts={0: "G0 I0 I0 L", 1: "G0 L"})
FALLING = System("vap", shards=1, v0=1.2, scripts={0: TWICE, 1: ONCE})
THREE = System("vap", clients=3, shards=1, v0=1.5, schedule="constant", scripts=dict.fromkeys(range(3), ONCE))
TWO_AND_A_READER = System(
    "vap", clients=3, shards=1, v0=1.5, schedule="constant", scripts={0: ONCE, 1: ONCE, 2: "G0 L"}
)
TOGETHER = System(
    "vap", clients=1, threads=2, shards=1, v0=0.5, schedule="constant", scripts={0: ONCE, 1: ONCE}
)
APART = System("vap", v0=0.5, schedule="constant", scripts={0: "G0,1 I0 I1 L", 1: "G0,1 L"})
OWN = System("vap", clients=1, v0=9.0, scripts={0: "G0,1 I0 I1 C G0,1 I1 C G0,1 L"})
BACK = System("vap", shards=1, v0=0.5, schedule="constant", scripts={0: "G0 I0 C G0 U0 L", 1: "G0 L"})
"""Where what is unseen may be negative."""
EACH = System("vap", shards=1, v0=0.5, schedule="constant", variant="per_worker", scripts={0: ONCE, 1: ONCE})
UNKNOWN = System("vap", shards=1, v0=0.5, schedule="constant", reserve=False, scripts={0: ONCE, 1: ONCE})

RIGHT = {
    "two": TWO, "narrow": NARROW, "longer": LONGER, "twice added": TWICE_ADDED, "falling": FALLING,
    "three": THREE, "two and a reader": TWO_AND_A_READER, "together": TOGETHER, "apart": APART, "own": OWN,
    "back": BACK, "each": EACH, "unknown": UNKNOWN,
}  # fmt: skip
"""Systems in which the core is right."""
LARGE = ("three",)
"""Of these, those with 100,000 states and more; smaller ones have as many workers, clocks and shards."""


def _edit(owner, name: str, old: str, new: str) -> tuple[Edit, ...]:
    return (Edit(owner, name, old, new),)


CLOSED = Edit(Arbiter, "ask", "if others > v:", "if False:")

GATE = [
    Mutant(
        "computations in flight are not counted",
        "a reservation for each other computation in flight",
        (CLOSED, Edit(Arbiter, "ask", "if unseen + others > v:", "if unseen > v:")),
        NARROW,
    ),
    Mutant(
        "nothing is reserved",
        "the reservation is made in the same step",
        _edit(Arbiter, "ask", "self.reserved[worker] = reservation", "pass"),
        NARROW,
    ),
    Mutant(
        "unseen and reserved are compared apart",
        "the sum of the two is at most v_t",
        _edit(Arbiter, "ask", "if unseen + others > v:", "if max(unseen, others) > v:"),
        THREE,
    ),
    Mutant(
        "starts are not counted",
        "t is drawn in the same step",
        _edit(Arbiter, "ask", "self._started[0] = t", "pass"),
        FALLING,
    ),
    Mutant(
        "the threshold is that of the start before",
        "v_t of the start's own number",
        _edit(Arbiter, "ask", "v = self.threshold(t)", "v = self.threshold(max(1, t - 1))"),
        FALLING,
    ),
    Mutant(
        "a reservation is given back at the first INC",
        "held until the last INC",
        _edit(
            GatedClient,
            "add",
            "\n    return [",
            "\n    return [Ended(worker)] + [",
        ),
        System("vap", shards=1, v0=1.5, schedule="constant", scripts={0: "G0 I0 I0 I0 L", 1: "G0 L"}),
    ),
    Mutant(
        "a reservation is never given back",
        "held until the last INC",
        _edit(GatedClient, "_flush", ", *self._over(state.worker)", ""),
        NARROW,
    ),
    Mutant(
        "what is not applied is forgotten",
        "in transit until the reader has seen it",
        _edit(Transit, "made", "room.owed[u] = True", "room.owed[u] = False"),
        UNKNOWN,
    ),
    Mutant(
        "what is applied counts as seen",
        "in transit until the reader has seen it",
        _edit(transit, "_apply", "owed[u] = clients", "owed[u] = False"),
        UNKNOWN,
    ),
    Mutant(
        "a push is taken for the one after it",
        "version v has the units with an index below v",
        _edit(transit, "_see", "index < version", "index <= version"),
        TWICE_ADDED,
    ),
    Mutant(
        "a push is taken for one of every shard",
        "apply indices are a shard's own",
        _edit(transit, "_see", "units[u, SHARD] == shard and", "units[u, SHARD] >= 0 and"),
        APART,
    ),
    Mutant(
        "a push is taken for one to every client",
        "in transit for each reader",
        _edit(transit, "_see", "owed[u, client] = False", "owed[u] = False"),
        THREE,
    ),
    Mutant(
        "updates of the same client count as seen",
        "workers of one client see each other's updates only through the server",
        _edit(transit, "_largest", "units[u, PRODUCER] != me", "units[u, PRODUCER] > me"),
        TOGETHER,
    ),
    Mutant(
        "unseen updates are not added up",
        "the norm of everything that is unseen",
        _edit(transit, "_largest", "(not apart or ", "("),
        THREE,
    ),
    Mutant(
        "the largest entry in place of the largest magnitude",
        "the infinity norm",
        _edit(transit, "_largest", "max(largest, abs(x))", "max(largest, x)"),
        BACK,
    ),
    Mutant(
        "only the first producer is looked at",
        "each producer's unseen sum",
        _edit(transit, "_largest", "if not left[first]:", "if not left[first] or first > 0:"),
        System(
            "vap",
            clients=3,
            shards=1,
            v0=4.0,
            schedule="constant",
            variant="per_worker",
            scripts={0: ONCE, 1: "C G0 I0 L", 2: "G0 L"},
        ),
    ),
    Mutant(
        "the gate is asked before all rows are there",
        "all rows asked for are cached",
        _edit(GatedClient, "get", "if hit.all():", "if hit.any():"),
        System("vap", v0=9.0, scripts={0: "G0 I0 C G0,1 L", 1: "L"}),
    ),
    Mutant(
        "updates leave at clock()",
        "oplogs leave at INC",
        _edit(GatedClient, "add", "if not len(rows):", "if len(rows):"),
        TWO,
    ),
    Mutant(
        "shards push on a rise",
        "shards push on arrival",
        _edit(ServerShard, "_on_increment", "self.push(only_changed=True)", "pass"),
        NARROW,
    ),
    Mutant(
        "a shard counts the units that it got",
        "own_from counts INC sequence numbers",
        _edit(ServerShard, "apply", "oplog.worker, oplog.seq)", "oplog.worker, self.applied[oplog.worker])"),
        OWN,
    ),
    Mutant(
        "an INC is a tick as well",
        "clock() sends the tick",
        _edit(
            ServerShard,
            "_on_increment",
            "self.push(only_changed=True)",
            "self.clock.tick(oplog.worker)\n    self.push(only_changed=True)",
        ),
        TWO,
    ),
]

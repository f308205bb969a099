"""Rule-based machines: hypothesis plays the workers, the links and the caches of a cluster."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.property.cluster import MOST_CLOCKS, MOST_INCS, Cluster
from tests.property.lossy import LossyCluster

PICK = st.integers(0, 63)
ROWS = st.sets(st.integers(0, 7), min_size=1, max_size=4)
POLICIES = {
    "ssp": {"policy": "ssp"},
    "essp-rows": {"policy": "essp"},
    "essp-deltas": {"policy": "essp", "deltas": True},
    "bsp": {"policy": "bsp"},
    "asp": {"policy": "asp"},
}


def has_slack(policy: str) -> bool:
    return policy not in ("bsp", "asp")


class Protocol(RuleBasedStateMachine):
    """Anything that workers, links and caches may do, in any order; then everybody leaves."""

    name = "ssp"
    make = Cluster

    def __init__(self) -> None:
        super().__init__()
        self.cluster: Cluster | None = None
        self.incs: dict[tuple[int, int], int] = {}

    @initialize(
        slack=st.integers(0, 3),
        clients=st.integers(1, 3),
        threads=st.integers(1, 3),
        shards=st.integers(1, 3),
        n_rows=st.integers(1, 3),
        x_rows=st.integers(0, 2),
        cache_rows=st.integers(0, 2),
        forgetful=st.booleans(),
    )
    def start(self, slack, **sizes) -> None:
        slack = slack if has_slack(self.name) else 0
        self.cluster = self.make(**POLICIES[self.name], slack=slack, **sizes)

    def idle(self, pick: int) -> int:
        return self.cluster.idle[pick % len(self.cluster.idle)]

    def rows(self, rows: set[int]) -> list[int]:
        return sorted({r % self.cluster.layout.n_rows for r in rows})

    @precondition(lambda self: self.cluster and self.cluster.idle)
    @rule(pick=PICK, rows=ROWS)
    def get(self, pick, rows) -> None:
        self.cluster.get(self.idle(pick), self.rows(rows))

    @precondition(lambda self: self.cluster and self.cluster.idle)
    @rule(pick=PICK, rows=ROWS, salt=PICK)
    def inc(self, pick, rows, salt) -> None:
        worker = self.idle(pick)
        key = worker, self.cluster.clock_of(worker)
        self.incs[key] = self.incs.get(key, 0) + 1
        if self.incs[key] <= MOST_INCS:
            self.cluster.inc(worker, self.rows(rows), salt)

    @precondition(lambda self: self.cluster and self.cluster.idle)
    @rule(pick=PICK, rows=ROWS, salt=PICK, read=st.booleans())
    def finish_clock(self, pick, rows, salt, read) -> None:
        """One clock of a usual application's worker: its INCs, clock(), and the next GET."""
        worker = self.idle(pick)
        self.inc(self.cluster.idle.index(worker), rows, salt)
        if self.cluster.clock_of(worker) < MOST_CLOCKS:
            self.cluster.clock(worker)
            if read:
                self.cluster.get(worker, self.rows(rows))

    @precondition(lambda self: self.cluster and len(self.cluster.idle) > 1)
    @rule(pick=PICK)
    def leave(self, pick) -> None:
        self.cluster.leave(self.idle(pick))

    @precondition(lambda self: self.cluster and self.cluster.busy)
    @rule(picks=st.lists(PICK, min_size=1, max_size=8))
    def deliver(self, picks) -> None:
        for pick in picks:
            if busy := self.cluster.busy:
                self.cluster.deliver(busy[pick % len(busy)])

    @precondition(lambda self: self.cluster)
    @rule(client=PICK, rows=ROWS)
    def evict(self, client, rows) -> None:
        self.cluster.evict(client % len(self.cluster.clients), self.rows(rows))

    @precondition(lambda self: self.cluster and self.cluster.policy.subscribes)
    @rule(client=PICK, shard=PICK)
    def fill_or_make_room(self, client, shard) -> None:
        pair = client % len(self.cluster.clients), shard % len(self.cluster.shards)
        if pair in self.cluster.full:
            self.cluster.make_room(*pair)
        elif pair[0] not in self.cluster.dead:
            self.cluster.fill(*pair)

    @precondition(lambda self: self.cluster)
    @rule()
    def collect(self) -> None:
        self.cluster.collect()

    @invariant()
    def check(self) -> None:
        if self.cluster:
            self.cluster.check()

    def teardown(self) -> None:
        if self.cluster:
            self.cluster.run_out()


class Deaths(Protocol):
    """The same, and clients die."""

    @precondition(lambda self: self.cluster and len(self.cluster.dead) + 1 < len(self.cluster.clients))
    @rule(client=PICK)
    def kill(self, client) -> None:
        alive = [c for c in range(len(self.cluster.clients)) if c not in self.cluster.dead]
        self.cluster.kill(alive[client % len(alive)])

    @precondition(lambda self: self.cluster)
    @rule(client=PICK, rows=ROWS)
    def evict(self, client, rows) -> None:
        if client % len(self.cluster.clients) not in self.cluster.dead:
            self.cluster.evict(client % len(self.cluster.clients), self.rows(rows))


class LossyProtocol(Protocol):
    """The same over links that lose, repeat and reorder packets."""

    make = LossyCluster

    def wires(self) -> list:
        return [link for link, packets in self.cluster.wire.items() if packets]

    @precondition(lambda self: self.cluster and self.wires())
    @rule(picks=st.lists(st.tuples(PICK, PICK), min_size=1, max_size=8))
    def arrive_in_any_order(self, picks) -> None:
        for pick, i in picks:
            if wires := self.wires():
                link = wires[pick % len(wires)]
                self.cluster.arrive(link, i % len(self.cluster.wire[link]))

    @precondition(lambda self: self.cluster and self.wires())
    @rule(pick=PICK, i=PICK, keep=st.booleans())
    def lose_or_repeat(self, pick, i, keep) -> None:
        wires = self.wires()
        link = wires[pick % len(wires)]
        change = self.cluster.repeat if keep and self.cluster.repeats < 100 else self.cluster.lose
        change(link, i % len(self.cluster.wire[link]))

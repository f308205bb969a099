"""VAP in any order of events: hypothesis, and long random walks."""

from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.property.gated import GatedCluster

PICK = st.integers(0, 63)
ROWS = st.sets(st.integers(0, 5), min_size=1, max_size=3)
WALKS, STEPS = 40, 150


def rows_of(cluster, rows):
    return sorted({row % cluster.layout.n_rows for row in rows})


class GatedProtocol(RuleBasedStateMachine):
    """Workers that compute and wait at the gate, and links that deliver when they like."""

    def __init__(self):
        super().__init__()
        self.cluster = None

    @initialize(
        v0=st.sampled_from([1e-9, 0.4, 0.5, 1.0, 3.0]),
        variant=st.sampled_from(["aggregate", "aggregate", "per_worker"]),
        schedule=st.sampled_from(["inverse-sqrt", "constant"]),
        reserve=st.booleans(),
        deltas=st.booleans(),
        clients=st.integers(1, 3),
        threads=st.integers(1, 2),
        shards=st.integers(1, 3),
        n_rows=st.integers(1, 3),
        x_rows=st.integers(0, 2),
    )
    def begin(self, **sizes):
        self.cluster = GatedCluster(**sizes)

    def worker(self, pick):
        return self.cluster.idle[pick % len(self.cluster.idle)]

    @precondition(lambda self: self.cluster and self.cluster.idle)
    @rule(pick=PICK, rows=ROWS)
    def get(self, pick, rows):
        self.cluster.get(self.worker(pick), rows_of(self.cluster, rows))

    @precondition(lambda self: self.cluster and self.cluster.idle)
    @rule(pick=PICK, rows=ROWS, salt=PICK)
    def inc(self, pick, rows, salt):
        self.cluster.inc(self.worker(pick), rows_of(self.cluster, rows), salt)

    @precondition(lambda self: self.cluster and self.cluster.idle)
    @rule(pick=PICK)
    def clock(self, pick):
        self.cluster.clock(self.worker(pick))

    @precondition(lambda self: self.cluster and self.cluster.at_gate)
    @rule(pick=PICK)
    def open(self, pick):
        self.cluster.open(self.cluster.at_gate[pick % len(self.cluster.at_gate)])

    @precondition(lambda self: self.cluster and self.cluster.busy)
    @rule(picks=st.lists(PICK, min_size=1, max_size=6))
    def deliver(self, picks):
        for pick in picks:
            if busy := self.cluster.busy:
                self.cluster.deliver(busy[pick % len(busy)])

    @invariant()
    def check(self):
        if self.cluster:
            self.cluster.check()

    def teardown(self):
        if self.cluster:
            self.cluster.run_out()


TestGatedProtocol = GatedProtocol.TestCase
TestGatedProtocol.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)


@pytest.mark.parametrize("variant", ["aggregate", "per_worker"])
def test_walks(variant):
    starts = 0
    for seed in range(WALKS):
        random = Random(f"{variant} {seed}")
        cluster = GatedCluster(
            v0=random.choice([1e-9, 0.5, 1.0, 2.5]),
            variant=variant,
            schedule=random.choice(["inverse-sqrt", "constant"]),
            reserve=random.random() < 0.7,
            deltas=random.random() < 0.5,
            clients=random.randint(1, 4),
            threads=random.randint(1, 2),
            shards=random.randint(1, 3),
            n_rows=random.randint(1, 3),
            x_rows=random.randint(0, 2),
        )
        walk(cluster, random)
        cluster.run_out()
        starts += len(cluster.computations)
    assert starts > 10 * WALKS


def walk(cluster, random):
    everything = range(cluster.layout.n_rows)
    for _ in range(STEPS):
        moves = []
        if cluster.idle:
            worker = random.choice(cluster.idle)
            rows = sorted(random.sample(everything, random.randint(1, len(everything))))
            moves.append(lambda w=worker, rows=rows: cluster.get(w, rows))
            moves.append(lambda w=worker, rows=rows: cluster.inc(w, rows, random.randrange(3)))
            moves.append(lambda w=worker: cluster.clock(w))
        if cluster.busy:
            link = random.choice(cluster.busy)
            moves += 2 * [lambda link=link: cluster.deliver(link)]
        if cluster.at_gate:
            waiting = random.choice(cluster.at_gate)
            moves.append(lambda w=waiting: cluster.open(w))
        if moves:
            random.choice(moves)()
    cluster.check()

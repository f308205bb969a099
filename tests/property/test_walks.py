"""Long random walks through the protocol: cheaper than hypothesis' by far, so they reach further."""

from random import Random

import pytest

from tests.property.cluster import MOST_CLOCKS, MOST_INCS, Cluster
from tests.property.lossy import LossyCluster
from tests.property.machines import POLICIES, has_slack

WALKS = 30


def random_cluster(random: Random, name: str) -> Cluster:
    make = LossyCluster if random.random() < 0.25 else Cluster
    return make(
        **POLICIES[name],
        slack=random.randrange(4) if has_slack(name) else 0,
        clients=random.randint(1, 3),
        threads=random.randint(1, 3),
        shards=random.randint(1, 3),
        n_rows=random.randint(1, 3),
        x_rows=random.randint(0, 2),
        cache_rows=random.randint(0, 2),
        forgetful=random.random() < 0.5,
    )


def deliver(cluster: Cluster, random: Random) -> None:
    """A message of some link arrives; a lossy one may lose, repeat or reorder a packet in its place."""
    link = random.choice(cluster.busy)
    if isinstance(cluster, LossyCluster) and cluster.wire[link]:
        i = random.randrange(len(cluster.wire[link]))
        p = random.random()
        if p < 0.2:
            cluster.lose(link, i)
        elif p < 0.3:
            cluster.repeat(link, i)
        else:
            cluster.arrive(link, i)
    else:
        cluster.deliver(link)


def walk(cluster: Cluster, random: Random) -> None:
    n_rows, incs = cluster.layout.n_rows, {}
    steps = random.choice([50, 150, 300])
    p_evict, p_leave, p_deliver = random.choice([0, 0.02, 0.1]), random.choice([0, 0.05]), random.random()
    p_full, p_die = random.choice([0, 0.05, 0.2]), random.choice([0, 0.01])
    for _ in range(steps):
        rows = sorted(random.sample(range(n_rows), random.randint(1, n_rows)))
        alive = [c for c in range(len(cluster.clients)) if c not in cluster.dead]
        if random.random() < p_evict:
            cluster.evict(random.choice(alive), rows)
        if random.random() < p_full:
            pair = random.choice(alive), random.randrange(len(cluster.shards))
            cluster.make_room(*pair) if pair in cluster.full else cluster.fill(*pair)
        if random.random() < p_die and len(alive) > 1 and not isinstance(cluster, LossyCluster):
            cluster.kill(random.choice(alive))
        if random.random() < 0.05:
            cluster.collect()
        if cluster.busy and random.random() < p_deliver:
            deliver(cluster, random)
        elif cluster.idle:
            worker = random.choice(cluster.idle)
            now = cluster.clock_of(worker)
            incs[worker, now] = incs.get((worker, now), 0)
            p = random.random()
            if p < p_leave:
                cluster.leave(worker)
            elif p < 0.4:
                cluster.get(worker, rows)
            elif p < 0.7 and incs[worker, now] < MOST_INCS:
                incs[worker, now] += 1
                cluster.inc(worker, rows, salt=random.randrange(20))
            elif now < MOST_CLOCKS:
                cluster.clock(worker)
        cluster.check()
    cluster.run_out()


@pytest.mark.parametrize("name", POLICIES)
def test_walks(name):
    reads = 0
    for seed in range(WALKS):
        random = Random(f"{name} {seed}")
        cluster = random_cluster(random, name)
        walk(cluster, random)
        reads += cluster.watch.reads
    assert reads > WALKS * 10  # they did something


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_many_walks(name):
    for seed in range(WALKS, 40 * WALKS):
        random = Random(f"{name} {seed}")
        walk(random_cluster(random, name), random)

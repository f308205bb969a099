"""What a read contains, and that its age means the same wherever it is shown."""

from collections import defaultdict

import numpy as np
import pytest

import pskit
from tests.field_notes.runs import BAD_LINKS, NO_LATENCY, POLICIES, STEADY, config, finished

every_policy = pytest.mark.parametrize("policy", POLICIES)
BOUNDED = [name for name in POLICIES if name != "asp"]


@pytest.mark.field_note(
    11,
    "A read is judged by its own worker's clock: nothing older than the slack, own updates each exactly "
    "once, also right after a push. The workers check the values they see, the auditor derives the same from"
    " the trace.",
)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("network", [{}, BAD_LINKS], ids=["good links", "bad links"])
@every_policy
def test_every_read_keeps_the_guarantee(policy, network, seed):
    compute = {"model": "exponential", "mean": "1s", "stragglers": [{"worker": 2, "factor": 4.0}]}
    cluster = {"clients": 3, "threads": 2}
    run = {"trace": "full", "seed": seed}
    trace = finished(
        config("Rounds", policy, clocks=12, cluster=cluster, compute=compute, network=network, run=run)
    )
    ages = trace.columns("reads")["age"]
    slack = trace.config["ps"].get("slack")
    assert slack is None or ages.max() == slack, "reached, since one worker is slow, and never exceeded"


@pytest.mark.field_note(
    12, "A worker has one clock: how often and which rows it reads does not move it; only clock() does."
)
@every_policy
def test_reading_a_row_more_often_does_not_move_a_clock(policy):
    trace = finished(config("Favourites", policy, clocks=9, cluster={"clients": 3}))
    reads, clocks = trace.columns("reads"), trace.columns("clocks")
    assert (reads["row"] == 0).sum() == 3 * 3 * 9
    for worker in range(3):
        ends = np.sort(clocks["t_end"][clocks["worker"] == worker])
        assert len(ends) == 9
        mine = reads["worker"] == worker
        ended = np.searchsorted(ends, reads["t"][mine], side="right")
        assert np.array_equal(reads["clock"][mine], ended)


@pytest.mark.field_note(
    13,
    "Consistency is per row and no snapshot is promised: rows of one GET may come from different moments, "
    "and the trace has the version of each.",
)
@pytest.mark.parametrize("policy", ["ssp", "essp", "asp"])
def test_rows_of_one_get_have_versions_of_their_own(policy):
    trace = finished(config("Rounds", policy, clocks=12, cluster={"clients": 3}))
    reads = trace.columns("reads")
    moments = defaultdict(set)
    for get in zip(
        *(reads[name].tolist() for name in ("worker", "t", "clock", "own_upto", "version")), strict=True
    ):
        moments[get[:-1]].add(get[-1])
    assert max(map(len, moments.values())) > 1


@pytest.mark.field_note(
    14,
    "Bounded delay is there, and what it costs or spares is measured: with the same slack, pushed copies are"
    " nearly fresh and pulled ones spread up to the bound.",
)
def test_the_delay_is_bounded_and_its_size_is_measured():
    ages = {}
    for policy in ("ssp", "essp"):
        app = {"name": "quadratic", "dim": 4, "step": 0.001, "clocks": 40}
        trace = pskit.run(pskit.Config(app=app, ps={"policy": policy, "slack": 10}, cluster={"clients": 6}))
        assert pskit.audit(trace).ok
        ages[policy] = trace.staleness()
    assert ages["ssp"].ages.max() == 10
    assert ages["essp"].mean() < 2 < ages["ssp"].mean()


@pytest.mark.field_note(
    15,
    "A clock moves when its last oplog arrives, not at a tick of a timer: without latency, waiting adds "
    "nothing, and a run takes the time of its slowest worker to the nanosecond.",
)
@every_policy
def test_nothing_is_polled(policy):
    compute = {**STEADY, "stragglers": [{"worker": 1, "factor": 2.0}]}
    cluster = {"clients": 3}
    cfg = config("Rounds", policy, clocks=7, cluster=cluster, compute=compute, network=NO_LATENCY)
    assert finished(cfg).manifest["emulated_ns"] == 7 * 2_000_000_000


@pytest.mark.field_note(
    15, "With latency, a round under BSP is one computation and the messages behind each other, no more."
)
def test_a_round_is_its_messages_and_nothing_else():
    network = {"latency": {"model": "constant", "mean": "50ms"}}
    cluster = {"clients": 3, "placement": "separate"}
    trace = finished(config("Rounds", "bsp", clocks=5, cluster=cluster, compute=STEADY, network=network))
    begins = np.unique(trace.columns("clocks")["t_begin"])
    # After the first clock: the oplogs are under way for 50 ms while the requests wait at the shards already,
    # and the replies take as long again.
    assert np.diff(begins).tolist() == [1_100_000_000] * 4


@pytest.mark.field_note(
    16,
    "The age of a read is defined once, c - k, with k counted from the updates themselves; raw reads, "
    "histogram, analysis and the paper's differential all agree with that count, and so does the auditor.",
)
@pytest.mark.parametrize("policy", POLICIES)
def test_the_age_is_the_same_number_everywhere(policy):
    workers = 3
    trace = finished(config("Rounds", policy, clocks=10, cluster={"clients": workers}))
    reads, updates = trace.columns("reads"), trace.columns("updates")
    for shard in range(2):
        here, there = reads["shard"] == shard, updates["shard"] == shard
        # k from scratch: of how many clocks are the updates of every worker in this version?
        applied = [np.sort(updates["apply_index"][there & (updates["worker"] == w)]) for w in range(workers)]
        counts = [np.searchsorted(indices, reads["version"][here], side="left") for indices in applied]
        k = np.min(counts, axis=0)
        assert np.array_equal(reads["age"][here], reads["clock"][here] - k)
    ages, counts = np.unique(reads["age"], return_counts=True)
    staleness = trace.staleness()
    assert (staleness.ages.tolist(), staleness.counts.tolist()) == (ages.tolist(), counts.tolist())
    assert staleness.mean() == pytest.approx(reads["age"].mean())
    shares = {-age - 1: share for age, share in staleness.histogram("age").items()}
    assert staleness.histogram("paper") == shares
    assert pskit.audit(trace).checked["true ages"] == len(reads["age"])


@pytest.mark.field_note(
    17,
    "Asynchronous runs pass the same audit as bounded ones. Rows that nobody filled or read are zero, and "
    "the first INC to them counts like any other.",
)
@pytest.mark.parametrize("network", [{}, BAD_LINKS], ids=["good links", "bad links"])
@every_policy
def test_a_first_inc_to_a_row_that_nobody_filled(policy, network):
    trace = finished(config("AddsFirst", policy, clocks=7, cluster={"clients": 4}, network=network))
    for name in ("x", "n"):
        assert not trace.table(name, "initial").any()
        # clocks 0, 3, 6 / 1, 4 / 2, 5; worker ids add up to 6
        assert trace.table(name).tolist() == [[12, 18], [8, 12], [8, 12]]

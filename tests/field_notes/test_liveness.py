"""Clocks, barriers and ends of work: nobody waits for ever, and if so, it is said who."""

import re

import numpy as np
import pytest

import pskit
from pskit.core.messages import ProtocolViolation
from pskit.core.policies import register_policy
from pskit.core.policies.ssp import SSP
from pskit.runtime.base import Stuck
from tests.field_notes.runs import BAD_LINKS, POLICIES, config, finished

every_policy = pytest.mark.parametrize("policy", POLICIES)


def clocks_of(trace: pskit.Trace) -> list[int]:
    """Finished clocks per worker."""
    return np.bincount(trace.columns("clocks")["worker"], minlength=trace.manifest["workers"]).tolist()


def handle(policy: str, records: int, clients: int, *, tail: bool = False, **given) -> pskit.Trace:
    """Have every record handled exactly once."""
    options = {"records": records, "tail": tail}
    trace = finished(config("Records", policy, options=options, cluster={"clients": clients}, **given))
    assert trace.table("seen").sum() == records
    assert trace.table("seen").max(initial=0) <= 1
    return trace


@pytest.mark.field_note(
    1,
    "The end is a step of the protocol: each worker leaves each shard with its last oplog, also over links "
    "that lose messages, and the run ends at the last of these, not when a socket or a thread goes away.",
)
@every_policy
def test_a_run_ends_with_everybody_taken_out_of_every_shard(policy):
    trace = finished(config("Rounds", policy, network=BAD_LINKS, cluster={"clients": 3, "threads": 2}))
    members = trace.columns("members")
    left = sorted(zip(members["worker"].tolist(), members["shard"].tolist(), strict=True))
    assert left == [(worker, shard) for worker in range(6) for shard in range(2)]
    assert set(members["event"]) == {"left"}
    assert members["t"].max() == trace.manifest["emulated_ns"]


@pytest.mark.field_note(
    2,
    "Clocks are counted per worker id, whatever process it lives in: one worker, many in one process, and "
    "one in each of many all do every clock.",
)
@pytest.mark.parametrize(("clients", "threads"), [(1, 1), (1, 4), (2, 1), (5, 3), (24, 1)])
@pytest.mark.parametrize("policy", ["ssp", "essp", "bsp"])
def test_any_number_of_workers_and_processes(policy, clients, threads):
    cfg = config("Rounds", policy, clocks=4, cluster={"clients": clients, "threads": threads})
    assert clocks_of(finished(cfg)) == [4] * (clients * threads)


@pytest.mark.field_note(
    3,
    "A worker that is done leaves at once: when it is out does not depend on how long the others go on, and "
    "they do go on.",
)
@every_policy
def test_leaving_waits_for_nobody_and_takes_nobody_along(policy):
    gone = []
    for others in (3, 12):
        options = {"clocks": [2, others, others]}
        trace = finished(config("tests.runtime.apps:Digits", policy, options=options, cluster={"clients": 3}))
        assert clocks_of(trace) == [2, others, others]
        members = trace.columns("members")
        gone.append(members["t"][members["worker"] == 0].tolist())
        assert max(gone[-1]) < trace.manifest["emulated_ns"]
    assert gone[0] == gone[1]


@pytest.mark.field_note(
    4,
    "The worker with a clock less is taken out of the vector clock after its last one, and the others "
    "finish.",
)
@every_policy
def test_one_worker_has_a_clock_less(policy):
    assert clocks_of(handle(policy, records=11, clients=2)) == [6, 5]


@pytest.mark.field_note(
    5,
    "Shares that do not divide evenly just mean different numbers of clocks; every record is handled exactly"
    " once.",
)
@pytest.mark.parametrize(("records", "workers"), [(145, 3), (7, 3), (10, 4), (9, 8)])
@pytest.mark.parametrize("policy", ["ssp, slack 0", "essp", "bsp", "asp"])
def test_shares_that_do_not_divide_evenly(policy, records, workers):
    expected = [len(range(worker, records, workers)) for worker in range(workers)]
    assert clocks_of(handle(policy, records, workers)) == expected


@pytest.mark.field_note(
    6, "A worker without any data leaves at once, or ticks with an empty share, and holds nobody up."
)
@every_policy
@pytest.mark.parametrize("records", [0, 1, 3])
def test_more_workers_than_records(policy, records):
    assert clocks_of(handle(policy, records, clients=7)) == [1] * records + [0] * (7 - records)


@pytest.mark.field_note(
    6, "Matrix factorization with more workers than users: those without ratings tick every clock."
)
@every_policy
def test_more_workers_than_users(policy, tmp_path):
    data = tmp_path / "ratings.txt"
    data.write_text("".join(f"{user} {item} {1 + user}\n" for user in range(3) for item in range(4)))
    app = {"name": "mf", "data": str(data), "rank": 2, "kernel": "numpy", "clocks": 5}
    ps = {**POLICIES[policy], "shards": 2}
    trace = finished(pskit.Config(app=app, ps=ps, cluster={"clients": 8}, run={"trace": "full"}))
    assert clocks_of(trace) == [5] * 8
    assert trace.final_loss() < trace.loss()["value"][0]


@pytest.fixture
def own_policies(monkeypatch):
    """Two policies with a fault: one forgets who waits, one takes the slack check as the paper prints it."""
    monkeypatch.setattr("pskit.core.policies._POLICIES", {"ssp": SSP})

    @register_policy
    class Literal(SSP):
        name = "literal"

        def need(self, clock):
            return clock - self.slack + 1  # c_param > c_worker - s: one clock too strict

    @register_policy
    class Forgetful(SSP):
        name = "forgetful"

        def on_rise(self, shard):
            pass


@pytest.mark.field_note(
    8,
    "A run that cannot go on ends at once and names each waiting worker, its clock, what it waits for and "
    "since when, and the clocks of the shards.",
)
def test_a_run_that_cannot_go_on_says_who_waits_for_what(own_policies):
    cfg = config("tests.runtime.apps:Digits", ps={"policy": "forgetful", "slack": 0}, cluster={"clients": 3})
    with pytest.raises(Stuck) as stuck:
        pskit.run(cfg)
    said = str(stuck.value)
    assert "nothing is in flight, but 3 workers wait" in said
    for worker in range(3):
        what = r"waits for \d rows since [\d.]+ s, first row \d of table 'n' with a clock of [12] or more"
        assert re.search(rf"worker {worker} at clock [12] {what}", said)
    assert "Shard clocks: {0: 1, 1: 1}" in said


def test_a_need_that_can_never_be_met_is_not_even_waited_for(own_policies):
    cfg = config("tests.runtime.apps:Digits", ps={"policy": "literal", "slack": 0}, cluster={"clients": 3})
    with pytest.raises(ProtocolViolation, match="'literal': the need at clock 0 is 1, which can never be"):
        pskit.run(cfg)


@pytest.mark.field_note(
    9,
    "There are no reusable flags: a round is a count. Under BSP no worker ever sees a round before it is "
    "over, also when late and repeated messages of earlier rounds are about.",
)
@pytest.mark.parametrize("network", [{}, BAD_LINKS], ids=["good links", "bad links"])
def test_no_round_is_passed_on_the_release_of_an_earlier_one(network):
    stragglers = [{"worker": w, "factor": 6.0, "probability": 0.3} for w in range(4)]
    compute = {"model": "exponential", "mean": "1s", "stragglers": stragglers}
    cfg = config("Rounds", "bsp", clocks=25, cluster={"clients": 4}, network=network, compute=compute)
    assert clocks_of(finished(cfg)) == [25] * 4


@pytest.mark.field_note(
    10,
    "Returning from work() in the middle of a clock is a normal end: what was added since the last clock() "
    "is taken in, and those who wait for this clock are let on.",
)
@every_policy
def test_data_that_ends_within_a_clock(policy):
    trace = handle(policy, records=11, clients=3, tail=True)
    assert clocks_of(trace) == [3, 3, 2]
    updates = trace.columns("updates")
    assert sorted(set(zip(updates["worker"].tolist(), updates["clock"].tolist(), strict=True)))[-1] == (2, 2)

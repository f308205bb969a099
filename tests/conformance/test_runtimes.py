"""Every runtime keeps every promise: the same suite over all of them."""

import numpy as np
import pytest

from tests.conformance.runs import DIGITS, DRIFT, LINKS, POLICIES, RUNTIMES, check, run
from tests.conformance.twin import bsp_twin

pytestmark = pytest.mark.parametrize("runtime", RUNTIMES)
BOUNDED = [name for name in POLICIES if name not in ("bsp", "asp")]


@pytest.mark.parametrize("links", LINKS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_over_links_of_every_kind(runtime, policy, links):
    trace = run(runtime, policy, network=LINKS[links])
    check(trace)
    assert (trace.columns("messages")["t_deliver"] == -1).any() == (links != "plain")
    oldest = trace.columns("reads")["age"].max()
    if policy == "bsp":
        assert oldest == 0
    elif policy in BOUNDED:
        assert oldest <= POLICIES[policy]["slack"]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_cache_of_one_row_shared_by_three_workers(runtime, policy):
    cluster = {"clients": 2, "threads": 3, "placement": "colocated"}
    check(run(runtime, policy, clocks=5, ps={"shards": 3, "cache_rows": 1}, cluster=cluster))


@pytest.mark.parametrize("policy", ["ssp", "essp", "essp, deltas", "bsp", "asp"])
def test_workers_with_uneven_work_or_none(runtime, policy):
    """And more workers and shards than rows: some shards own nothing."""
    clocks = [5, 0, 9, 1]
    options = {"clocks": clocks, "tail": True, "rows": 2}
    trace = run(runtime, policy, options=options, ps={"shards": 3}, clocks=9)
    check(trace)
    finished = np.bincount(trace.columns("clocks")["worker"], minlength=4)
    assert finished.tolist() == clocks


def test_nobody_works_at_all(runtime):
    trace = run(runtime, "essp", options={"clocks": [0, 0, 0, 0]})
    check(trace)
    assert not trace.table("n").any()


@pytest.mark.parametrize("placement", ["colocated", "separate"])
def test_cards_that_queue(runtime, placement):
    cluster = {"clients": 3, "threads": 1, "placement": placement}
    network = {"latency": {"model": "constant", "mean": "10ms"}, "bandwidth": "4kB/s"}
    trace = run(runtime, "essp", clocks=4, cluster=cluster, network=network)
    check(trace)
    messages = trace.columns("messages")
    machine = messages["dst"] - 3 if placement == "colocated" else -1
    remote = (messages["src"] < 3) & (machine % 3 != messages["src"])
    least = messages["bytes"] * 250_000 + 10_000_000  # ns on the card, and then on the way
    assert (messages["t_deliver"] - messages["t_send"] >= least)[remote].all()


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_added_whatever_was_read_adds_up_to_the_same(runtime, policy):
    trace = run(runtime, policy, clocks=6, options={"tail": True})
    check(trace)
    expected = run("sim", "ssp", clocks=6, options={"tail": True}, cluster={"clients": 4, "threads": 1})
    assert np.array_equal(trace.table("n"), expected.table("n"))


@pytest.mark.parametrize("cluster", [(1, 1), (3, 1), (2, 2)], ids=str)
def test_under_bsp_values_are_those_of_a_serial_program(runtime, cluster):
    """Bit for bit, floats whose sums depend on the order of adding included."""
    clients, threads = cluster
    trace = run(runtime, "bsp", DRIFT, cluster={"clients": clients, "threads": threads})
    check(trace)
    tables, losses = bsp_twin(trace)
    for name, values in tables.items():
        assert trace.table(name).tobytes() == values.tobytes()
    assert trace.loss()["value"].tolist() == losses


@pytest.mark.parametrize("policy", ["ssp", "essp", "essp, deltas", "asp"])
def test_floats(runtime, policy):
    check(run(runtime, policy, DRIFT))


def test_a_value_that_is_no_number_ends_the_run_as_diverged(runtime):
    options = {"fail": 1, "how": "nan"}
    trace = run(runtime, "ssp", "tests.runtime.live.apps:Told", clocks=1000, options=options)
    assert trace.status == "diverged"
    faults = trace.columns("faults")
    assert (faults["what"].tolist(), faults["worker"].tolist()) == (["non-finite"], [1])
    assert (faults["clock"].tolist(), faults["table"].tolist(), faults["row"].tolist()) == ([2], ["x"], [0])
    assert np.isfinite(trace.table("x")).all()


def test_apps_are_named_by_module_and_class(runtime):
    assert run(runtime, "ssp", clocks=1).config["app"]["name"] == DIGITS

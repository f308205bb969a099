"""Rings too small for what goes through them: nothing is lost, nobody gets stuck, memory is bounded."""

import numpy as np
import pytest

import pskit
from tests.runtime.live.runs import config

WIDE = "tests.runtime.live.apps:Wide"
CLOCKS = 14
DOZES = {"model": "constant", "mean": "1s", "stragglers": [{"worker": 0, "factor": 0.05}]}
"""Worker 0 is soon ahead of the others by as much as the slack allows."""


def wide(policy, clocks=CLOCKS, **options):
    """Three rows, of which the ring holds four copies; worker 0 may take nothing in for a while."""
    return config(
        policy, WIDE, clocks=clocks, scale=0.02, options={"cols": 20_000, "rows": 3, **options},
        ps={"slack": 8} if policy.startswith("essp") else {}, compute=DOZES,
        network={"latency": {"model": "constant", "mean": "10ms"}},
    )  # fmt: skip


def check(trace, clocks=CLOCKS):
    assert trace.status == "finished"
    report = pskit.audit(trace)
    assert report.ok, [str(violation) for violation in report.violations]
    assert report.share == 1
    assert np.array_equal(trace.table("n"), trace.table("n", "incs"))
    assert (trace.table("n") == 3 * clocks).all()


@pytest.mark.parametrize("policy", ["essp", "essp, deltas"])
def test_pushes_to_a_client_that_takes_nothing_in_are_merged(policy, tmp_path):
    trace = pskit.run(wide(policy, at=8, folder=str(tmp_path)))
    check(trace)
    full = trace.manifest["full_rings"]
    assert full["pushes_put_off"] > full["pushes_in_their_place"] > 0
    pushes = trace.messages()["push"]["messages"]
    rises = CLOCKS + 3  # of leaving oplogs and of leaving, too
    assert pushes - full["pushes_in_their_place"] + full["pushes_put_off"] <= 3 * rises


def test_replies_larger_than_a_ring_come_through():
    """Each has 17 MB, and no ring more than 16 MiB."""
    trace = pskit.run(wide("ssp", clocks=2, cols=720_000))
    check(trace, clocks=2)
    assert trace.manifest["full_rings"]["messages_delayed"] > 0


def test_a_client_waits_for_a_server_that_does_not_come_to_reading(tmp_path):
    """Many oplogs in a moment: the client waits for room, and keeps no long list of them."""
    options = {"cols": 20_000, "rows": 3, "rush": True, "folder": str(tmp_path)}
    cfg = config("asp", WIDE, clocks=CLOCKS, options=options)
    trace = pskit.run(cfg)
    check(trace)
    assert trace.manifest["full_rings"]["client_pauses"] > 0

"""A seed decides everything, and each entity has its own share of it."""

import random

import numpy as np
import pytest

from tests.field_notes.runs import POLICIES, config, finished


@pytest.mark.field_note(
    34,
    "Nothing draws from a global generator: whatever state those of Python and NumPy are in, the run is the "
    "same, and it leaves them as they were.",
)
@pytest.mark.parametrize("policy", POLICIES)
def test_global_generators_do_not_matter(policy):
    cfg = config("tests.runtime.apps:Drift", policy, cluster={"clients": 3}, run={"seed": 7})
    hashes = set()
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)
        before = random.getstate(), np.random.get_state()[1].tolist()
        manifest = finished(cfg).manifest
        hashes.add((manifest["schedule_hash"], manifest["value_hash"]))
        assert before == (random.getstate(), np.random.get_state()[1].tolist())
    assert len(hashes) == 1


@pytest.mark.field_note(
    34,
    "Every worker, link and table has a stream of its own: another client, a straggler or more clocks leave "
    "the draws of all the others as they are.",
)
@pytest.mark.parametrize(
    "change",
    [
        {"cluster": {"clients": 5}},
        {"clocks": 9},
        {"ps": {"shards": 3}},
        {
            "compute": {
                "model": "exponential",
                "mean": "1s",
                "stragglers": [{"worker": 2, "factor": 3.0, "probability": 0.5}],
            }
        },
        {"network": {"latency": {"model": "constant", "mean": "1ms"}}},
    ],
    ids=["more clients", "more clocks", "more shards", "a straggler", "another network"],
)
def test_what_is_added_shifts_no_other_draw(change):
    def drawn(**given):
        trace = finished(config("Chances", "asp", **{"clocks": 6, "cluster": {"clients": 3}, **given}))
        clocks = trace.columns("clocks")
        of_two = (clocks["worker"] < 2) & (clocks["clock"] < 6)
        order = np.lexsort((clocks["clock"][of_two], clocks["worker"][of_two]))
        times = clocks["t_compute"][of_two][order].tolist()
        incs = trace.table("x", "incs")[:2].tolist() if given.get("clocks", 6) == 6 else None
        return times, trace.table("x", "initial").tolist(), incs

    plain, changed = drawn(), drawn(**change)
    assert plain[:2] == changed[:2]
    assert changed[2] in (plain[2], None)

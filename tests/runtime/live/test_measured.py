"""Compute times that are measured: real kernels, on the scale of the run."""

import numpy as np
import pytest

import pskit
from tests.runtime.live.runs import config

TOLD = "tests.runtime.live.apps:Told"
REAL = 0.02
"""Seconds that every kernel takes."""


def measured(scale=0.02, **more):
    compute = {"model": "measured", **more}
    options = {"slow": REAL}
    return config("ssp", TOLD, clocks=5, scale=scale, options=options, compute=compute, run={"seed": 3})


def times(trace):
    """Compute times (ns emulated) by worker."""
    clocks = trace.columns("clocks")
    return {w: clocks["t_compute"][clocks["worker"] == w] for w in range(3)}


@pytest.mark.parametrize("scale", [0.02, 0.5])
def test_a_computation_takes_what_its_kernel_takes(scale):
    trace = pskit.run(measured(scale))
    assert trace.status == "finished"
    report = pskit.audit(trace)
    assert report.ok, report.story
    for of_worker in times(trace).values():
        assert len(of_worker) == 5
        assert (of_worker >= REAL / scale * 1e9).all()
        assert of_worker.min() < 20 * REAL / scale * 1e9, "nothing is padded"


def test_a_kernel_that_takes_nothing_takes_next_to_nothing():
    """Where a modelled clock would take its mean, 1 s."""
    cfg = config("ssp", TOLD, clocks=5, scale=1.0, compute={"model": "measured"})
    assert np.median(pskit.run(cfg).columns("clocks")["t_compute"]) < 0.5e9


def test_stragglers_and_pauses_prolong_what_is_measured():
    stragglers = [{"worker": 1, "factor": 6.0, "from_clock": 2}]
    trace = pskit.run(measured(0.2, stragglers=stragglers))
    assert pskit.audit(trace).ok
    of_worker = times(trace)
    assert (of_worker[1][2:] >= 6 * REAL / 0.2 * 1e9).all()
    assert of_worker[1][:2].min() < 6 * REAL / 0.2 * 1e9
    pause = {"worker": 0, "at": "0s", "duration": "2s"}
    assert pskit.run(measured(0.2, pauses=[pause])).columns("clocks")["t_end"].max() >= 2e9


def test_kernels_without_a_processor_of_their_own_make_a_run_less_faithful():
    """One that sleeps has none; as has one that waits for its turn."""
    fidelity = pskit.run(measured()).manifest["fidelity"]
    assert fidelity["overran_share"] == 1
    assert fidelity["verdict"] == "not faithful"
    assert "a kernel had no processor to itself" in fidelity["reason"]
    assert fidelity["advice"] == "use fewer clients than there are cores"


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"compute": {"model": "measured"}}, r"compute.model.*virtual time the real time of a kernel has no"),
        ({"compute": {"model": "measured", "mean": "1s"}, "run": {"runtime": "live"}}, "it has no mean"),
        (
            {"compute": {"model": "measured", "per_item": "1s"}, "run": {"runtime": "live"}},
            "it has no per_item",
        ),
        (
            {
                "compute": {"model": "measured", "stragglers": [{"worker": 0, "factor": 0.5}]},
                "run": {"runtime": "live"},
            },
            "cannot be made faster than it is",
        ),
        ({"network": {"latency": {"model": "measured"}}}, "network.latency.model"),
    ],
)
def test_what_has_no_meaning_is_refused(sections, message):
    with pytest.raises(pskit.InputError, match=message):
        pskit.Config(**sections)


def test_a_preset_gives_way_as_a_whole():
    compute = pskit.Config(compute={"model": "measured"}, run={"runtime": "live"}).compute
    assert (compute.floor, compute.mean, compute.reversion) == (0, None, 0.0)
    assert pskit.Config(**pskit.Config(compute={"model": "measured"}, run={"runtime": "live"}).to_dict())

"""Views, gradients and updates of rows out of the processes of a live run."""

import numpy as np
import pytest

import pskit
import theory
from pskit.apps import make_app
from tests.runtime.live.runs import SCALE


def config(name, policy="essp", **app):
    return pskit.Config(
        app={"name": name, "step": 0.2, "clocks": 10, **app},
        ps={"policy": policy, "slack": 2, "shards": 2},
        cluster={"clients": 2, "threads": 2, "placement": "separate"},
        run={"runtime": "live", "time_scale": SCALE, "seed": 4},
    )


@pytest.mark.parametrize("policy", ["ssp", "essp"])
def test_a_live_convex_run_is_measured_as_one_in_virtual_time(policy, tmp_path):
    cfg = config("huber", policy, dim=3, schedule="inverse-sqrt-t")
    trace = pskit.run(cfg, out=tmp_path / "run")
    report = pskit.audit(tmp_path / "run")
    assert report.ok, report.violations
    assert report.checked["views decode"] == 40
    steps, terms = pskit.open_trace(tmp_path / "run").steps(), make_app("huber").terms(cfg)
    np.testing.assert_allclose(terms.gradients(steps.views), steps.g, rtol=1e-12)
    np.testing.assert_allclose(steps.x[-1], trace.table("x")[:, 0], atol=1e-14)
    assert (np.diff(trace.columns("views")["t"]) >= 0).all()
    assert steps.counts.n.max() <= theory.n_max(4, 2, steps.per_row)
    assert trace.moments().n_reads == 40


def test_updates_of_rows_of_a_live_run():
    trace = pskit.run(config("mf", rank=2, clock_fraction=0.02, step=0.001))
    assert "no bound applies" in str(trace.moments())
    log = trace.columns("row_updates")
    assert set(log["worker"]) == {0, 1, 2, 3}
    assert (np.diff(log["clock"]) >= 0).all()

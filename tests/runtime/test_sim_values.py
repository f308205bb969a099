"""Which values a run comes to, bit for bit."""

import numpy as np
import pytest

from pskit.apps import make_app
from pskit.config import Config
from tests.runtime.apps import Digits, Drift
from tests.runtime.serial import SerialTwin
from tests.runtime.simulate import COMPUTE, LATENCY, POLICIES, config, ps, same_tables, simulate

MF = {"name": "mf", "rank": 3, "step": 0.02, "clock_fraction": 0.004, "clocks": 6}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(
    "app",
    [
        {**MF, "kernel": "numpy"},
        {**MF, "kernel": "numba", "biases": True, "schedule": "inverse-sqrt"},
        {"name": "quadratic", "dim": 7, "step": 0.3, "clocks": 30},
        {"name": "tests.runtime.apps:Drift", "clocks": 30},
        {"name": "tests.runtime.apps:Digits", "clocks": 15, "options": {"tail": True}},
    ],
    ids=["mf-numpy", "mf-numba-biases", "quadratic", "drift", "digits"],
)
def test_one_worker_equals_the_serial_twin(name, app):
    cfg = Config(app=app, ps=ps(name, 3, shards=3, cache_rows=5), cluster={"clients": 1}, run={"seed": 3})
    run = simulate(cfg, make_app(app["name"]))
    twin = SerialTwin(cfg, make_app(app["name"]), run).run()
    assert same_tables(run.outcome.final, twin)
    assert not same_tables(run.outcome.final, run.outcome.initial)


NETWORKS = {
    "other latencies": {"network": {"latency": {"model": "pareto", "mean": "1s", "alpha": 1.2}}},
    "no latency": {"network": {"latency": {"model": "constant", "mean": "0s"}}},
    "slow card": {"network": {"latency": LATENCY, "bandwidth": "2kB/s"}},
    "lossy": {"network": {"latency": LATENCY, "loss": 0.3, "reorder": True}},
    "other compute": {"compute": {"model": "lognormal", "mean": "3s", "cv": 2.0, "per_item": "1s"}},
    "straggler": {"compute": {**COMPUTE, "stragglers": [{"worker": 1, "factor": 30.0}]}},
    "steady": {
        "compute": {"model": "constant", "mean": "1s"},
        "network": {"latency": {"model": "constant", "mean": "1s"}},
    },
    "small cache": {"ps": {"policy": "bsp", "shards": 2, "cache_rows": 1}},
    "other shards": {"ps": {"policy": "bsp", "shards": 7}},
    "other clients": {"cluster": {"clients": 2, "threads": 3, "placement": "separate"}},
    "every worker its own client": {"cluster": {"clients": 6}},
}


@pytest.fixture(scope="module")
def bsp_values():
    return simulate(bsp_config(), Drift()).outcome.final


def bsp_config(**given):
    return config(
        "tests.runtime.apps:Drift",
        **{"ps": {"policy": "bsp", "shards": 2}, "cluster": {"clients": 3, "threads": 2}, **given},
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_bsp_values_do_not_depend_on_times_or_places(name, bsp_values):
    assert same_tables(simulate(bsp_config(**NETWORKS[name]), Drift()).outcome.final, bsp_values)


def test_ssp_values_do(bsp_values):
    """So the test above compares something."""
    a = simulate(bsp_config(ps={"policy": "ssp", "slack": 0}), Drift()).outcome.final
    b = simulate(
        bsp_config(ps={"policy": "ssp", "slack": 0}, **NETWORKS["other latencies"]), Drift()
    ).outcome.final
    assert not same_tables(a, b)
    assert not same_tables(a, bsp_values)


class Recording(Drift):
    """Keeps every view."""

    def __init__(self):
        self.views = []

    async def work(self, ps):
        get = ps.get

        async def keep(*wanted):
            views = await get(*wanted)
            self.views.append((ps.worker, *(v.tobytes() for v in views)))
            return views

        ps.get = keep
        await super().work(ps)


@pytest.mark.parametrize("slack", [0, 1, 4])
@pytest.mark.parametrize("capacity", [0, 1, 3])
@pytest.mark.parametrize("lossy", [False, True])
def test_rows_and_deltas_give_the_same_values(slack, capacity, lossy):
    network = {"latency": LATENCY, **({"loss": 0.2, "reorder": True} if lossy else {})}
    runs, apps = [], []
    for push in ("essp-rows", "essp-deltas"):
        cfg = config(
            ps=ps(push, slack, shards=2, cache_rows=capacity),
            cluster={"clients": 3, "threads": 2},
            network=network,
        )
        apps.append(Recording())
        runs.append(simulate(cfg, apps[-1]))
    assert apps[0].views == apps[1].views
    rows, deltas = runs
    assert same_tables(rows.outcome.final, deltas.outcome.final)
    for column, values in rows.columns["reads"].items():
        assert np.array_equal(values, deltas.columns["reads"][column]), column


def test_deltas_are_smaller_where_little_of_a_row_changes():
    """A worker changes one of 24 columns."""
    rows, deltas = (
        simulate(config(ps=ps(push, 1), cluster={"clients": 24}), Digits()).messages("push")["bytes"].sum()
        for push in ("essp-rows", "essp-deltas")
    )
    assert 0 < deltas < rows


@pytest.mark.parametrize("name", POLICIES)
def test_integer_tables_end_at_initial_plus_incs(name):
    outcomes = []
    for cluster in ({"clients": 6}, {"clients": 2, "threads": 3}):
        run = simulate(config(ps=ps(name, 2, shards=4), cluster=cluster, options={"tail": True}), Digits())
        outcome = run.outcome
        assert np.array_equal(outcome.final["n"], outcome.initial["n"] + outcome.incs["n"])
        outcomes.append(outcome.final)
    assert same_tables(*outcomes)  # what is added does not depend on what was read


def test_metrics_are_of_the_servers_tables():
    run = simulate(config(ps=ps("ssp", 2), options={"tail": True}), Digits())
    metrics = run.columns["metrics"]
    sums = metrics["value"][metrics["name"] == "sum"]
    assert sums[0] == 0
    assert sums[-1] == np.bitwise_xor.reduce(run.outcome.final["n"], axis=None)
    clocks = metrics["clock"][metrics["name"] == "loss"]
    assert clocks.tolist() == [*range(11), 10], "the last one after the updates behind the last clock"
    assert (np.diff(metrics["t"]) >= 0).all()


@pytest.mark.parametrize("every", [1, 3, 100])
def test_eval_every(every):
    run = simulate(config(run={"eval_every": every}, options={"tail": True}), Digits())
    metrics = run.columns["metrics"]
    clocks = metrics["clock"][metrics["name"] == "loss"].tolist()
    assert clocks == [*range(0, 11, every), 10]

"""The claims V-1 to V-3: what passes, what fails, and what is not tested."""

import math

import numpy as np
import pytest

from pskit.repro.claims.verdict import FAIL, FINDING, NOT_TESTED, PASS, judge
from pskit.repro.ensemble import Ensemble
from tests.paper.batches import MADE, batch_of, batches

EXPECTED = {"V-1": PASS, "V-2": FINDING, "V-3": FINDING}


def verdict(catalogue, name, profile="default", **changes):
    experiments = catalogue.claims[name].experiments
    return judge(catalogue, name, batches(catalogue, *experiments, profile=profile, **changes), {})


def changed(catalogue, name, change):
    """The verdict when ``change(cfg, columns)`` gives the columns."""
    (experiment,) = (catalogue.experiments[e] for e in catalogue.claims[name].experiments)
    found = [
        batch_of(cfg, seeds, experiment.varies, change(cfg, MADE[experiment.measure](cfg, seeds)))
        for cfg, seeds, _ in experiment.batches("default")
    ]
    return judge(catalogue, name, Ensemble(found), {})


@pytest.mark.parametrize("profile", ["quick", "default", "full"])
@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_expected(catalogue, name, profile):
    found = verdict(catalogue, name, profile)
    assert found.status == EXPECTED[name], found.why
    assert len(found.decisive) == 2
    assert all(part.binding for part in found.decisive)


@pytest.mark.parametrize("name", EXPECTED)
def test_without_runs_nothing_is_tested(catalogue, name):
    found = judge(catalogue, name, Ensemble([]), {})
    assert (found.status, found.parts) == (NOT_TESTED, [])
    assert "this profile has" in found.why


def test_one_seed_is_no_interval(catalogue):
    runs = batches(catalogue, "vap-floor", profile="quick")
    seed = {name: column[:1] for name, column in runs.traces[0].columns.items()}
    (experiment,) = (catalogue.experiments["vap-floor"],)
    one = [batch_of(cfg, seeds[:1], "run.seed", seed) for cfg, seeds, _ in experiment.batches("quick")]
    found = judge(catalogue, "V-3", Ensemble(one), {})
    assert found.status == NOT_TESTED
    assert "has 1 seeds; the intervals need 2" in found.why


@pytest.mark.parametrize(
    ("column", "value"),
    [("violations", 1), ("gradient", 1.01), ("step_error", 1e-9), ("over", 1.001), ("over", math.nan)],
)
def test_one_run_that_breaks_theorem_1_or_what_it_needs_fails(catalogue, column, value):
    def change(cfg, columns):
        values = columns[column].copy()
        values[0] = value
        return columns | {column: values} if (cfg.app.name, cfg.ps.v0) == ("huber", 1.0) else columns

    found = changed(catalogue, "V-1", change)
    assert found.status == FAIL
    assert "huber loss" in found.why


def times(column, factor, **where):
    """Multiply a column of the runs with these settings."""

    def change(cfg, columns):
        given = {"policy": cfg.ps.policy, "v0": cfg.ps.v0, "slack": cfg.ps.slack, "step": cfg.app.step}
        given["latency"] = cfg.network.latency.mean / 1e9
        if any(given[key] != value for key, value in where.items()):
            return columns
        return columns | {column: columns[column] * factor}

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (times("waiting", 0.9, v0=0.25), "waiting share, v0 = 0.25"),
        (times("waiting", 2.0, v0=1.0), "largest rise of the waiting share"),
        (times("in_flight", 1.1, v0=0.25), "computations in flight, v0 = 0.25"),
        (times("sync_messages", 1.5, v0=0.25), "synchronisation messages per computation, v0 = 0.25 / 4"),
        (times("floor", math.inf, v0=4.0), "runs that diverged"),
    ],
)
def test_a_price_that_is_not_as_expected_fails(catalogue, change, words):
    found = changed(catalogue, "V-2", change)
    assert found.status == FAIL
    assert words in found.why


def serial(**where):
    """All of the runs with these settings have one floor, a bit above that of a serial execution."""
    none = times("floor", 0.0, **where)

    def flat(cfg, columns):
        there = none(cfg, columns)["floor"] == 0
        return columns | {"floor": np.where(there, 1.1 * columns["serial"], columns["floor"])}

    return flat


NEAR, FAR = {"latency": 0.2, "step": 0.06}, {"latency": 1.0, "step": 0.06}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (serial(policy="vap", **NEAR), "largest / smallest floor, VAP 1 "),
        (times("floor", 1.1, slack=16, **NEAR), "largest / smallest floor, ESSP 1.1"),
        (times("floor", 0.9, slack=2, **NEAR), "ESSP's smallest floor / VAP's largest 0.9"),
        (
            times("floor", 1.5, policy="essp", **FAR),
            "ESSP's smallest floor / VAP's largest, latency of one clock",
        ),
        (serial(policy="essp", **FAR), "largest / smallest floor, ESSP, latency of one clock"),
        (times("floor", 2.0, v0=4.0, step=0.18), "step 0.18, VAP v0 = 4"),
        (times("gradient", 2.0, policy="vap"), "largest |g|_inf"),
        (times("gradient", math.nan, policy="vap", v0=1.0), "largest |g|_inf"),
    ],
)
def test_floors_that_are_not_as_expected_fail(catalogue, change, words):
    found = changed(catalogue, "V-3", change)
    assert found.status == FAIL
    assert words in found.why


def test_a_step_at_which_one_run_under_essp_stays_together_fails(catalogue):
    def change(cfg, columns):
        there = np.where(
            np.isinf(columns["floor"]), [0.5] + [math.inf] * (len(columns["floor"]) - 1), columns["floor"]
        )
        return columns | {"floor": there}

    found = changed(catalogue, "V-3", change)
    assert found.status == FAIL
    assert "share of runs that diverge, step 0.18, ESSP s = 1" in found.why

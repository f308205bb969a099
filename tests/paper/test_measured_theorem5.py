"""What batches are measured for: regret and staleness, shaped ages, and the counterexample."""

from itertools import pairwise

import numpy as np
import pytest

import pskit
import theory
from figures.tails import Levels
from pskit.config import Config
from pskit.convex import ensemble, measure
from pskit.repro.batches import seeded
from pskit.repro.ensemble import Ensemble
from pskit.repro.measured import counterexample, shaped, theorem5
from tests.paper.batches import batch_of


def config(app="absolute", clocks=24, law=None, **keys):
    tree = {
        "app": {
            "name": app,
            "dim": 3,
            "noise": 0.0,
            "distance": 0.2,
            "step": 0.5,
            "schedule": "inverse-sqrt-t",
            "clocks": clocks,
            **keys,
        },
        "ps": {"policy": "essp", "slack": 18 if law else 3},
        "cluster": {"clients": 3, "placement": "separate"},
        "run": {"eval_every": clocks, "diverge_factor": 1e6},
    }
    if law:
        tree["compute"] = {"model": "constant", "mean": "1s"}
        tree["network"] = {"latency": {"model": "constant", "mean": "250ms"}, "staleness": law}
    return Config(**tree)


def test_columns_are_those_of_the_ensemble():
    """Moments, levels and dispersion from sums kept of each run, against the whole arrays."""
    cfg, seeds = config(), range(4)
    columns = theorem5.measured([seeded(cfg, "run.seed", seed) for seed in seeds])
    whole = ensemble({"a": cfg}, seeds)["a"]
    moments = whole.moments()
    levels = Levels(Ensemble([batch_of(cfg, seeds, "run.seed", columns)]))
    assert levels.mu == pytest.approx(moments.mu, rel=1e-12)
    assert levels.var == pytest.approx(moments.var, rel=1e-12)
    assert columns["gamma_weighted"].mean() == pytest.approx(moments.mu_weighted, rel=1e-12)
    assert whole.F2 == levels.F2
    for name in ("C0", "C1", "C2"):
        assert np.array_equal(columns[name], whole.levels()[name])
    assert np.array_equal(columns["regret"], whole.mean_regret)
    report = theory.check_assumptions(whole.gamma, 3, 3, whole.first.eta, 1.0)
    assert levels.dispersion() == pytest.approx(report.A1["dispersion_index"], rel=0.35)  # ddof, a_t alike
    centre = theory.thm5_center(0.5, 1.0, whole.F2, 72, moments.mu)
    assert levels.centre() == pytest.approx(float(centre), rel=1e-9)


def test_the_regret_of_a_shorter_run_is_the_beginning_of_a_longer_one():
    long, short = (theorem5.row(config("huber", clocks, noise=0.1)) for clocks in (24, 3))
    assert long["reads"].tolist() == [9, 18, 36, 72]
    assert long["regret_after"][0] == pytest.approx(short["regret"], rel=1e-12)
    assert long["regret_after"][-1] == pytest.approx(long["regret"], rel=1e-12)


LAWS = [
    {"law": "fixed", "age": 3},
    {"law": "uniform", "low": 1, "high": 5},
    {"law": "bimodal", "near": 2, "far": 6, "p_far": 0.25, "bridge": 0.1},
    {"law": "heavy-tail", "mean": 3.0, "bound": 18},
]


@pytest.mark.parametrize("drawn", ["run", "clock"])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law["law"])
def test_shaped_runs_are_those_of_the_emulator(law, drawn, monkeypatch):
    cfg = config(law=law | {"drawn": drawn})
    monkeypatch.setattr(shaped, "EMULATED", 3)
    configs = [seeded(cfg, "run.seed", seed) for seed in range(5)]
    columns = shaped.measured(configs)
    assert np.isnan(columns["difference"]).tolist() == [False] * 3 + [True] * 2
    assert np.nanmax(columns["difference"]) < 1e-12
    assert np.unique(columns["regret"]).size == 5
    histogram = pskit.run(configs[2], threads=1).staleness().between(1, 10**6)
    assert columns["age"][2] == pytest.approx(histogram.mean(), rel=1e-12)


def test_another_age_would_be_noticed(monkeypatch):
    """The check against the emulator can fail."""
    cfg = config(law=LAWS[0] | {"drawn": "run"})
    ages = shaped.ages_of
    monkeypatch.setattr(shaped, "ages_of", lambda cfg: np.maximum(ages(cfg) - 1, 0))
    assert shaped.measured([cfg])["difference"][0] > 1e-3


def test_shaped_runs_need_a_law():
    with pytest.raises(ValueError, match=r"no \[network.staleness\]"):
        shaped.ages_of(config())


def coin(clocks=320):
    cfg = config(clocks=clocks, law={"law": "bimodal", "near": 1, "far": 8, "p_far": 0.5, "drawn": "run"})
    tree = cfg.to_dict()
    tree["app"] = {"name": "pskit.repro.measured.counterexample:Linear", "clocks": clocks, "step": 1.0}
    tree["app"]["schedule"] = "inverse-sqrt-t"
    tree["cluster"]["clients"], tree["ps"]["slack"] = 2, 8
    return Config(**tree)


def test_the_counterexample_in_closed_form_is_what_runs_do():
    columns = counterexample.measured([seeded(coin(), "run.seed", seed) for seed in (1, 2, 3, 4)])
    assert set(columns["slow"]) == {0.0, 1.0}
    assert columns["difference"].max() < 1e-12
    one = measure(pskit.run(seeded(coin(), "run.seed", 1), threads=1), "population")
    exact = counterexample.path(640, counterexample.SLOW if columns["slow"][0] else counterexample.FAST)
    np.testing.assert_allclose(one.views[:, 0], exact.views, atol=1e-12)
    np.testing.assert_allclose(one.x[:, 0], exact.x, atol=1e-12)


def test_the_counterexample_keeps_every_other_assumption():
    for reads in counterexample.READS[:3]:
        g = counterexample.slopes(reads)
        assert abs(g.sum()) < 1e-9  # so every x minimises the sum
        assert np.abs(g).max() == 1.0  # L
        star = counterexample.middle(reads)
        for age in (counterexample.SLOW, counterexample.FAST):
            x, views, u, _ = counterexample.path(reads, age)
            gamma = theory.gamma(x, views, u, 2, 8).gamma
            assert gamma.max() <= 2 * 17  # Lemma 4
            line = counterexample.closed_form(reads, 2, 8)
            assert ((x[:-1] - star) ** 2 / 2).max() <= line.F2 * (1 + 1e-12)


def test_the_printed_bound_falls_far_below_one_half():
    lines = [counterexample.closed_form(reads, 2, 8) for reads in (20480, 40960, 81920)]
    bound, log = [line.bound for line in lines], [line.log_bound for line in lines]
    assert bound[0] == 1.0  # vacuous
    assert all(a > b for a, b in pairwise(bound))
    assert bound[-1] < 1e-7
    np.testing.assert_allclose(np.exp(log), bound, rtol=1e-9)
    assert all(line.regret_slow > line.regret_fast for line in lines)


def test_with_golden_ages_it_is_the_golden_case(monkeypatch):
    """Views that lack nothing in place of one clock: the case that the theory was checked with."""
    monkeypatch.setattr(counterexample, "FAST", 0)
    assert counterexample.closed_form(160000, 2, 8).bound == pytest.approx(2.9e-21, rel=0.02)

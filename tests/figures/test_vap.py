"""The figures of VAP, drawn from made-up batches, and the numbers that they show."""

import csv
import math

import numpy as np
import pytest

from figures import vap_bound, vap_floor, vap_price
from figures.floors import extremes, floor, floors, jackknife, ratio
from figures.tails import LEVEL
from pskit.repro import drawing
from pskit.repro.catalogue import load_catalogue
from pskit.repro.ensemble import Ensemble
from tests.figures.conftest import ROOT
from tests.paper.batches import batches

CATALOGUE = load_catalogue(ROOT / "figures" / "figures.toml", ROOT / "experiments")
FIGURES = [name for name in CATALOGUE.figures if name.startswith("vap")]


@pytest.mark.parametrize("profile", ["quick", "default"])
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_written(name, profile, tmp_path):
    entry = CATALOGUE.figures[name]
    found = drawing.draw(name, entry, batches(CATALOGUE, *entry.experiments, profile=profile), tmp_path)
    assert found.files == [f"{name}.png", f"{name}.pdf", f"{name}.csv"]
    with (tmp_path / "figures" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert not any(math.isnan(float(row["y"])) for row in rows)
    assert "P = 8. shards: 1, placement separate." in found.caption
    assert ". v0 = 0.25, " in found.caption


@pytest.mark.parametrize("name", FIGURES)
def test_without_its_runs_a_figure_says_so(name, tmp_path):
    found = drawing.draw(name, CATALOGUE.figures[name], Ensemble([]), tmp_path)
    assert found.files == []
    assert found.caption.startswith("Not drawn: no run with")


@pytest.mark.parametrize(
    ("module", "experiment", "words"),
    [
        (vap_bound, "vap-bound", "0 are further away than v_t; the regret reaches 50% of the bound"),
        (vap_price, "vap-floor", "Per computation 13.0 messages and 624 bytes, beside 10.0 and 700"),
        (vap_floor, "vap-floor", "VAP 1.00 to 1.30 at latency .2 clock"),
    ],
)
def test_captions_say_what_the_runs_say(module, experiment, words):
    assert words in module.remarks(batches(CATALOGUE, experiment))


def near():
    return floors(batches(CATALOGUE, "vap-floor").select(step=0.06, latency="200ms", reversion=0.0))


def test_a_floor_is_a_ratio_of_means_with_an_interval():
    runs = near().vap[-1]
    found = floor(runs)
    assert found.value == pytest.approx(runs.column("floor").mean() / runs.column("serial").mean())
    assert found.low < 1.3 < found.high
    assert found.high - found.low < 0.01  # chance is common to both: 10% of it leaves .2%
    assert found.n == 6


def test_floors_are_compared_seed_by_seed():
    low, high = extremes(near().essp)
    assert (low.values("slack"), high.values("slack")) == ([1], [16])
    found = ratio(high, low)
    assert found.value == pytest.approx(1.43 / 1.35)
    assert found.high - found.low < 1e-9  # in every seed the same


def test_a_run_that_diverged_has_an_infinite_floor():
    (one, _) = floors(batches(CATALOGUE, "vap-floor").select(step=0.18)).essp
    assert floor(one).value == np.inf


def test_the_jackknife_of_a_mean_is_the_t_interval():
    values = np.array([1.0, 2.0, 4.0, 9.0])
    found = jackknife(np.mean, values)
    margin = 2.353363 * values.std(ddof=1) / 2  # t of 3 degrees of freedom at 95%
    assert found[:4] == pytest.approx((4.0, 4.0 - margin, 4.0 + margin, 4), rel=1e-5)
    assert found.level == LEVEL


def test_the_jackknife_of_paired_columns():
    values = np.array([1.0, 2.0, 4.0])
    found = jackknife(lambda a, b: a.mean() / b.mean(), 3 * values, values)
    assert found[:3] == pytest.approx((3.0, 3.0, 3.0))
    assert jackknife(np.mean, [5.0]) == (5.0, 5.0, 5.0, 1, 0.0)


def test_the_interval_of_the_jackknife_covers_as_often_as_it_says():
    draws = np.random.default_rng(2).normal(10.0, 1.0, (2000, 2, 6))
    found = [jackknife(lambda a, b: a.mean() / b.mean(), *pair) for pair in draws]
    assert np.mean([e.low <= 1.0 <= e.high for e in found]) == pytest.approx(LEVEL, abs=0.02)

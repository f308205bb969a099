"""The figures of Theorem 6, drawn from made-up batches."""

import csv
import math
from importlib import import_module

import numpy as np
import pytest

from figures import theorem6_band, theorem6_moments
from figures.kit import Sheet, styled
from pskit.analysis.variance import TERMS
from pskit.repro import drawing
from pskit.repro.catalogue import load_catalogue
from pskit.repro.ensemble import Ensemble
from tests.figures.conftest import ROOT
from tests.paper.batches import batches

CATALOGUE = load_catalogue(ROOT / "figures" / "figures.toml", ROOT / "experiments")
FIGURES = [name for name in CATALOGUE.figures if name.startswith("theorem6")]


def drawn(name, folder, profile="default"):
    entry = CATALOGUE.figures[name]
    return drawing.draw(name, entry, batches(CATALOGUE, *entry.experiments, profile=profile), folder)


@pytest.mark.parametrize("profile", ["quick", "default"])
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_written(name, profile, tmp_path):
    found = drawn(name, tmp_path, profile)
    assert found.files == [f"{name}.png", f"{name}.pdf", f"{name}.csv"]
    with (tmp_path / "figures" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert not any(math.isnan(float(row["y"])) for row in rows)
    assert "P = 4. shards: 1, placement separate. s = 3." in found.caption


@pytest.mark.parametrize("name", FIGURES)
def test_without_its_runs_a_figure_says_so(name, tmp_path):
    found = drawing.draw(name, CATALOGUE.figures[name], Ensemble([]), tmp_path)
    assert found.files == []
    assert found.caption.startswith("Not drawn: no run with")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("theorem6_band", "SSP 1e-15 (200 runs)"),
        ("theorem6_exact", "SSP -5.0% at the worst checkpoint"),
        ("theorem6_moments", "SSP 1000 and 1000; ESSP 1000 and 1000."),
        ("theorem6_slopes", "on the left are 2.00, 2.00, 3.00, 4.00."),
    ],
)
def test_captions_say_what_the_runs_say(name, words):
    runs = batches(CATALOGUE, *CATALOGUE.figures[name].experiments)
    assert words in import_module(f"figures.{name}").remarks(runs)


def test_the_bands_add_up_to_the_variance():
    (batch,) = batches(CATALOGUE, "theorem6-band").select(app="quadratic", policy="ssp")
    with styled():
        sheet = Sheet()
        ((left, right),) = sheet.axes(1, 2, 2)
        theorem6_band.so_far(left, batch.columns, 4, sheet, "SSP")
        theorem6_band.per_clock(right, batch.columns, 4, sheet, "SSP")
    for panel, line in (("so far", "Var(x_t), observed"), ("per clock", "change of Var(x_t), observed")):
        series = {}
        for where, name, x, y, *_ in sheet._rows:
            if where == f"SSP, {panel}":
                series.setdefault(name, {})[x] = y
        observed = series.pop(line)
        for x, value in observed.items():
            assert value == pytest.approx(sum(band[x] for band in series.values()), abs=1e-12)


def test_what_is_drawn_of_a_term_is_its_root_mean_square():
    clock, means = theorem6_moments.in_windows(np.array([3.0, 4.0, 0.0, 0.0, 9.0]) ** 2, 2)
    assert clock.tolist() == [0.5, 1.5]
    assert np.sqrt(means).tolist() == pytest.approx([math.sqrt(12.5), 0.0])
    assert {*theorem6_moments.SHOWN} <= {*TERMS}

"""The figures of the catalogue, and made-up runs to draw them from."""

import csv
from pathlib import Path

from pskit.repro import drawing
from pskit.repro.catalogue import load_catalogue
from tests.paper.batches import batches
from tests.paper.synthetic import ensemble

ROOT = Path(__file__).parents[2]
CATALOGUE = load_catalogue(ROOT / "figures" / "figures.toml", ROOT / "experiments")
BATCHED = [
    name
    for name, entry in CATALOGUE.figures.items()
    if any(CATALOGUE.experiments[experiment].measure for experiment in entry.experiments)
]
"""Figures of batches of runs; the others are of traces."""


def runs_of(name, profile="default"):
    """All runs of the experiments of a figure."""
    make = batches if name in BATCHED else ensemble
    return make(CATALOGUE, *CATALOGUE.figures[name].experiments, profile=profile)


def drawn(name, folder, profile="default", runs=None):
    """Draw a figure from `runs`, or those of its experiments."""
    runs = runs_of(name, profile) if runs is None else runs
    return drawing.draw(name, CATALOGUE.figures[name], runs, folder)


def rows_of(name, folder):
    """Rows of the CSV of a figure."""
    with (folder / "figures" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))

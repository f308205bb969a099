"""What the figures of Theorem 6 make of the columns of a batch."""

import math

import numpy as np
import pytest

from figures import theorem6_band, theorem6_moments
from figures.kit import Sheet, styled
from pskit.analysis.variance import TERMS
from tests.figures.made_up import CATALOGUE
from tests.paper.batches import batches


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

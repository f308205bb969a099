"""Columns with a row of numbers in every line, as pandas and xarray have them."""

import sys
import types

import numpy as np
import pytest

from pskit.analysis.frames import to_pandas, to_xarray

VIEWS = {"t": np.arange(3), "x": np.arange(6.0).reshape(3, 2)}


@pytest.fixture
def packages(monkeypatch):
    """Stand-ins that keep what they are given."""
    for name, made in (("pandas", "DataFrame"), ("xarray", "Dataset")):
        monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(**{made: lambda given: given}))


def test_a_frame_has_a_column_for_every_number(packages):
    frame = to_pandas(VIEWS)
    assert list(frame) == ["t", "x_1", "x_2"]
    assert frame["x_2"].tolist() == [1, 3, 5]


def test_a_dataset_has_a_second_dimension(packages):
    data = to_xarray({"views": VIEWS})
    assert data["views.t"][0] == "views"
    assert data["views.x"][0] == ("views", "views.x.entry")
    assert data["views.x"][1].shape == (3, 2)


def test_the_packages_themselves():
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    assert isinstance(to_pandas(VIEWS), pandas.DataFrame)
    assert isinstance(to_xarray({"views": VIEWS}), xarray.Dataset)

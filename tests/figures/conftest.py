from pathlib import Path

import pytest

from pskit.repro.catalogue import load_catalogue

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def catalogue():
    return load_catalogue(ROOT / "figures" / "figures.toml", ROOT / "experiments")

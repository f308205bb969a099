"""All states of smaller systems in which more happens: evictions, leaving, several workers, lossy links."""

import pytest

from pskit.explore import explore
from tests.explore.systems import SMALL


@pytest.mark.parametrize("name", SMALL)
def test_every_state(name):
    verdict = explore(SMALL[name])
    assert verdict.violation is None
    assert verdict.complete
    assert verdict.path == []

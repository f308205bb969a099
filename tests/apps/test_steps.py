import math
from types import SimpleNamespace

import pytest

from pskit.apps.steps import step_size


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [("constant", 2.0), ("inverse-sqrt", 2 / math.sqrt(5)), ("inverse-sqrt-t", 2 / math.sqrt(19))],
)
def test_a_step_falls_with_the_clock_or_with_the_index(schedule, wanted):
    app = SimpleNamespace(step=2.0, schedule=schedule)
    assert step_size(app, clock=4, start=19) == wanted


def test_the_first_step_is_the_whole_one():
    for schedule in ("constant", "inverse-sqrt", "inverse-sqrt-t"):
        assert step_size(SimpleNamespace(step=0.3, schedule=schedule), 0, 1) == 0.3

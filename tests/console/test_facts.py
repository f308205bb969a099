"""Numbers of a run as text."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.analysis.trace import Trace
from pskit.console import facts
from pskit.trace.schema import SCHEMA, as_columns


def trace_with(metrics: dict[str, list[object]]) -> Trace:
    columns = {table: as_columns(table, {column: [] for column in SCHEMA[table]}) for table in SCHEMA}
    columns["metrics"] = as_columns("metrics", metrics)
    config = {
        "app": {"name": "mf"},
        "ps": {"policy": "asp", "slack": None, "shards": 2},
        "cluster": {"clients": 4, "threads": 2},
    }
    manifest = {"config": config, "status": "finished", "emulated_ns": 0, "wall_seconds": 0.5}
    return Trace(manifest, columns, {})


METRICS = {
    "t": [0, 0, 10, 20, 20],
    "clock": [0, 0, 4, 8, 8],
    "name": ["loss", "test_loss", "loss", "loss", "test_loss"],
    "value": [9.0, 8.0, 5.0, 3.0, 4.0],
}


@pytest.mark.parametrize(
    ("last", "clocks"),
    [(0, [0]), (1, [0, 1]), (7, [0, 1, 2, 5, 7]), (10, [0, 1, 2, 5, 10]), (20, [0, 1, 2, 5, 10, 20])],
)
def test_milestones(last: int, clocks: list[int]) -> None:
    assert facts.milestones(last) == clocks


@given(st.integers(0, 10**6))
def test_milestones_ascend_to_the_end(last: int) -> None:
    clocks = facts.milestones(last)
    assert clocks == sorted(set(clocks))
    assert (clocks[0], clocks[-1]) == (0, last)


def test_loss_at_a_clock_is_the_last_value_up_to_it() -> None:
    trace = trace_with(METRICS)
    assert [facts.loss_at(trace, clock) for clock in (0, 3, 4, 7, 8)] == [9.0, 9.0, 5.0, 5.0, 3.0]
    assert math.isnan(facts.loss_at(trace, 9))
    assert math.isnan(facts.loss_at(trace, 0, "log_likelihood"))


def test_a_run_without_reads_and_clocks_has_dashes() -> None:
    shown = facts.facts(trace_with(METRICS))
    assert shown["setting"] == "mf, asp, no bound, P = 8, shards = 2"
    assert (shown["final loss"], shown["final test_loss"]) == ("3", "4")
    assert (shown["mean age"], shown["waiting"], shown["time per clock, median"]) == ("- clocks", "-", "-")
    assert (shown["messages"], shown["bytes"], shown["clocks evaluated"]) == ("0", "0 B", "8")


def test_a_log_likelihood_has_no_excursion() -> None:
    trace = trace_with({"t": [0, 1], "clock": [0, 1], "name": ["loss", "loss"], "value": [-9.0, -8.0]})
    assert facts.facts(trace)["excursion of loss"] == "-"


def test_a_run_without_metrics() -> None:
    empty = trace_with({column: [] for column in METRICS})
    assert facts.last_clock(empty) == 0
    assert facts.facts(empty)["excursion of loss"] == "-"


def test_differences_name_dotted_keys() -> None:
    one = {"ps": {"policy": "essp", "slack": 8, "push": "rows"}, "run": {"seed": 1}}
    other = {"ps": {"policy": "asp", "slack": None}, "run": {"seed": 1}, "app": {"step": 0.5}}
    assert facts.differences(one, other) == {
        "ps.policy": ("essp", "asp"),
        "ps.slack": ("8", "-"),
        "ps.push": ("rows", "-"),
        "app.step": ("-", "0.5"),
    }


def test_numbers() -> None:
    assert facts.number(np.float64(0.123456)) == "0.1235"
    assert facts.number(math.inf) == "inf"
    assert facts.share(0.0345) == "3.5%"
    assert facts.number(math.nan) == facts.share(math.nan) == "-"

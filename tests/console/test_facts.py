"""Numbers of a run as text."""

import math
from collections.abc import Iterable

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


def test_a_loss_is_that_of_its_own_clock_and_of_no_other() -> None:
    trace = trace_with(METRICS)
    assert [facts.loss_at(trace, clock) for clock in (0, 4, 8)] == [9.0, 5.0, 3.0]
    assert all(math.isnan(facts.loss_at(trace, clock)) for clock in (1, 3, 7, 9))
    assert math.isnan(facts.loss_at(trace, 4, "test_loss"))
    assert math.isnan(facts.loss_at(trace, 0, "log_likelihood"))


def evaluated_at(clocks: Iterable[int]) -> Trace:
    clocks = list(clocks)
    n = len(clocks)
    return trace_with({"t": clocks, "clock": clocks, "name": ["loss"] * n, "value": [1.0] * n})


@pytest.mark.parametrize(
    ("runs", "clocks"),
    [
        ([range(0, 101, 2)], [0, 2, 6, 10, 20, 50, 100]),
        ([range(101)], [0, 1, 2, 5, 10, 20, 50, 100]),
        ([[0, 7, 14, 20]], [0, 7, 14, 20]),
        ([[]], []),
        ([[5]], [5]),
        ([range(0, 31, 2), range(0, 31, 3)], [0, 6, 12, 24, 30]),
        ([range(13), range(0, 101, 2)], [0, 2, 6, 10, 12, 20, 50, 100]),  # one diverged
        ([[0, 1, 3], [0, 2, 4]], [0, 1, 2, 3, 4]),
        ([[], range(3)], [0, 1, 2]),
    ],
)
def test_clocks_that_are_shown_were_evaluated(runs: list[Iterable[int]], clocks: list[int]) -> None:
    assert facts.shown_clocks(*map(evaluated_at, runs)) == clocks


@given(st.lists(st.sets(st.integers(0, 300), max_size=30), min_size=1, max_size=3))
def test_every_row_has_a_value_and_every_run_its_last_one(runs: list[set[int]]) -> None:
    traces = [evaluated_at(sorted(run)) for run in runs]
    shown = facts.shown_clocks(*traces)
    assert shown == sorted(set(shown))
    for clock in shown:
        values = [facts.loss_at(trace, clock) for trace in traces]
        assert [not math.isnan(value) for value in values] == [clock in run for run in runs]
        assert any(clock in run for run in runs)
    assert {max(run) for run in runs if run} <= set(shown)


def test_a_run_without_reads_and_clocks_has_dashes() -> None:
    shown = facts.facts(trace_with(METRICS))
    assert shown["setting"] == "mf, asp, no bound, P = 8, shards = 2"
    assert (shown["final loss"], shown["final test_loss"]) == ("3", "4")
    assert (shown["mean age"], shown["waiting"], shown["time per clock, median"]) == ("- clocks", "-", "-")
    assert (shown["messages"], shown["bytes"], shown["evaluations"]) == ("0", "0 B", "3, the last at clock 8")


def test_a_log_likelihood_has_no_excursion() -> None:
    trace = trace_with({"t": [0, 1], "clock": [0, 1], "name": ["loss", "loss"], "value": [-9.0, -8.0]})
    assert facts.facts(trace)["excursion of loss"] == "-"


def test_a_run_without_metrics() -> None:
    empty = trace_with({column: [] for column in METRICS})
    assert facts.shown_clocks(empty) == []
    assert facts.facts(empty)["evaluations"] == "0"
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


def test_a_live_run_says_how_faithful_it_was() -> None:
    trace = trace_with(METRICS)
    assert facts.fidelity(trace) == {}
    lateness = {"p50": 1.5, "p99": 250.0, "max": 4000.0}
    found = {
        "verdict": "strained",
        "time_scale": 0.1,
        "reason": "why",
        "advice": "do",
        "lateness_us": lateness,
    }
    live = Trace({**trace.manifest, "fidelity": found}, {name: trace.columns(name) for name in SCHEMA}, {})
    shown = facts.facts(live)
    assert shown["fidelity"] == "strained at 0.1 s per emulated second: why"
    assert shown["lateness of messages"] == "median 1.50 us, 99% 250 us, most 4.00 ms (real time)"
    assert shown["advice"] == "do"


def test_the_step_is_shown_with_what_the_staleness_makes_of_it() -> None:
    plain = trace_with(METRICS)
    assert facts.effective_step(plain) == {}, "without reads there is no staleness"
    columns = {name: plain.columns(name) for name in SCHEMA}
    columns["histogram"] = as_columns("histogram", {"clock": [0, 4], "age": [0, 3], "count": [1, 1]})

    def shown(**app: object) -> dict[str, str]:
        config = {**plain.config, "app": {"name": "mf", **app}}
        return facts.effective_step(Trace({**plain.manifest, "config": config}, columns, {}))

    label = "step x workers x mean age"
    assert shown(step=0.01) == shown(step=0.01, schedule="constant") == {label: "0.12"}
    assert shown(step=0.5, schedule="inverse-sqrt") == {label: "6, with the first step"}
    assert shown() == {}
    assert label in facts.facts(
        Trace({**plain.manifest, "config": {**plain.config, "app": {"name": "mf", "step": 1.0}}}, columns, {})
    )


def test_schedule_hashes_are_explained_where_they_cannot_be_equal() -> None:
    def run(runtime: str, schedule_hash: str, **more: str) -> Trace:
        made = trace_with(METRICS)
        config = {**made.config, "run": {"runtime": runtime}}
        manifest = {**made.manifest, "config": config, "schedule_hash": schedule_hash, **more}
        return Trace(manifest, {name: made.columns(name) for name in SCHEMA}, {})

    live, sim, names = run("live", "a"), run("sim", "b"), ("x", "y")
    replay = run("live", "c", replay_of="a")
    assert facts.about_schedules(names, (sim, sim)) is facts.about_schedules(names, (live, live)) is None
    assert str(facts.about_schedules(names, (live, sim))).startswith("schedule hashes tell nothing")
    assert str(facts.about_schedules(names, (live, replay))).startswith("y is a replay of x, which took")
    assert str(facts.about_schedules(names, (replay, live))).startswith("x is a replay of y, which took")
    other = run("live", "d", replay_of="elsewhere")
    assert str(facts.about_schedules(names, (live, other))).startswith("schedule hashes tell nothing")
    assert facts.about_schedules(names, (replay, other)) is None

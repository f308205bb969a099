"""Views, gradients and updates of sampled rows, as they are taken down."""

from types import SimpleNamespace

import numpy as np
import pytest

from pskit.core.layout import Layout, TableSpec
from pskit.trace import steps
from pskit.trace.recorder import Recorder
from pskit.trace.schema import MATRICES, OPTIONAL, as_columns
from pskit.trace.steps import SAMPLED_ROWS, RowLog, StepLog
from pskit.trace.store import open_run, write_run
from tests.trace.synthetic import make_run

LAYOUT = Layout([TableSpec("x", 3, 1, "f8"), TableSpec("y", 2, 2, "f4")], shards=2)


def part(table, rows, delta):
    return SimpleNamespace(table=table, rows=np.array(rows, np.int32), delta=np.array(delta))


def test_views_stand_in_one_line_table_after_table():
    log = StepLog(LAYOUT)
    views = np.array([[1.0], [2.0], [3.0]]), np.array([[4, 5], [6, 7]], np.float32)
    log.view(70, 1, 0, np.arange(5, dtype=np.int32), views)
    log.view(71, 0, 0, np.arange(4, dtype=np.int32), views)  # not all rows
    views[0][:] = 0  # what is recorded is a copy
    log.step(1, 0, 0.5, np.arange(7.0).reshape(7, 1), 9.0)
    tables = {name: as_columns(name, table) for name, table in log.columns().items()}
    assert tables["views"]["x"].tolist() == [[1, 2, 3, 4, 5, 6, 7]]
    assert [tables["views"][name].tolist() for name in ("t", "worker", "clock")] == [[70], [1], [0]]
    assert tables["gradients"]["g"].tolist() == [[0, 1, 2, 3, 4, 5, 6]]
    assert [tables["gradients"][n].tolist() for n in ("worker", "clock", "eta", "f")] == [
        [1],
        [0],
        [0.5],
        [9],
    ]


def test_a_gradient_has_a_number_for_every_entry():
    with pytest.raises(ValueError, match="a gradient of 3 numbers, the tables hold 7"):
        StepLog(LAYOUT).step(0, 0, 1.0, np.zeros(3), 0.0)


def test_empty_logs_have_columns_of_their_width():
    for log, wide in ((StepLog(LAYOUT), 7), (RowLog(LAYOUT, 0), 2)):
        for name, table in log.columns().items():
            columns = as_columns(name, table)
            assert list(columns) == list(OPTIONAL[name])
            for column, values in columns.items():
                assert values.shape == ((0, wide) if (name, column) in MATRICES else (0,))


def test_updates_of_sampled_rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "sampled_rows", lambda n_rows, seed: np.array([1, 3]))  # row 1 of x, 0 of y
        log = RowLog(LAYOUT, 0)
    log.unit(2, 6, [part(0, [0, 1, 2], [[1.0], [2.0], [3.0]]), part(1, [4], np.ones((1, 2), np.float32))])
    log.unit(0, 7, [part(1, [3], [[8.0, 9.0]]), part(0, [0], [[1.0]])])
    found = as_columns("row_updates", log.columns()["row_updates"])
    assert [found[n].tolist() for n in ("worker", "clock", "table", "row")] == [
        [2, 0],
        [6, 7],
        [0, 1],
        [1, 0],
    ]
    assert found["u"].tolist() == [[2, 0], [8, 9]]


def test_the_choice_of_rows_is_keyed_and_bounded():
    layout = Layout([TableSpec("x", 100_000, 1)])
    rows = RowLog(layout, 5).rows
    assert SAMPLED_ROWS - 2 <= len(rows) <= SAMPLED_ROWS
    assert 0 <= rows.min() <= rows.max() < 100_000
    assert np.array_equal(rows, RowLog(layout, 5).rows)
    assert not np.array_equal(rows, RowLog(layout, 6).rows)
    assert rows.std() > 10_000  # from everywhere
    assert RowLog(LAYOUT, 1).rows.tolist() == [0, 1, 2, 3, 4]


def test_matrices_have_two_dimensions():
    good = {"t": [1], "worker": [0], "clock": [0], "x": [[1.0, 2.0]]}
    assert as_columns("views", good)["x"].shape == (1, 2)
    for bad, what in (({"x": [1.0]}, "not two-dimensional"), ({"t": [[1]]}, "not one-dimensional")):
        with pytest.raises(ValueError, match=what):
            as_columns("views", {**good, **bad})
    with pytest.raises(ValueError, match="unequal lengths"):
        as_columns("views", {**good, "x": [[1.0], [2.0]]})


def test_a_recorder_hands_out_what_its_logs_hold_and_a_folder_keeps_it(tmp_path):
    recorder = Recorder(LAYOUT, 1)
    recorder.steps = StepLog(LAYOUT)
    recorder.steps.step(0, 0, 0.5, np.arange(7.0), 1.5)
    columns = recorder.finish()
    assert list(columns)[-2:] == ["views", "gradients"]
    run = make_run()
    run["columns"] = {**run["columns"], **{name: columns[name] for name in ("views", "gradients")}}
    opened = open_run(write_run(tmp_path / "run", **run), verify=True)
    assert opened["gradients"]["g"].tolist() == [list(range(7))]
    assert opened["views"]["x"].shape == (0, 7)
    assert "row_updates" not in opened

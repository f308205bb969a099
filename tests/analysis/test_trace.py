import sys
import types

import numpy as np
import pytest

from pskit.analysis import communication, waiting
from pskit.analysis.trace import Trace, open_trace
from pskit.errors import InputError
from pskit.trace.schema import SCHEMA
from pskit.trace.store import write_run
from tests.trace.synthetic import make_run, make_schedule


@pytest.fixture(scope="module")
def run():
    return make_run(7)


@pytest.fixture(scope="module", params=["memory", "folder"])
def trace(request, run, tmp_path_factory):
    """The same run, held in memory or opened from its folder."""
    if request.param == "memory":
        return Trace(run["manifest"], run["columns"], run["tables"])
    return open_trace(write_run(tmp_path_factory.mktemp("runs") / "a", **run), verify=True)


def test_staleness_is_that_of_all_reads(trace):
    ages = np.concatenate([g.age for g in make_schedule(7).gets()])
    assert trace.staleness().mean() == pytest.approx(ages.mean())
    assert trace.staleness().reads == len(ages)


def test_the_loss_and_when_it_reaches_a_target(trace):
    loss = trace.loss()
    assert loss["clock"].tolist() == [1, 2, 3, 4, 5, 6]
    assert trace.final_loss() == pytest.approx(1 / 6)
    assert trace.excursion() == pytest.approx(5 / 6)
    assert trace.clocks_to(0.75) == pytest.approx(1.5)
    middle = (loss["time"][0] + loss["time"][1]) / 2
    assert trace.seconds_to(0.75) == pytest.approx(middle * 1e-9)
    assert trace.seconds_to(0.1) == float("inf")
    assert not trace.diverged()


def test_waiting_and_messages_come_from_their_tables(trace, run):
    clocks, totals = run["columns"]["clocks"], run["columns"]["message_totals"]
    for name, values in waiting.time_split(clocks).items():
        np.testing.assert_array_equal(trace.time_split()[name], values)
    assert trace.waiting_share() == waiting.waiting_share(clocks)
    assert trace.clock_time(0.99) == waiting.clock_time(clocks, 0.99)
    assert trace.messages() == communication.totals(totals)
    np.testing.assert_array_equal(
        trace.messages_by_clock("push")["bytes"], communication.by_clock(totals, "push")["bytes"]
    )


def test_raw_columns_tables_and_manifest(trace, run):
    assert trace.columns("updates")["l2"].tolist() == run["columns"]["updates"]["l2"].tolist()
    np.testing.assert_array_equal(trace.table("U"), run["tables"]["final:U"])
    np.testing.assert_array_equal(trace.table("V", "incs"), run["tables"]["incs:V"])
    assert trace.config["app"]["name"] == "mf"
    assert trace.status == "finished"
    assert "finished, 3 workers" in repr(trace)


def test_unknown_names_are_answered_with_the_known_ones(trace):
    with pytest.raises(InputError, match=r"'view'.*'reads'"):
        trace.columns("view")
    with pytest.raises(InputError, match=r"'final:W'.*'final:U'"):
        trace.table("W")
    with pytest.raises(InputError, match=r"'accuracy'.*'loss'"):
        trace.loss("accuracy")


def test_a_diverged_run_says_so(run):
    manifest = {**run["manifest"], "status": "diverged"}
    assert Trace(manifest, run["columns"], run["tables"]).diverged()
    manifest = {**run["manifest"], "config": {"run": {"diverge_factor": 0.5}}}
    metrics = {**run["columns"]["metrics"], "value": np.array([1.0, 0.6, 0.4, 0.3, 0.2, 0.1])}
    assert Trace(manifest, {**run["columns"], "metrics": metrics}, run["tables"]).diverged()


def test_opening_reads_no_table_before_it_is_asked_for(run, tmp_path):
    folder = write_run(tmp_path / "a", **run)
    (folder / "reads.npz").write_bytes(b"")
    (folder / "tables.npz").write_bytes(b"")
    trace = open_trace(folder)
    assert trace.staleness().reads
    for ask in (
        lambda: trace.columns("reads"),
        lambda: trace.table("U"),
        lambda: open_trace(folder, verify=True),
    ):
        with pytest.raises(InputError, match=f"{folder}.*npz"):
            ask()


@pytest.mark.parametrize(
    ("package", "call"), [("pandas", lambda t: t.to_pandas("reads")), ("xarray", lambda t: t.to_xarray())]
)
def test_a_missing_package_is_named(trace, monkeypatch, package, call):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=f"needs the package {package}: pip install {package}"):
        call(trace)


def test_frames_get_the_columns(trace, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=dict))
    monkeypatch.setitem(sys.modules, "xarray", types.SimpleNamespace(Dataset=dict))
    assert list(trace.to_pandas("clocks")) == list(SCHEMA["clocks"])
    everything = trace.to_xarray()
    assert set(everything) == {f"{t}.{c}" for t, columns in SCHEMA.items() for c in columns}
    dimension, values = trace.to_xarray("clocks")["clocks.t_wait"]
    assert dimension == "clocks"
    np.testing.assert_array_equal(values, trace.columns("clocks")["t_wait"])

"""Damaged and foreign run folders: one paragraph that names folder, file and key, never a traceback."""

import copy
import json

import numpy as np
import pytest

import pskit
from pskit.analysis.trace import open_trace
from pskit.errors import InputError
from pskit.trace.npz import read_npz, write_npz
from pskit.trace.store import MANIFEST, TABLES, open_run, write_run
from tests.trace.synthetic import make_run

NEEDED = [
    "status", "fingerprint", "code", "seed", "schedule_hash", "value_hash", "workers", "layout", "trace",
    "config", "wall_seconds", "emulated_ns", "files", "layout.shards", "layout.tables", "trace.mode",
    "trace.sampling", "trace.sampling.reads", "trace.sampling.messages.share", "config.app",
    "config.app.name", "config.ps", "config.ps.policy", "config.ps.shards", "config.cluster",
    "config.cluster.clients", "config.cluster.threads", "config.cluster.placement", "config.network",
    "config.network.links", "config.network.loss", "config.run", "config.run.diverge_factor",
    "config.run.runtime",
]  # fmt: skip
WRONG = [
    ("status", "lost"), ("workers", 0), ("workers", True), ("workers", 2.0), ("wall_seconds", float("nan")),
    ("wall_seconds", 10**400), ("emulated_ns", -1), ("emulated_ns", 2**70), ("layout.shards", 2),
    ("layout.shards", 0), ("layout.tables", []), ("layout.tables", [3]), ("layout.tables", {}),
    ("layout.tables", [{"name": "U", "rows": 7, "cols": 2, "dtype": "O"}]),
    ("layout.tables", [{"name": "U", "rows": -7, "cols": 2, "dtype": "f4"}]),
    ("layout.tables", [{"name": "U", "rows": 2**31 - 1, "cols": 2, "dtype": "f4"}] * 2),
    ("trace.sampling.reads.share", 0), ("trace.sampling.messages.kept", "9"), ("config.app.step", "fast"),
    ("config.ps.slack", -1), ("config.ps.slack", "2"), ("config.cluster.clients", 0),
    ("config.cluster.placement", []), ("config.network.links", [{"src": "client:x", "dst": "shard:*"}]),
    ("config.network.links", [None]), ("config.run.diverge_factor", None), ("fidelity", {}), ("fidelity", 3),
    ("convex", "x"),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    return write_run(tmp_path / "a", **make_run())


def change(folder, key, *value):
    """Set a dotted key of the manifest, or take it out."""
    path = folder / MANIFEST
    manifest = json.loads(path.read_text())
    *above, last = key.split(".")
    tree = manifest
    for step in above:
        tree = tree[step]
    tree.pop(last, None)
    if value:
        tree[last] = copy.deepcopy(value[0])
    path.write_text(json.dumps(manifest))


def refused(folder, key, *parts):
    with pytest.raises(InputError) as caught:
        open_run(folder)
    for part in (str(folder), MANIFEST, key, *parts):
        assert part in str(caught.value)
    with pytest.raises(InputError):
        pskit.audit(folder)


@pytest.mark.parametrize("key", NEEDED)
def test_a_missing_key_is_named(folder, key):
    change(folder, key)
    refused(folder, key)


@pytest.mark.parametrize("key", NEEDED)
@pytest.mark.parametrize("value", [None, [], [[]], {"x": {}}])
def test_a_key_of_another_type_is_named(folder, key, value):
    if (key, value) == ("config.network.links", []):
        pytest.skip("that is how a run without special links says so")
    change(folder, key, value)
    refused(folder, key)


@pytest.mark.parametrize(("key", "value"), WRONG)
def test_a_wrong_value_is_named(folder, key, value):
    change(folder, key, value)
    refused(folder, key.split("[")[0].rpartition(".")[0] if key.startswith("layout") else key)


def test_a_file_that_no_run_folder_has_is_refused(folder):
    files = json.loads((folder / MANIFEST).read_text())["files"]
    change(folder, "files", {**files, "../../etc/passwd": "0" * 64})
    refused(folder, "files", "passwd")


def test_a_manifest_nested_beyond_reason_is_damaged(folder):
    (folder / MANIFEST).write_text("[" * 100_000)
    with pytest.raises(InputError, match=MANIFEST):
        open_run(folder)


@pytest.mark.parametrize("name", ["n" * 300, "a\0b"])
def test_a_name_that_cannot_be_is_no_run_folder(tmp_path, name):
    with pytest.raises(InputError, match="no such run folder"):
        open_run(tmp_path / name)


@pytest.mark.parametrize("column", ["kind", "clock"])
@pytest.mark.parametrize("value", [-1, 77])
def test_a_total_that_nothing_can_be_looked_up_by_is_named(folder, column, value):
    arrays = read_npz(folder / "message_totals.npz")
    arrays[column][0] = value
    write_npz(folder / "message_totals.npz", arrays)
    if (column, value) == ("clock", 77):
        open_trace(folder).messages()  # the auditor's business
        return
    with pytest.raises(InputError, match=f"{folder}.*message_totals.npz.*{column}"):
        open_trace(folder).messages()


@pytest.mark.parametrize(
    "values",
    [np.array(["a"] * 3), np.full(3, 2, np.uint8).view(np.bool_), np.ones(3), np.zeros((3, 1), bool)],
)
def test_a_hit_that_is_not_true_or_false_is_damage(folder, values):
    arrays = {name: v[:3] for name, v in read_npz(folder / "reads.npz").items()} | {"hit": values}
    write_npz(folder / "reads.npz", arrays)
    with pytest.raises(InputError, match=r"reads\.npz is damaged.*hit"):
        open_run(folder)["reads"]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("final:U", np.zeros((7, 3), "f4")), ("final:U", np.zeros((7, 2), "f8")), ("incs:V", np.zeros(15)),
        ("final:U", np.array("text")), ("initial:V", None), ("final:W", np.zeros((1, 1))),
    ],
)  # fmt: skip
def test_tables_that_are_not_the_layouts_are_named(folder, name, values):
    arrays = read_npz(folder / TABLES) | {name: values}
    write_npz(folder / TABLES, {k: v for k, v in arrays.items() if v is not None})
    with pytest.raises(InputError, match=f"{folder}.*{TABLES}.*{name}"):
        open_trace(folder).table("U")

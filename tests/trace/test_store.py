import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from pskit.errors import InputError
from pskit.trace import store
from pskit.trace.schema import SCHEMA, SCHEMA_VERSION
from pskit.trace.store import FILES, MANIFEST, check_target, open_run, write_run
from tests.trace.synthetic import make_run


@pytest.fixture(scope="module")
def run():
    return make_run()


@pytest.fixture
def folder(run, tmp_path):
    return write_run(tmp_path / "a", **run)


def edit_manifest(folder, **changes):
    path = folder / MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_run_comes_back_as_it_was(run, folder):
    opened = open_run(folder, verify=True)
    assert list(opened) == list(SCHEMA)
    for table, columns in run["columns"].items():
        for name, values in columns.items():
            np.testing.assert_array_equal(opened[table][name], values)
            assert opened[table][name].dtype == values.dtype
    assert list(opened.tables) == list(run["tables"])
    for key, values in run["tables"].items():
        np.testing.assert_array_equal(opened.tables[key], values)
        assert opened.tables[key].dtype == values.dtype
    assert (folder / "config.toml").read_text(encoding="utf-8") == run["config_toml"]
    kept = {k: v for k, v in opened.manifest.items() if k not in ("format", "schema_version", "files")}
    assert kept == run["manifest"]
    assert sorted(p.name for p in folder.iterdir()) == sorted([*FILES, MANIFEST])


def test_numpy_reads_the_files_too(run, folder):
    with np.load(folder / "reads.npz") as reads:
        np.testing.assert_array_equal(reads["age"], run["columns"]["reads"]["age"])


def test_equal_runs_give_equal_files(run, folder, tmp_path):
    again = write_run(tmp_path / "b", **run)
    for name in (*FILES, MANIFEST):
        assert (folder / name).read_bytes() == (again / name).read_bytes()


def test_missing_parents_are_made_and_an_empty_folder_is_taken(run, tmp_path):
    (tmp_path / "x").mkdir()
    for target in (tmp_path / "x", tmp_path / "p" / "q" / "r"):
        open_run(write_run(target, **run), verify=True)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"{folder}.*{name}"):
        open_run(folder)


@pytest.mark.parametrize("name", FILES)
def test_verify_sees_one_changed_bit(folder, name):
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    open_run(folder)
    with pytest.raises(InputError, match=f"{folder}.*{name}"):
        open_run(folder, verify=True)


def test_a_truncated_table_is_named_when_it_is_read(folder):
    path = folder / "updates.npz"
    path.write_bytes(path.read_bytes()[:-200])
    opened = open_run(folder)
    assert len(opened["reads"]["t"])
    with pytest.raises(InputError, match=f"{folder}.*updates.npz"):
        opened["updates"]


def test_a_table_with_other_columns_is_refused(folder):
    shutil.copy(folder / "clocks.npz", folder / "updates.npz")
    with pytest.raises(InputError, match=r"updates\.npz.*missing columns"):
        open_run(folder)["updates"]


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"format": "other"}', "\xff"])
def test_a_damaged_manifest_is_named(folder, content):
    (folder / MANIFEST).write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=f"{folder}.*{MANIFEST}"):
        open_run(folder)


@pytest.mark.parametrize("changes", [{"schema_version": SCHEMA_VERSION + 1}, {"files": {}}, {"files": None}])
def test_a_manifest_that_does_not_fit_is_refused(folder, changes):
    edit_manifest(folder, **changes)
    with pytest.raises(InputError, match=f"{folder}.*{MANIFEST}"):
        open_run(folder)


def test_no_folder_and_a_foreign_folder_are_told_apart(tmp_path):
    with pytest.raises(InputError, match="no such run folder"):
        open_run(tmp_path / "none")
    with pytest.raises(InputError, match="no run folder, it has no file manifest"):
        open_run(tmp_path)


def test_a_full_target_needs_force(run, folder):
    with pytest.raises(InputError, match="--force"):
        write_run(folder, **run)
    other = make_run(1, status="interrupted")
    open_run(write_run(folder, **other, force=True), verify=True)
    assert open_run(folder).manifest["status"] == "interrupted"
    assert [p.name for p in folder.parent.iterdir()] == [folder.name]


def test_force_never_deletes_what_is_not_a_run(run, tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="runs only"):
        write_run(tmp_path, **run, force=True)
    (tmp_path / MANIFEST).write_text("{}")
    with pytest.raises(InputError, match="runs only"):
        check_target(tmp_path, force=True)
    with pytest.raises(InputError, match="is a file"):
        check_target(tmp_path / "thesis.tex", force=True)
    assert (tmp_path / "thesis.tex").read_text() == "x"


def test_a_target_below_a_file_is_refused(run, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=f"{tmp_path}/file is a file"):
        write_run(tmp_path / "file" / "run", **run)


@pytest.mark.parametrize("calls", range(0, len(FILES) - 1, 3))
def test_an_interrupted_write_leaves_what_was_there(run, folder, monkeypatch, calls):
    """Ctrl-C in the middle of a write, with and without an older run at the place."""
    left = iter(range(calls))
    real = store.write_npz

    def interrupted(path, arrays):
        if next(left, None) is None:
            raise KeyboardInterrupt
        real(path, arrays)

    other = make_run(2)
    before = (folder / MANIFEST).read_bytes()
    monkeypatch.setattr(store, "write_npz", interrupted)
    for target, force in ((folder, True), (folder.parent / "new", False)):
        with pytest.raises(KeyboardInterrupt):
            write_run(target, **other, force=force)
    assert [p.name for p in folder.parent.iterdir()] == [folder.name]
    assert (folder / MANIFEST).read_bytes() == before
    open_run(folder, verify=True)


def test_columns_are_checked_before_anything_is_written(run, tmp_path):
    columns = dict(run["columns"])
    columns["reads"] = {**columns["reads"], "age": columns["reads"]["age"][:-1]}
    with pytest.raises(ValueError, match="unequal lengths"):
        write_run(tmp_path / "a", **{**run, "columns": columns})
    with pytest.raises(KeyError, match="extra"):
        write_run(tmp_path / "a", **{**run, "columns": {**run["columns"], "extra": {}}})
    assert not list(tmp_path.iterdir())


def test_the_manifest_is_strict_json_whatever_the_config_holds(run, tmp_path):
    manifest = {**run["manifest"], "config": {"rate": float("inf"), "n": np.int64(3), "path": ("ü", None)}}
    folder = write_run(tmp_path / "a", **{**run, "manifest": manifest})

    def refuse(constant):
        raise AssertionError(constant)

    read = json.loads((folder / MANIFEST).read_text(encoding="utf-8"), parse_constant=refuse)
    assert read["config"] == {"rate": "inf", "n": 3, "path": ["ü", None]}


def test_an_unknown_table_is_a_key_error(folder):
    with pytest.raises(KeyError):
        open_run(folder)["views"]


@pytest.mark.parametrize(
    "place",
    [
        "/proc/x",
        "/proc/x/y",
        "/dev/null/x",
        "/",
        "n" * 256,
        "p/q/" + "n" * 256,
        "a\0b",
        "f/x",
        "loop",
        "loop/x",
    ],
)
@pytest.mark.parametrize("force", [False, True])
def test_a_place_that_cannot_be_is_refused_before_the_run(tmp_path, place, force):
    (tmp_path / "f").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError):
        check_target(tmp_path / place, force)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f", "loop"]


def test_a_parent_that_refuses_folders_is_refused_before_the_run(tmp_path, monkeypatch):
    real = Path.mkdir

    def mkdir(self, *args, **options):
        if self.parent.name == "b":
            raise PermissionError(13, "Permission denied")
        real(self, *args, **options)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(InputError, match="Permission denied"):
        check_target(tmp_path / "a" / "b" / "c")
    assert not list(tmp_path.iterdir())


def test_a_good_place_is_left_as_it_was(run, tmp_path):
    for place in ("a", "a/b/c", "n" * 255):
        check_target(tmp_path / place)
    assert not list(tmp_path.iterdir())
    folder = write_run(tmp_path / ("n" * 255), **run)
    before = (folder / MANIFEST).read_bytes()
    check_target(folder, force=True)
    assert (folder / MANIFEST).read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [folder.name]

"""The output folder of a report."""

from pathlib import Path

import pytest

from pskit.errors import InputError
from pskit.repro.output import output_folder


def test_a_new_folder_is_made_and_may_be_used_again(tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"
    for _ in range(2):
        with output_folder(out):
            assert out.is_dir()


@pytest.mark.parametrize("name", ["runs", "ensembles"])
def test_an_interrupted_report_may_go_on(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with output_folder(tmp_path):
        pass


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with (
        output_folder(tmp_path / "out"),
        pytest.raises(InputError, match="another paper_repro"),
        output_folder(tmp_path / "out"),
    ):
        raise AssertionError("two writers")
    with output_folder(tmp_path / "out"):
        pass


def test_what_cannot_be_written_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    for name, reason in [
        ("file", "is a file"),
        ("file/below", "cannot write there"),
        ("n" * 300, "cannot write there"),
        ("other", "holds no report"),
    ]:
        with pytest.raises(InputError, match=reason), output_folder(tmp_path / name):
            raise AssertionError(name)
    assert {p.name for p in tmp_path.iterdir()} == {"file", "other"}
    assert [p.name for p in (tmp_path / "other").iterdir()] == ["thesis.tex"]

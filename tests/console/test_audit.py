"""`pskit audit`: exit codes and what is printed."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import pskit
from pskit import cli
from tests.auditing.runs import config


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "a"
    pskit.run(config("essp"), out=folder)
    return folder


def audit(*arguments: str):
    return CliRunner().invoke(cli.app, ["audit", *arguments], prog_name="pskit", env={"COLUMNS": "80"})


def test_a_good_run_ends_with_0(folder: Path) -> None:
    result = audit(str(folder))
    assert result.exit_code == 0, result.stderr
    for text in ("SSP guarantee", "own updates exactly once", "only under bsp", "reads checked (100.0%)"):
        assert text in result.stdout
    assert f"{folder}: no violation" in result.stdout
    assert max(map(len, result.stdout.splitlines()[:-2])) <= 80
    assert result.stderr == ""


def test_a_violation_ends_with_1_and_a_story(folder: Path) -> None:
    (folder / "config.toml").write_text("# nothing\n")
    result = audit(str(folder))
    assert result.exit_code == 1
    assert "1 of " in result.stdout
    assert result.stdout.splitlines()[-1].startswith("file hashes: the file config.toml was changed")


def test_no_run_ends_with_2(tmp_path: Path) -> None:
    result = audit(str(tmp_path / "b"))
    assert result.exit_code == 2
    assert "there is no such run folder" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_help_fits_a_screen() -> None:
    result = audit("--help")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) <= 24

import os
from pathlib import Path

import pytest

from pskit.emulation.empirical import load_times
from pskit.errors import InputError


def test_times_are_sorted_whole_nanoseconds(tmp_path: Path) -> None:
    file = tmp_path / "times.txt"
    file.write_bytes("\ufeff# measured on a switch\r\n0.5\r\n\r\n  1e-9\n0.1 \n".encode())
    times = load_times(file)
    assert times.values.tolist() == [1.0, 1e8, 5e8]
    assert times.mean == 600_000_001 / 3
    assert not times.values.flags.writeable


def test_a_file_is_read_again_after_a_change(tmp_path: Path) -> None:
    file = tmp_path / "times.txt"
    file.write_text("1\n")
    assert load_times(file) is load_times(str(file))
    file.write_text("2\n")
    os.utime(file, ns=(1, 1))
    assert load_times(file).mean == 2e9


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"0.1\nfast\n", 2, "'fast' is not a number"),
        (b"# s\n\n0.1 0.2\n", 3, "'0.1 0.2' is not a number"),
        (b"0.1\n-0.1\n", 2, "'-0.1' is not a time between 0 and 1e+09 seconds"),
        (b"nan\n", 1, "'nan' is not a time"),
        (b"1\n1\ninf\n", 3, "'inf' is not a time"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, content: bytes, line: int, reason: str) -> None:
    file = tmp_path / "times.txt"
    file.write_bytes(content)
    with pytest.raises(InputError) as error:
        load_times(file)
    assert str(error.value).startswith(f"{file}, line {line}: {reason}")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no time in this file"),
        (b"# only\n\n", "no time in this file"),
        (b"0.1\n\xff\n", "byte 4 is not UTF-8"),
    ],
)
def test_a_useless_file_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    file = tmp_path / "times.txt"
    file.write_bytes(content)
    with pytest.raises(InputError) as error:
        load_times(file)
    assert str(error.value).startswith(f"{file}: {reason}")


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.txt", tmp_path):
        with pytest.raises(InputError) as error:
            load_times(path)
        assert str(error.value).startswith(f"{path}: cannot read these times")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: this is a pipe, device or socket"):
        load_times(tmp_path / "pipe")

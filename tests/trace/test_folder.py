import os
import subprocess
import sys
from pathlib import Path

import pytest

from pskit.trace.folder import atomic_folder, put_back

ROOT = Path(__file__).parents[2]


def names(path):
    return sorted(p.name for p in path.iterdir())


def write(target, content):
    with atomic_folder(target) as work:
        (work / "f").write_text(content)


def test_the_folder_replaces_the_one_before(tmp_path):
    target = tmp_path / "run[1]*"
    for content in ("a", "b"):
        write(target, content)
        assert (target / "f").read_text() == content
    assert names(tmp_path) == [target.name]


def test_nothing_shows_before_the_end(tmp_path):
    with atomic_folder(tmp_path / "run"):
        assert not (tmp_path / "run").exists()
        assert [n[0] for n in names(tmp_path)] == ["."]


def test_an_error_leaves_the_one_before(tmp_path):
    write(tmp_path / "run", "a")
    with pytest.raises(TypeError):
        write(tmp_path / "run", None)
    assert names(tmp_path) == ["run"]
    assert (tmp_path / "run" / "f").read_text() == "a"


def test_a_failed_rename_puts_the_one_before_back(tmp_path, monkeypatch):
    write(tmp_path / "run", "a")
    real = type(tmp_path).rename

    def rename(self, target):
        if ".partial-" in self.name and "-old" not in self.name:
            raise OSError("disk gone")
        return real(self, target)

    monkeypatch.setattr(type(tmp_path), "rename", rename)
    with pytest.raises(OSError, match="disk gone"):
        write(tmp_path / "run", "b")
    assert names(tmp_path) == ["run"]
    assert (tmp_path / "run" / "f").read_text() == "a"


def test_a_killed_writer_leaves_none_and_is_swept_later(tmp_path):
    script = (
        "import os, sys, pathlib\n"
        "from pskit.trace.folder import atomic_folder\n"
        "with atomic_folder(pathlib.Path(sys.argv[1])) as work:\n"
        "    (work / 'f').write_text('x')\n"
        "    os._exit(9)\n"
    )
    target = tmp_path / "run"
    done = subprocess.run([sys.executable, "-c", script, str(target)], cwd=ROOT, check=False)
    assert done.returncode == 9
    (leftover,) = tmp_path.iterdir()
    assert leftover.name.startswith(".run.partial-")
    write(target, "a")  # a fresh leftover may still be somebody's work
    assert names(tmp_path) == [leftover.name, "run"]
    os.utime(leftover, (0, 0))
    write(target, "b")
    assert names(tmp_path) == ["run"]


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link", "a")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "f").read_text() == "a"
    assert names(tmp_path) == ["link", "real"]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, OSError])
@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("done", [False, True])
def test_an_interruption_at_a_rename_leaves_one_of_the_two(tmp_path, monkeypatch, interruption, after, done):
    """Ctrl-C before or after each of the renames: aside, into place, and back."""
    write(tmp_path / "run", "a")
    real, left = type(tmp_path).rename, iter(range(after))

    def rename(self, target):
        interrupted = next(left, None) is None
        if interrupted:
            monkeypatch.setattr(type(tmp_path), "rename", real)
        if done or not interrupted:
            real(self, target)
        if interrupted:
            raise interruption

    monkeypatch.setattr(type(tmp_path), "rename", rename)
    try:
        write(tmp_path / "run", "b")
    except interruption:
        assert after < 2
    assert names(tmp_path) == ["run"]
    assert (tmp_path / "run" / "f").read_text() == ("b" if after == 2 or (after, done) == (1, True) else "a")


def test_an_interruption_that_goes_on_never_takes_the_only_copy(tmp_path, monkeypatch):
    """Ctrl-C again and again: even putting back is interrupted. The next writer finds the copy."""
    write(tmp_path / "run", "a")
    real = type(tmp_path).rename

    def rename(self, target):
        if ".partial-" in self.name:
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(type(tmp_path), "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "run", "b")
    monkeypatch.undo()
    assert "run" not in names(tmp_path)
    put_back(tmp_path / "run")
    assert (tmp_path / "run" / "f").read_text() == "a"


@pytest.mark.parametrize("name", ["x" * 255, "ü" * 127, "n", "x" * 65])
def test_every_legal_name_can_be_written_and_replaced(tmp_path, name):
    for content in ("a", "b"):
        write(tmp_path / name, content)
    assert names(tmp_path) == [name]
    assert (tmp_path / name / "f").read_text() == "b"

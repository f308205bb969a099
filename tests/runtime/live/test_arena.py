"""The shared segment: what it gives, what it refuses, what it leaves."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pskit.errors import InputError
from pskit.runtime.live import arena as module
from pskit.runtime.live.arena import Arena, aligned, check_space
from pskit.runtime.live.starting import starting


def test_views_share_the_memory_and_begin_as_zeros():
    with Arena.create(1 << 16) as arena:
        words = arena.view(64, (4, 8), np.int64)
        assert words.shape == (4, 8)
        assert not words.any()
        words[1, 0] = 7
        assert arena.view(128, (1,), np.int64)[0] == 7
        assert arena.view(0, (1 << 16,), np.uint8).sum() == 7


@pytest.mark.parametrize("offset", [8, 63, -1])
def test_a_view_begins_at_a_cache_line(offset):
    with Arena.create(4096) as arena, pytest.raises(ValueError, match="cache line"):
        arena.view(offset, (1,), np.int64)


def test_sizes_are_rounded_to_cache_lines():
    assert [aligned(n) for n in (0, 1, 64, 65)] == [0, 64, 64, 128]


def test_a_closed_arena_gives_no_view_and_may_be_closed_again():
    arena = Arena.create(4096)
    arena.close()
    arena.close()
    with pytest.raises(ValueError, match="open arena"):
        arena.view(0, (1,), np.int64)


def test_a_view_may_outlive_the_arena():
    arena = Arena.create(4096)
    words = arena.view(0, (8,), np.int64)
    words[:] = 3
    arena.close()
    assert words.sum() == 24


def test_what_does_not_fit_is_refused_before_anything_is_made(monkeypatch):
    monkeypatch.setattr(module, "available_bytes", lambda: 10 << 20)
    with pytest.raises(InputError, match=r"share 64 MiB, and 10 MiB of memory are free"):
        Arena.create(64 << 20)
    check_space(64 << 20, None, "anywhere")


def test_memory_that_is_not_there_after_all_is_one_clear_message(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match="No space left on device; use fewer clients"):
        Arena.create(4096)
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before


def test_without_memfd_a_file_without_name_serves(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr(module, "_SHM", str(tmp_path))
    with Arena.create(4096) as arena:
        arena.view(0, (1,), np.int64)[0] = 1
        assert not list(tmp_path.iterdir())


def test_a_small_shared_folder_is_seen_before_it_kills(monkeypatch, tmp_path):
    class Small:
        f_bavail, f_frsize = 16, 4096

    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr(module, "_SHM", str(tmp_path))
    monkeypatch.setattr(os, "statvfs", lambda path: Small)
    with pytest.raises(InputError, match="free"):
        Arena.create(1 << 20)


def add_one(arena):
    with arena:
        arena.view(0, (1,), np.int64)[0] += 1


def test_a_child_gets_the_same_memory_and_nothing_has_a_name():
    names = set(Path("/dev/shm").iterdir()) if Path("/dev/shm").is_dir() else set()
    with Arena.create(4096) as arena:
        words = arena.view(0, (1,), np.int64)
        words[0] = 41
        with starting() as context:
            child = context.Process(target=add_one, args=(arena,))
            child.start()
        child.join()
        assert child.exitcode == 0
        assert words[0] == 42
        child.close()
        if names:
            assert set(Path("/dev/shm").iterdir()) <= names


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="needs the superuser, to mount")
def test_a_shared_folder_that_is_full_or_too_small_is_refused(monkeypatch, tmp_path):
    """A real file system in memory, of 1 MiB."""
    folder = tmp_path / "shm"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode()}")
    try:
        monkeypatch.delattr(os, "memfd_create", raising=False)
        monkeypatch.setattr(module, "_SHM", str(folder))
        with pytest.raises(InputError, match=r"share 4.0 MiB, and 1.0 MiB in .* are free: use fewer clients"):
            Arena.create(4 << 20)
        monkeypatch.setattr(module, "check_space", lambda *_: None)  # somebody fills it just then
        with pytest.raises(InputError, match=r"no shared memory of 4\.0 MiB: No space left on device"):
            Arena.create(4 << 20)
        assert not list(folder.iterdir())
        with Arena.create(1 << 19) as arena:
            arena.view(0, (1 << 19,), np.uint8)[:] = 1  # what is given is there
    finally:
        subprocess.run(["umount", str(folder)], check=True)

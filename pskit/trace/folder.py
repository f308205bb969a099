"""A folder that appears whole or not at all.

It is filled under a hidden name beside its place, forced to disk, and renamed: a kill at any moment
leaves the finished folder, the one that was there before, or none. What a kill leaves under the hidden
name is swept by a later writer to the same place.
"""

import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ABANDONED_AFTER = 3600.0  # seconds; a folder takes a few seconds to write


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Context: an empty folder to write flat files into, which then takes the place of ``target``.

    Whatever stands at ``target`` is removed, but only once the new folder is complete. When the body
    raises, the new folder is removed and ``target`` is as it was.
    """
    target = target.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{target.name}.partial-"
    _sweep(target.parent, prefix)
    work = target.with_name(prefix + uuid.uuid4().hex)
    aside = work.with_name(f"{work.name}-old")
    try:
        work.mkdir()
        yield work
        for path in work.iterdir():
            _sync(path)
        _sync(work)
        if target.exists():
            target.rename(aside)
        try:
            work.rename(target)
        except OSError:
            if aside.exists():
                aside.rename(target)
            raise
        _sync(target.parent)
    finally:
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(aside, ignore_errors=True)


def _sweep(parent: Path, prefix: str) -> None:
    limit = time.time() - _ABANDONED_AFTER
    for path in parent.iterdir():
        if path.name.startswith(prefix) and path.lstat().st_mtime < limit:
            shutil.rmtree(path, ignore_errors=True)


def _sync(path: Path) -> None:
    """Force a file, or the entries of a folder, to disk (Windows opens no folders, and needs none)."""
    if path.is_dir() and os.name == "nt":
        return
    fd = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)

"""A folder that appears whole or not at all.

It is filled under a hidden name beside its place, forced to disk, and renamed: an error or Ctrl-C at any
moment leaves the finished folder, the one that was there before, or none. A kill between the two renames
leaves the one before under the hidden name, and the next writer to the place puts it back; whatever else a
kill leaves under the hidden name is swept by a later writer.
"""

import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ABANDONED_AFTER = 3600.0  # seconds; a folder takes a few seconds to write
_ASIDE = "-old"
_LONGEST = 64  # bytes of a name that may stand in a hidden one; most file systems take 255, some 143


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Context: an empty folder to write flat files into, which then takes the place of ``target``.

    Whatever stands at ``target`` is removed, but only once the new folder is complete. When the body
    raises, the new folder is removed and ``target`` is as it was.
    """
    target = target.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    put_back(target)
    _sweep(target)
    work = hidden_sibling(target)
    aside = work.with_name(work.name + _ASIDE)
    try:
        work.mkdir()
        yield work
        for path in work.iterdir():
            _sync(path)
        _sync(work)
        if target.exists():
            target.rename(aside)
        work.rename(target)
        _sync(target.parent)
    finally:
        # Ctrl-C may have come before, between or right after the renames: what is where tells which.
        if aside.exists() and not target.exists():
            aside.rename(target)
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(aside, ignore_errors=True)


def hidden_sibling(target: Path) -> Path:
    """Choose a new hidden name beside ``target``, one that fits however long the target's own is."""
    return target.with_name(_prefix(target) + uuid.uuid4().hex)


def put_back(target: Path) -> None:
    """Give ``target`` back what stood there when a writer was killed between its two renames."""
    if target.exists() or not target.parent.is_dir():
        return
    for path in target.parent.iterdir():
        if path.name.startswith(_prefix(target)) and path.name.endswith(_ASIDE):
            path.rename(target)
            return


def _prefix(target: Path) -> str:
    """Beginning of the hidden names for ``target``; a long name is shortened to a digest, so that it fits."""
    name = os.fsencode(target.name)
    short = target.name if len(name) <= _LONGEST else hashlib.sha256(name).hexdigest()[:16]
    return f".{short}.partial-"


def _sweep(target: Path) -> None:
    limit = time.time() - _ABANDONED_AFTER
    for path in target.parent.iterdir():
        if path.name.startswith(_prefix(target)) and path.lstat().st_mtime < limit:
            if path.name.endswith(_ASIDE) and not target.exists():
                continue  # never the only copy
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

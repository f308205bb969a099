"""The places of planned runs below the output folder: what stands there and is no run is taken away.

A name there says which run it is for, so nothing else belongs to it: a file, a link, or a folder that is
damaged beyond telling what it is gives way, and the run is made like one that is missing. A folder that still
tells, of other code or with a damaged file, stays until the new one is written.
"""

import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from pskit.errors import InputError

MANIFEST = "manifest.json"


def make_room(place: Path, kind: str) -> None:
    """See that a folder can be written at ``place``, and take away what such a folder does not replace.

    Parameters
    ----------
    place : Path
    kind : str
        The ``format`` that the manifest of the folder gives.

    Raises
    ------
    InputError
        When nothing can be written or taken away there.
    """
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place.parent):
            pass
        if os.path.lexists(place) and not _tells(place, kind):
            _remove(place)
    except OSError as error:
        raise InputError(f"{place}: no run can be written there ({error.strerror or error})") from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """``manifest.json`` of a folder.

    Raises
    ------
    InputError
        When it is not there, cannot be read, or is no table.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{folder}: its {MANIFEST} cannot be read ({error})") from error
    if not isinstance(manifest, dict):
        raise InputError(f"{folder}: its {MANIFEST} is no table")
    return manifest


def _tells(place: Path, kind: str) -> bool:
    if place.is_symlink():
        return False  # the new folder would be written to where it leads
    try:
        return read_manifest(place).get("format") == kind
    except InputError:
        return False


def _remove(place: Path) -> None:
    if place.is_symlink() or not place.is_dir():
        place.unlink()
        return
    _unlock(place)
    for folder, inner, _ in os.walk(place):
        for name in inner:
            _unlock(Path(folder, name))  # before the walk comes to it
    shutil.rmtree(place)


def _unlock(folder: Path) -> None:
    if not folder.is_symlink():
        with suppress(OSError):  # whether it can be taken away all the same is found then
            folder.chmod(0o700)

"""Named shared memory: made by a run that is published, looked at by viewers, and gone with the run.

A name stays when all processes that know it are killed, so somebody has to take it back. The launcher does
so at the end of its run. When it is killed, its children notice, and the first of them does; when they are
killed, too, the resource tracker does, in which the launcher has registered the name. (That one lives as long
as any process of the run, and complains on standard error about what it finds.)

A viewer opens the name for reading and tells no tracker of it. `multiprocessing.shared_memory` would before
Python 3.13: then the tracker of a viewer that ends destroys the segment under the run. So the two calls below
it are used here, which have been the same since Python 3.8.
"""

import os
from _posixshmem import shm_open, shm_unlink  # type: ignore[import-not-found]
from multiprocessing import resource_tracker

from pskit.errors import InputError

_KIND = "shared_memory"
_MODE = 0o600


def make(name: str) -> int:
    """Descriptor of a new, empty segment; FileExistsError when the name is taken."""
    fd: int = shm_open(f"/{name}", os.O_RDWR | os.O_CREAT | os.O_EXCL, _MODE)
    resource_tracker.register(f"/{name}", _KIND)
    return fd


def look_at(name: str) -> int:
    """Descriptor of the segment ``name``, for reading.

    Raises
    ------
    InputError
        When there is none.
    """
    try:
        fd: int = shm_open(f"/{name}", os.O_RDONLY, 0)
    except (OSError, ValueError):
        raise InputError(
            f"{name!r}: no run is published under this name; a run has the name that its key run.publish "
            "says, while it lasts"
        ) from None
    return fd


def identity(name: str) -> int | None:
    """A number of the memory that now has the name; None when none has."""
    try:
        fd = look_at(name)
    except InputError:
        return None
    try:
        return os.fstat(fd).st_ino
    finally:
        os.close(fd)


def take_back(name: str) -> None:
    """The launcher, or for it a child: the name is gone after this, and the tracker knows."""
    if remove(name):  # else whoever was faster has told the tracker
        resource_tracker.unregister(f"/{name}", _KIND)


def remove(name: str) -> bool:
    """Take the name of a run back that is no more; False when it was gone."""
    try:
        shm_unlink(f"/{name}")
    except FileNotFoundError:
        return False
    return True

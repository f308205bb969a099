"""One anonymous segment of memory that all processes of a run share.

It has no name: the file descriptor is handed to the children, and the memory goes with the last process that
has it, however that one ends. So a kill of any process leaves nothing behind, and no resource tracker is
involved. Everything in it is a NumPy view by offset.
"""

import contextlib
import math
import mmap
import os
import tempfile
from multiprocessing import reduction
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pskit.errors import InputError
from pskit.runtime.memory import available_bytes

ALIGNMENT = 64
"""Offsets are multiples of a cache line, so that words of different writers never share one."""
_SHM = "/dev/shm"


def aligned(nbytes: int) -> int:
    """``nbytes`` rounded up to whole cache lines."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


class Arena:
    """A shared segment, filled with zeros at first.

    Opened by `create` in the launcher and, in a child, by being unpickled from the arguments of its process;
    whoever opened it closes it.

    Attributes
    ----------
    nbytes : int
    """

    def __init__(self, fd: int, nbytes: int) -> None:
        self._fd, self.nbytes = fd, nbytes
        self._map: mmap.mmap | None = mmap.mmap(fd, nbytes)

    @classmethod
    def create(cls, nbytes: int) -> Self:
        """Open a new segment of ``nbytes`` bytes, all of it backed by memory from the start.

        Raises
        ------
        InputError
            When there is not enough memory; says how much is needed and how much there is.
        """
        check_space(nbytes, available_bytes(), "of memory")
        fd = _anonymous_file(nbytes)
        try:
            os.ftruncate(fd, nbytes)
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(fd, 0, nbytes)  # a hole that finds no memory later is a SIGBUS
            return cls(fd, nbytes)
        except OSError as error:
            os.close(fd)
            raise InputError(
                f"no shared memory of {_mib(nbytes)}: {error.strerror}; use fewer clients or smaller tables"
            ) from error

    def view(self, offset: int, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Array over the bytes from ``offset``, a multiple of 64."""
        if offset % ALIGNMENT or self._map is None:
            raise ValueError(f"an open arena and an offset of whole cache lines are needed, got {offset}")
        # frombuffer holds on to the memory, as np.ndarray(buffer=...) does not: no view outlives its bytes.
        return np.frombuffer(self._map, dtype, math.prod(shape), offset).reshape(shape)

    def close(self) -> None:
        """Give the segment up; the memory goes with the last view of it."""
        if self._map is not None:
            with contextlib.suppress(BufferError):  # there is a view
                self._map.close()
            self._map = None
            os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (reduction.DupFd(self._fd), self.nbytes)


def check_space(needed: int, available: int | None, where: str) -> None:
    """Refuse a segment that does not fit; ``available`` None means that nobody knows.

    Raises
    ------
    InputError
        Names what is needed and what there is.
    """
    if available is not None and needed > available:
        raise InputError(
            f"the processes of this run share {_mib(needed)}, and {_mib(available)} {where} are free: use "
            f"fewer clients or smaller tables (app.rank, app.data)"
        )


def _mib(nbytes: int) -> str:
    return f"{nbytes / 2**20:,.0f} MiB"


def _anonymous_file(nbytes: int) -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("pskit", os.MFD_CLOEXEC)
    # Without memfd: a file that loses its name at once, in memory where the system has such a place.
    folder = _SHM if os.path.isdir(_SHM) else None
    if folder is not None and hasattr(os, "statvfs"):
        room = os.statvfs(folder)
        check_space(nbytes, room.f_bavail * room.f_frsize, f"in {folder}")
    fd, path = tempfile.mkstemp(prefix="pskit-", dir=folder)
    os.unlink(path)
    return fd


def _received(handle: Any, nbytes: int) -> Arena:
    return Arena(handle.detach(), nbytes)

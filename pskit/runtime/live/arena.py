"""One anonymous segment of memory that all processes of a run share.

It has no name, unless the run is published: the file descriptor is handed to the children, and the memory
goes with the last process that has it, however that one ends. So a kill of any process leaves nothing behind,
and no resource tracker is involved. What becomes of a name is told in `pskit.runtime.live.names`. Everything
in it is a NumPy view by offset.

Whether a segment with a name is that of a run that lives, is told by a lock of the kernel that comes with the
descriptor: whoever has that from the launcher holds it, and it goes with the last of them, however they end.
(A process id would say less: it is given again, and is another one in another container.)
"""

import contextlib
import fcntl
import math
import mmap
import os
import tempfile
from collections.abc import Iterator
from multiprocessing import reduction
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pskit.errors import InputError
from pskit.runtime.live import names
from pskit.runtime.memory import available_bytes

PAGE = mmap.PAGESIZE
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

    def __init__(
        self, fd: int, nbytes: int, limited: bool = False, name: str | None = None, writable: bool = True
    ) -> None:
        self._fd, self.nbytes, self._limited, self._name = fd, nbytes, limited, name
        self._map: mmap.mmap | None = mmap.mmap(
            fd, nbytes, prot=mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        )

    @classmethod
    def create(
        cls, nbytes: int, committed: int | None = None, name: str | None = None, more: int = 0
    ) -> Self:
        """Open a new segment.

        Parameters
        ----------
        nbytes : int
        committed : int, optional
            So many bytes are backed by memory from the start (default: all). The rest is address space,
            which takes memory when it is used; see `commit`.
        name : str, optional
            Under which others can look at it. Whoever created it takes the name back by closing it.
        more : int
            Bytes of address space that will be used for certain.

        Raises
        ------
        InputError
            When there is not enough memory; says how much is needed and how much there is.
        """
        committed = nbytes if committed is None else committed
        check_space(committed + more, available_bytes(), "of memory")
        if name is None:
            fd, limited = _anonymous_file(committed)
        else:
            _check_folder(committed + more)
            fd, limited = _named_file(name), True
        try:
            if name is not None:
                with contextlib.suppress(OSError):  # a system without locks on such memory: nobody is told
                    fcntl.flock(fd, fcntl.LOCK_EX)
            os.ftruncate(fd, nbytes)
            _back(fd, 0, committed)
            return cls(fd, nbytes, limited, name)
        except OSError as error:
            os.close(fd)
            if name is not None:
                names.take_back(name)
            raise InputError(
                f"no shared memory of {_size(committed)}: {error.strerror}; use fewer clients or smaller "
                "tables"
            ) from error

    @classmethod
    def of(cls, fd: int) -> Self:
        """Look at the segment of a descriptor, which is closed with it; nothing can be changed."""
        size = os.fstat(fd).st_size
        if size == 0:
            os.close(fd)
            raise InputError("this shared memory is empty so far")
        return cls(fd, size, writable=False)

    def commit(self, offset: int, nbytes: int) -> bool:
        """Make sure that there is memory behind these bytes; False when there is none.

        Anonymous memory is as limited as a process' own, and comes when it is used. That of a file system
        has to be asked for: a hole that finds no memory when it is used is a SIGBUS.
        """
        if self._limited:
            try:
                _back(self._fd, offset, nbytes)
            except OSError:
                return False
        return True

    def view(self, offset: int, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Array over the bytes from ``offset``, a multiple of 64."""
        if offset % ALIGNMENT or self._map is None:
            raise ValueError(f"an open arena and an offset of whole cache lines are needed, got {offset}")
        # frombuffer holds on to the memory, as np.ndarray(buffer=...) does not: no view outlives its bytes.
        return np.frombuffer(self._map, dtype, math.prod(shape), offset).reshape(shape)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed here."""
        return self._map is None

    @property
    def is_of_the_living(self) -> bool:
        """Whether a process of the run is left that made this segment, which is looked at here; see `of`."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:  # held, or of a system without such locks, where nobody knows
            return True
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        return False

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Context: nobody else is in it, in no process.

        The lock is one of the kernel's, on the file: it goes with the process that holds it, however that
        ends.
        """
        fcntl.lockf(self._fd, fcntl.LOCK_EX, 1)
        try:
            yield
        finally:
            fcntl.lockf(self._fd, fcntl.LOCK_UN, 1)

    def close(self) -> None:
        """Give the segment up; the memory goes with the last view of it."""
        if self._map is not None:
            with contextlib.suppress(BufferError):  # there is a view
                self._map.close()
            self._map = None
            os.close(self._fd)
            if self._name is not None:
                names.take_back(self._name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (reduction.DupFd(self._fd), self.nbytes, self._limited)


def check_space(needed: int, available: int | None, where: str) -> None:
    """Refuse a segment that does not fit; ``available`` None means that nobody knows.

    Raises
    ------
    InputError
        Names what is needed and what there is.
    """
    if available is not None and needed > available:
        raise InputError(
            f"the processes of this run share {_size(needed)}, and {_size(available)} {where} are free: use "
            f"fewer clients or smaller tables (app.rank, app.data)"
        )


def _size(nbytes: int) -> str:
    mib, kib = nbytes / 2**20, nbytes / 2**10
    return f"{mib:,.0f} MiB" if mib >= 10 else f"{mib:.1f} MiB" if mib >= 1 else f"{kib:,.0f} KiB"


def _check_folder(nbytes: int) -> None:
    if os.path.isdir(_SHM):
        room = os.statvfs(_SHM)
        check_space(nbytes, room.f_bavail * room.f_frsize, f"in {_SHM}")


def _named_file(name: str) -> int:
    try:
        return names.make(name)
    except FileExistsError:  # since somebody looked: two runs of one name have begun together
        raise InputError(
            f"run.publish = {name!r}: another run has just taken this name; choose another"
        ) from None
    except OSError as error:
        raise InputError(
            f"run.publish = {name!r}: no shared memory of this name can be made in {_SHM} "
            f"({error.strerror}); make that writable, or leave run.publish out"
        ) from error


def _back(fd: int, offset: int, nbytes: int) -> None:
    if nbytes and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, offset, nbytes)


def _anonymous_file(nbytes: int) -> tuple[int, bool]:
    """A file without a name, and whether a file system limits its size."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("pskit", os.MFD_CLOEXEC), False
    # Without memfd: a file that loses its name at once, in memory where the system has such a place.
    _check_folder(nbytes)
    folder = _SHM if os.path.isdir(_SHM) else None
    fd, path = tempfile.mkstemp(prefix="pskit-", dir=folder)
    os.unlink(path)
    return fd, True


def _received(handle: Any, nbytes: int, limited: bool) -> Arena:
    return Arena(handle.detach(), nbytes, limited)

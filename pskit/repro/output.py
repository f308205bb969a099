"""The output folder of a report: one that can be written, and one writer at a time."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pskit.errors import InputError
from pskit.repro.batches import ENSEMBLES
from pskit.repro.plan import RUNS
from pskit.repro.report import JSON

try:
    import fcntl
except ImportError:  # Windows: a second writer is not noticed there
    fcntl = None  # type: ignore[assignment]


@contextmanager
def output_folder(out: Path) -> Iterator[None]:
    """Context: ``out`` is there, can be written, and is this process' alone.

    The lock is the operating system's: it ends with the process, however that ends.

    Raises
    ------
    InputError
        When ``out`` is a file, holds something else than a report, cannot be made or written, or another
        process is at work in it. A folder that was not there before is then not there after.
    """
    check_output(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
        lock = os.open(out, os.O_RDONLY)  # the folder itself is locked: no file is left over
    except OSError as error:
        raise InputError(f"--out {out}: cannot write there ({error.strerror})") from error
    try:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise InputError(
                    f"--out {out}: another paper_repro.py is at work there; name another"
                ) from error
        yield
    finally:
        os.close(lock)


def check_output(out: Path) -> None:
    """Refuse a folder that holds something else; nothing is written into it then.

    Raises
    ------
    InputError
    """
    try:
        if out.exists() and not out.is_dir():
            raise InputError(f"--out {out}: this is a file; the output is a folder")
        occupied = out.is_dir() and any(out.iterdir())
    except OSError as error:
        raise InputError(f"--out {out}: cannot write there ({error.strerror})") from error
    if occupied and not (any((out / name).is_dir() for name in (RUNS, ENSEMBLES)) or (out / JSON).is_file()):
        raise InputError(f"--out {out}: this folder is not empty and holds no report; name another")

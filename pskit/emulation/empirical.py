"""Measured times from a text file, for the empirical model."""

import stat
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pskit.emulation.elementary import Floats
from pskit.errors import InputError
from pskit.units import LONGEST_TIME

LONGEST_SECONDS = LONGEST_TIME / 1e9


class Times(NamedTuple):
    """The content of a file.

    Attributes
    ----------
    values : (n,) float64, n >= 1, whole ns in ascending order, read-only
    mean : float, ns
    """

    values: Floats
    mean: float


def load_times(path: str | Path) -> Times:
    """Read times in seconds, one per line; blank lines and lines that begin with ``#`` are skipped.

    Every worker's model asks for the same file, so the last few are kept for as long as they do not change.

    Parameters
    ----------
    path : UTF-8 text file

    Raises
    ------
    InputError
        The file cannot be read or has no time, or a line is not one time between 0 and 1e9 seconds; the
        message names file, line and reason.
    """
    try:
        status = Path(path).stat()
        if stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode) or stat.S_ISSOCK(status.st_mode):
            raise InputError(f"{path}: this is a pipe, device or socket; times are read from a file")
        return _load(str(path), status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise InputError(f"{path}: cannot read these times: {error.strerror or error}") from error


@lru_cache(maxsize=4)
def _load(path: str, _modified: int, _size: int) -> Times:
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is not UTF-8 text; give one time in seconds per line"
        raise InputError(f"{path}: {reason}") from error
    times = [
        _nanoseconds(path, number, line)
        for number, line in enumerate(map(str.strip, lines), start=1)
        if line and not line.startswith("#")
    ]
    if not times:
        raise InputError(f"{path}: no time in this file; give one time in seconds per line")
    values = np.sort(np.array(times, dtype=np.float64))
    values.flags.writeable = False
    # The sum of Python integers is exact; a float sum would depend on its order.
    return Times(values, sum(times) / len(times))


def _nanoseconds(path: str, number: int, line: str) -> int:
    try:
        seconds = float(line)
    except ValueError:
        reason = f"{line!r} is not a number; give one time in seconds per line"
        raise InputError(f"{path}, line {number}: {reason}") from None
    # Written so that NaN is refused as well.
    if not 0.0 <= seconds <= LONGEST_SECONDS:
        reason = f"{line!r} is not a time between 0 and {LONGEST_SECONDS:g} seconds"
        raise InputError(f"{path}, line {number}: {reason}")
    return round(seconds * 1e9)

"""A user's samples for regression: lines of ``target x1 x2 ...``, separated by blanks, TABs or commas."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pskit.data.lines import split_line
from pskit.errors import InputError

LARGEST = 1e150
"""Of a number in a file: its square is still finite."""
SMALLEST = 1e-150
"""Of the largest feature in a file: its square is still above 0."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples in memory; two of them are equal when they are the same.

    Attributes
    ----------
    rows : (n, d) float64
    targets : (n,) float64
    source : str
        For captions and messages.
    """

    rows: NDArray[np.float64]
    targets: NDArray[np.float64]
    source: str


def read_samples(path: Path) -> Samples:
    """Read a file of samples; blank lines and lines that begin with ``#`` are passed over.

    The first line may be a header: its first field then begins with a letter.

    Raises
    ------
    InputError
        The file cannot be read or holds no sample, or a line has a field that is no finite number, or not as
        many as the first; the message names file, line and reason.
    """
    try:
        if not path.is_file():
            raise InputError(
                f"no samples file {str(path)!r}; give the path of a file with lines 'target x1 x2 ...', or "
                '"synthetic"'
            )
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(
            f"samples file {str(path)!r}: byte {error.start} is not UTF-8 text; not a text file?"
        ) from error
    except OSError as error:
        raise InputError(f"samples file {str(path)!r} cannot be read: {error.strerror}") from error
    numbers: list[list[float]] = []
    may_be_header = True
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        fields = split_line(text, "," if "," in text else " ")
        if may_be_header and fields[0][:1].isalpha() and fields[0].lower() not in ("nan", "inf", "infinity"):
            may_be_header = False
            continue
        may_be_header = False
        place = f"samples file {str(path)!r}, line {number}"
        numbers.append([_number(field, place) for field in fields])
        if len(fields) < 2:
            raise InputError(f"{place}: 1 field, where a target and at least one feature are expected")
        if len(fields) != len(numbers[0]):
            raise InputError(f"{place}: {len(fields)} fields, where the first sample has {len(numbers[0])}")
    if not numbers:
        raise InputError(f"samples file {str(path)!r} has no samples; give lines 'target x1 x2 ...'")
    table = np.array(numbers)
    if not table[:, 1:].any():
        raise InputError(f"samples file {str(path)!r}: all features are 0, there is nothing to fit")
    if (largest := float(np.abs(table[:, 1:]).max())) < SMALLEST:
        raise InputError(
            f"samples file {str(path)!r}: no feature is above {largest:.3g}, and {SMALLEST:g} is the least "
            "that can be computed with; scale the features"
        )
    return Samples(np.ascontiguousarray(table[:, 1:]), table[:, 0].copy(), path.name)


def _number(field: str, place: str) -> float:
    try:
        value = float("" if "_" in field else field)
    except ValueError:
        shown = repr(field if len(field) <= 40 else field[:37] + "...")
        raise InputError(f"{place}: {shown} is not a number") from None
    if not abs(value) <= LARGEST:
        raise InputError(f"{place}: {field} is not a finite number of usual size")
    return value

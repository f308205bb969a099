"""A user's ratings file -> `Ratings`: format detected, every fault named by file, line and reason."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pskit.data.lines import BadLine, LineFormat, detect_format, parse_line
from pskit.data.ratings import Ratings, first_repeated_pair
from pskit.data.scan import scan_ratings
from pskit.errors import InputError

BLOCK = 1 << 24
"""Bytes read at a time: the whole text is never in memory."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_COMPRESSED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}


class _Columns(NamedTuple):
    user: NDArray[np.int32]
    item: NDArray[np.int32]
    value: NDArray[np.float32]


def read_ratings(path: Path) -> Ratings:
    """Read a ratings file in any of the formats of `load_ratings`.

    Raises
    ------
    InputError
        The file cannot be read, holds no rating, or has a bad line, a bad id, a rating that is not finite, or a pair
        of user and item twice.
    """
    if path.is_dir():
        raise InputError(f"ratings file {str(path)!r} is a directory; give the path of a file")
    try:
        with path.open("rb") as file:
            blocks = [_scan(block, form, line, path) for block, form, line in _blocks(file, path)]
        columns = [np.concatenate(column) for column in zip(*blocks, strict=True)]
        if not columns or not len(columns[0]):
            raise InputError(f"ratings file {str(path)!r} has no ratings")
        user, item, value = columns
        if repeated := first_repeated_pair(user, item):
            first, again = _line_numbers(path, repeated)
            raise _bad_line(
                path, again, f"user {user[repeated[1]]} rated item {item[repeated[1]]} already in line {first}"
            )
    except OSError as error:
        raise InputError(f"ratings file {str(path)!r} cannot be read: {error.strerror}") from error
    return Ratings.from_ids(user, item, value, path.name)


def _bad_line(path: Path, line: int, reason: str) -> InputError:
    return InputError(f"ratings file {str(path)!r}, line {line}: {reason}")


def _blocks(file: BinaryIO, path: Path) -> Iterator[tuple[bytes, LineFormat, int]]:
    """Cut a file into blocks of whole lines without its header: (block, format, lines before it)."""
    rest, form, lines = b"", None, 0
    while read := file.read(BLOCK):
        if not lines and not rest:
            read = _check_start(read, path)
        end = read.rfind(b"\n") + 1
        if not end:
            rest += read
            if len(rest) > BLOCK:
                raise _bad_line(path, lines + 1, "the line is longer than 16 MiB; not a text file?")
            continue
        block, rest = rest + read[:end], read[end:]
        if form is None:
            block, form, lines = _skip_header(block, path, lines)
        if form is not None:
            yield block, form, lines
            lines += block.count(b"\n")
    if rest:
        block = rest + b"\n"
        if form is None:
            block, form, lines = _skip_header(block, path, lines)
        if form is not None:
            yield block, form, lines


def _check_start(block: bytes, path: Path) -> bytes:
    for magic, kind in _COMPRESSED.items():
        if block.startswith(magic):
            raise InputError(f"ratings file {str(path)!r} is compressed ({kind}); unpack it first")
    return block.removeprefix(_BYTE_ORDER_MARK)


def _skip_header(block: bytes, path: Path, lines: int) -> tuple[bytes, LineFormat | None, int]:
    """The block after its blank lines and its header, the format (None: only blank lines), the lines skipped."""
    while block:
        end = block.index(b"\n") + 1
        line = _text(block[:end])
        if not line.strip(" \t"):
            block, lines = block[end:], lines + 1
            continue
        try:
            form = detect_format(line)
        except BadLine as bad:
            raise _bad_line(path, lines + 1, str(bad)) from None
        return (block[end:], form, lines + 1) if form.has_header else (block, form, lines)
    return block, None, lines


def _text(line: bytes) -> str:
    return line.removesuffix(b"\n").removesuffix(b"\r").decode("latin-1")


def _scan(block: bytes, form: LineFormat, lines_before: int, path: Path) -> _Columns:
    room = block.count(b"\n")
    columns: tuple[Any, ...] = (np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float32))
    rows, lines, bad = scan_ratings(
        np.frombuffer(block, np.uint8),
        ord(form.separator[0]),
        len(form.separator) == 2,
        form.columns,
        np.array([form.user, form.item, form.value]),
        *columns,
    )
    if bad >= 0:
        reason = "cannot be read"
        try:
            parse_line(_text(block[bad : block.index(b"\n", bad) + 1]), form)
        except BadLine as fault:
            reason = str(fault)
        raise _bad_line(path, lines_before + lines, reason)
    return _Columns(*(column[:rows] for column in columns))


def _line_numbers(path: Path, rows: tuple[int, int]) -> tuple[int, int]:
    """Lines of the file, from 1, that hold these ratings; slow, for error messages only."""
    found, row, form = [], 0, None
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            text = _text(line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line)
            if not text.strip(" \t"):
                continue
            if form is None:
                form = detect_format(text)
                if form.has_header:
                    continue
            if row in rows:
                found.append(number)
            row += 1
    return found[0], found[1]

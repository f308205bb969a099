"""A user's ratings file -> `Ratings`: format detected, every fault named by file, line and reason."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pskit.data.lines import BadLine, LineFormat, detect_format, parse_line
from pskit.data.ratings import Ratings, Triples, first_repeated_pair
from pskit.data.scan import scan_ratings
from pskit.errors import InputError

BLOCK = 1 << 24
"""Bytes read at a time: the whole text is never in memory."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_COMPRESSED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}


def read_ratings(path: Path) -> Ratings:
    """Read a ratings file in any of the formats of `load_ratings`.

    Raises
    ------
    InputError
        The file cannot be read, holds no rating, or has a bad line, a bad id, a rating that is not finite, or
        a pair of user and item twice.
    """
    try:
        if path.is_dir():
            raise InputError(f"ratings file {str(path)!r} is a directory; give the path of a file")
        if path.exists() and not path.is_file():  # opening a FIFO would wait for ever
            raise InputError(
                f"ratings file {str(path)!r} is a pipe, device or socket; it is read more than once, so give "
                "the path of a file"
            )
        with path.open("rb") as file:
            parts = list(_scan_file(file, path))
        if not any(len(part.value) for part in parts):
            raise InputError(f"ratings file {str(path)!r} has no ratings")
        triples = Triples(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        if repeated := first_repeated_pair(triples):
            first, again = _line_numbers(path, repeated)
            user, item, _ = triples.select(repeated[1])
            raise _bad_line(path, again, f"user {user} rated item {item} already in line {first}")
    except OSError as error:
        raise InputError(f"ratings file {str(path)!r} cannot be read: {error.strerror}") from error
    return Ratings.from_ids(triples, path.name)


def _bad_line(path: Path, line: int, reason: str) -> InputError:
    return InputError(f"ratings file {str(path)!r}, line {line}: {reason}")


def _scan_file(file: BinaryIO, path: Path) -> Iterator[Triples]:
    """Ratings of a file, block by block."""
    form, lines = None, 0
    for block in _whole_lines(file, path):
        begin = 0
        while form is None and begin < len(block):
            end = block.index(b"\n", begin) + 1
            form = _detect(block[begin:end], path, lines + 1)
            if form is None or form.has_header:
                begin, lines = end, lines + 1
        if form is not None:
            yield _scan(block[begin:], form, path, lines)
            lines += block.count(b"\n", begin)


def _whole_lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Cut a file into blocks of whole lines, each line with its newline."""
    rest = file.read(BLOCK)
    for magic, kind in _COMPRESSED.items():
        if rest.startswith(magic):
            raise InputError(f"ratings file {str(path)!r} is compressed ({kind}); unpack it first")
    rest = rest.removeprefix(_BYTE_ORDER_MARK)
    while read := file.read(BLOCK):
        rest += read
        end = rest.rfind(b"\n") + 1
        if end:
            yield rest[:end]
            rest = rest[end:]
        elif len(rest) > BLOCK:
            raise InputError(f"ratings file {str(path)!r} has a line of over {BLOCK} bytes; not a text file?")
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def _detect(line: bytes, path: Path, number: int) -> LineFormat | None:
    """Format of a file from its first line; None if that is blank."""
    text = _text(line)
    try:
        return detect_format(text) if text.strip(" \t") else None
    except BadLine as bad:
        raise _bad_line(path, number, str(bad)) from None


def _text(line: bytes) -> str:
    return line.removesuffix(b"\n").removesuffix(b"\r").decode("latin-1")


def _scan(block: bytes, form: LineFormat, path: Path, lines_before: int) -> Triples:
    room = block.count(b"\n")
    triples = Triples(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float32))
    rows, lines, bad = scan_ratings(
        np.frombuffer(block, np.uint8),
        ord(form.separator[0]),
        len(form.separator) == 2,
        form.columns,
        np.array([form.user, form.item, form.value]),
        *triples,
    )
    if bad >= 0:
        reason = "cannot be read"
        try:
            parse_line(_text(block[bad : block.index(b"\n", bad) + 1]), form)
        except BadLine as fault:
            reason = str(fault)
        raise _bad_line(path, lines_before + lines, reason)
    return triples.select(slice(rows))


def _line_numbers(path: Path, rows: tuple[int, int]) -> tuple[int, int]:
    """Lines of the file, from 1, that hold these ratings; slow, for error messages only."""
    found, row, form = [], 0, None
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            content = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
            if form is None:
                form = _detect(content, path, number)
                if form is None or form.has_header:
                    continue
            if not _text(content).strip(" \t"):
                continue
            if row in rows:
                found.append(number)
            row += 1
    return found[0], found[1]

"""What the standard library's TOML reader lacks: writing, and the line on which a key stands."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def dump_toml(tree: Mapping[str, Any]) -> str:
    """Write nested tables as TOML: scalars first, one ``[section]`` per table, deeper tables inline.

    Parameters
    ----------
    tree : tables of str, bool, int, finite float, list and dict.
    """
    lines = [f"{_key(k)} = {_value(v)}" for k, v in tree.items() if not isinstance(v, Mapping)]
    for name, section in tree.items():
        if isinstance(section, Mapping):
            lines += ["", f"[{_key(name)}]"]
            lines += [f"{_key(k)} = {_value(v)}" for k, v in section.items()]
    return "\n".join(lines).lstrip("\n") + "\n"


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        # JSON's escapes are TOML's too, but JSON leaves DEL as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value, allow_nan=False)


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """Find the line (from 1) of the statement that sets the key at `path`, or else the table around it.

    Parameters
    ----------
    text : valid TOML.
    path : keys, and positions in arrays.

    Returns
    -------
    None if not even the first key is there.
    """
    best, line = 0, None
    for number, here, value in _statements(text):
        depth = _reach(here, value, path)
        if depth > best:
            best, line = depth, number
    return line


def _statements(text: str) -> Iterator[tuple[int, tuple[str | int, ...], Any]]:
    """Yield (line, path of the table it stands in, parsed statement) for each header and assignment."""
    table: tuple[str | int, ...] = ()
    parsed: Any
    lengths: dict[tuple[str | int, ...], int] = {}  # of the arrays of tables so far
    pending, first = "", 1
    for number, line in enumerate(text.split("\n"), start=1):
        if not pending:
            first = number
        pending += line + "\n"
        try:
            # A statement is complete as soon as it parses alone: no proper beginning of one does.
            parsed = tomllib.loads(pending)
        except tomllib.TOMLDecodeError:
            continue
        if pending.lstrip().startswith("["):
            table = ()
            while isinstance(parsed, dict) and parsed:
                ((key, parsed),) = parsed.items()
                table = (*table, key)
                if parsed == [{}]:
                    lengths[table] = lengths.get(table, 0) + 1
                if table in lengths:
                    table = (*table, lengths[table] - 1)
            yield first, table, None
        elif parsed:
            yield first, table, parsed
        pending = ""


def _reach(table: tuple[str | int, ...], value: Any, path: Sequence[str | int]) -> int:
    """Count how many keys of `path` a statement with `value` in `table` settles; 0 if it is about another."""
    depth = len(table)
    if tuple(path[:depth]) != table:
        return 0
    for key in path[depth:]:
        try:
            value = value[key]
        except (TypeError, KeyError, IndexError):
            break
        depth += 1
    return depth

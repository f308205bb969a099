"""Whether what a run folder says has the form that its readers rely on, asked once, when it is opened.

Damaged and foreign folders are told by the file and the key at which the form ends. Whether a well-formed run
followed the protocol is the auditor's question.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pskit.core.layout import ALLOWED_DTYPES, Layout
from pskit.errors import InputError
from pskit.trace.manifest import layout_of
from pskit.trace.schema import MESSAGE_KINDS, STATUSES, Columns

Test = Callable[[Any], bool]

_LARGEST = 2**31 - 1
"""Of clocks, and of counts of workers, shards, rows and columns."""


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _whole(low: int, high: int = 2**63 - 1) -> Test:
    return lambda value: type(value) is int and low <= value <= high


def _real(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _factor(value: Any) -> bool:
    return _real(value) or value == "inf"  # strict JSON has no infinity: the store writes its name


def _one_of(*allowed: str) -> Test:
    return lambda value: isinstance(value, str) and value in allowed


def _link_end(value: Any) -> bool:
    kind, _, number = value.partition(":") if isinstance(value, str) else ("", "", "")
    return kind in ("client", "shard") and (number == "*" or (number.isdecimal() and len(number) < 10))


def _or_none(test: Test) -> Test:
    return lambda value: value is None or test(value)


# Dotted key: what its value has to be, in words, and the test. A key ending in "?" may be missing.
_COUNT = ("a whole number of 1 or more", _whole(1, _LARGEST))
_AMOUNT = ("a whole number of 0 or more", _whole(0))
_NAME = ("text", _text)
_NUMBER = ("a finite number", _real)
_KEYS: dict[str, tuple[str, Test]] = {
    "status": (f"one of {', '.join(STATUSES)}", _one_of(*STATUSES)),
    "fingerprint": _NAME,
    "code": _NAME,
    "schedule_hash": _NAME,
    "value_hash": _NAME,
    "seed": ("a whole number of 0 or more", _whole(0, 10**1000)),
    "workers": _COUNT,
    "wall_seconds": ("a finite number of 0 or more", lambda value: _real(value) and value >= 0),
    "emulated_ns": _AMOUNT,
    "convex?": ("a table of constants", lambda value: isinstance(value, dict)),
    "convex.L?": ("a number", _or_none(_real)),
    "convex.smoothness?": ("a number", _or_none(_real)),
    "layout.shards": _COUNT,
    "trace.mode": ("one of summary, full", _one_of("summary", "full")),
    **{
        f"trace.sampling.{name}.{key}": entry
        for name in ("reads", "messages")
        for key, entry in {
            "share": ("a number above 0, 1 at most", lambda value: _real(value) and 0 < value <= 1),
            "kept": _AMOUNT,
            "total": _AMOUNT,
        }.items()
    },
    "config.app.name": _NAME,
    "config.app.step?": _NUMBER,
    "config.app.schedule?": _NAME,
    "config.ps.policy": _NAME,
    "config.ps.slack?": ("a whole number of 0 or more", _or_none(_whole(0, _LARGEST))),
    "config.ps.shards": _COUNT,
    "config.cluster.clients": _COUNT,
    "config.cluster.threads": _COUNT,
    "config.cluster.placement": ("one of colocated, separate", _one_of("colocated", "separate")),
    "config.network.loss": _NUMBER,
    "config.network.reorder": ("true or false", _flag),
    "config.run.seed": ("a whole number of 0 or more", _whole(0, 10**1000)),
    "config.run.runtime": _NAME,
    "config.run.trace": ("one of summary, full", _one_of("summary", "full")),
    "config.run.diverge_factor": ("a number", _factor),
}
_TABLE = {
    "name": _NAME,
    "rows": _COUNT,
    "cols": _COUNT,
    "dtype": (f"one of {', '.join(ALLOWED_DTYPES)}", _one_of(*ALLOWED_DTYPES)),
}
_LINK: dict[str, tuple[str, Test]] = {
    "src": ("an end point like client:3 or shard:*", _link_end),
    "dst": ("an end point like client:3 or shard:*", _link_end),
    "loss?": ("a finite number", _or_none(_real)),
    "reorder?": ("true or false", _or_none(_flag)),
}
_FIDELITY: dict[str, tuple[str, Test]] = {
    **{f"lateness_us.{name}": _NUMBER for name in ("p50", "p99", "max")},
    "time_scale": _NUMBER,
    "verdict": _NAME,
    "reason": _NAME,
    "advice": _NAME,
}


def check_manifest(
    folder: Path, file: str, manifest: Mapping[str, Any], files: Iterable[str], optional: Iterable[str] = ()
) -> None:
    """Refuse a manifest without a key that readers of runs need, or with a value of another form.

    Parameters
    ----------
    folder : Path
    file : str
        Name of the manifest, for the message.
    manifest : mapping
        As read from JSON.
    files : iterable of str
        Names that ``files`` has to give hashes of, and no others.
    optional : iterable of str
        Names that it may give hashes of, too.

    Raises
    ------
    InputError
        Naming folder, file and key.
    """
    place = f"{folder}: the file {file} is no manifest of a run"
    _check_keys(place, "", manifest, _KEYS)
    hashes = _list_of(place, "files", manifest, dict)
    for name in files:
        if not isinstance(hashes.get(name), str):
            raise InputError(f"{place}: key 'files' gives no hash of {name}")
    if unknown := sorted(set(hashes) - {*files, *optional}):
        raise InputError(f"{place}: key 'files' names {unknown[0]!r}, which no run folder has")
    for key, part, keys in (
        ("layout.tables", manifest["layout"], _TABLE),
        ("config.network.links", manifest["config"]["network"], _LINK),
    ):
        for i, entry in enumerate(_list_of(place, key, part, list)):
            _check_keys(place, f"{key}[{i}].", entry, keys)
    if manifest.get("fidelity") is not None:
        _check_keys(place, "fidelity.", manifest["fidelity"], _FIDELITY)
    try:
        layout = layout_of(manifest)
    except (ValueError, TypeError) as error:
        raise InputError(f"{place}: key 'layout.tables' describes no tables: {error}") from error
    if layout.n_rows > _LARGEST:
        raise InputError(f"{place}: key 'layout.tables' has {layout.n_rows} rows, {_LARGEST} are possible")
    if layout.shards != manifest["config"]["ps"]["shards"]:
        raise InputError(
            f"{place}: key 'layout.shards' is {layout.shards}, but key 'config.ps.shards' is "
            f"{manifest['config']['ps']['shards']}"
        )


def _check_keys(place: str, above: str, tree: Any, keys: Mapping[str, tuple[str, Test]]) -> None:
    for dotted, (what, test) in keys.items():
        optional, path = dotted.endswith("?"), dotted.removesuffix("?").split(".")
        value, missing = tree, False
        for step in path:
            missing = not isinstance(value, dict) or step not in value
            if missing:
                break
            value = value[step]
        name = above + ".".join(path)
        if missing and not optional:
            raise InputError(f"{place}: it has no key {name!r}, which is {what}")
        if not missing and not test(value):
            raise InputError(f"{place}: key {name!r} must be {what}, it is {_shortly(value)}")


def _list_of(place: str, key: str, part: Mapping[str, Any], kind: type) -> Any:
    value = part.get(key.rpartition(".")[2])
    if not isinstance(value, kind):
        raise InputError(f"{place}: key {key!r} must be a {kind.__name__}, it is {_shortly(value)}")
    return value


def _shortly(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_tables(folder: Path, file: str, layout: Layout, tables: Columns) -> None:
    """Refuse parameter tables that are not those of the layout, in name, shape or dtype.

    Raises
    ------
    InputError
        Naming folder, file and array.
    """
    expected = {
        f"{which}:{t.name}": ((t.rows, t.cols), np.dtype(t.dtype))
        for which in ("final", "initial", "incs")
        for t in layout.tables
    }
    if odd := sorted(set(expected) ^ set(tables)):
        what = "lacks" if odd[0] in expected else "has an unknown"
        raise InputError(f"{folder}: the file {file} is damaged, it {what} array {odd[0]!r}")
    for name, (shape, dtype) in expected.items():
        found = tables[name]
        if found.shape != shape or found.dtype != dtype:
            raise InputError(
                f"{folder}: the file {file} is damaged, its array {name!r} is {found.shape} {found.dtype}, "
                f"where the layout says {shape} {dtype}"
            )


def check_columns(folder: Path, file: str, table: str, columns: Columns) -> None:
    """Refuse a column with numbers that nothing can be looked up by; the auditor checks the others.

    Raises
    ------
    InputError
        Naming folder, file and column.
    """
    bounds = {"clock": (0, _LARGEST)} if table in ("histogram", "read_totals", "message_totals") else {}
    if table == "message_totals":
        bounds["kind"] = (0, len(MESSAGE_KINDS) - 1)
    for name, (low, high) in bounds.items():
        values = columns[name]
        if len(values) and not low <= values.min() <= values.max() <= high:
            raise InputError(
                f"{folder}: the file {file} is damaged, its column {name!r} goes from {values.min()} to "
                f"{values.max()}, where {low} to {high} is possible"
            )

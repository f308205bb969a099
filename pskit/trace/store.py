"""Run folders: written whole, opened with checks.

``manifest.json``, ``config.toml``, ``tables.npz`` (``final:NAME``, ``initial:NAME``, ``incs:NAME``) and
one ``NAME.npz`` per table of the schema, and per optional table that the run has. The manifest names the
schema version and the sha256 of every other file.
"""

import contextlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pskit.errors import InputError, wrong_argument
from pskit.trace.folder import atomic_folder, hidden_sibling, put_back
from pskit.trace.hashing import file_sha256
from pskit.trace.manifest import layout_of
from pskit.trace.npz import LazyNpz, read_npz, write_npz
from pskit.trace.schema import FORMAT, OPTIONAL, SCHEMA, SCHEMA_VERSION, Columns, Tables, as_columns
from pskit.trace.wellformed import check_columns, check_manifest, check_tables

MANIFEST, CONFIG, TABLES = "manifest.json", "config.toml", "tables.npz"
FILES = (CONFIG, TABLES, *(f"{table}.npz" for table in SCHEMA))
OPTIONAL_FILES = tuple(f"{table}.npz" for table in OPTIONAL)


def as_folder(given: Any) -> Path:
    """The folder of a run that an argument names; InputError where it is no path."""
    if isinstance(given, str | os.PathLike):
        return Path(given)
    raise wrong_argument("the folder of a run", 'a path, such as "runs/a"', given)


def check_target(folder: Path | str, force: bool = False) -> None:
    """Refuse a place where a run folder cannot go; to be asked before a long run.

    A folder is made there and taken away again, as whether that works is for the file system to say.

    Raises
    ------
    InputError
        When ``folder`` is a file or lies where no folder can be made; when it is not empty and
        ``force`` is not set; or, even then, when what it holds is not a run: nothing else is ever deleted.
    """
    folder = as_folder(folder)
    try:
        put_back(folder.resolve())
        if folder.exists():
            _check_existing(folder, force)
        _try_out(folder.resolve())
    except InputError:
        raise
    except (OSError, ValueError, RuntimeError) as error:  # the last two: a NUL in the name, a loop of links
        above = next((p for p in folder.absolute().parents if os.path.exists(p)), folder)
        why = f"{above} is a file" if not os.path.isdir(above) else getattr(error, "strerror", None) or error
        raise InputError(f"{folder}: no folder can be made there, {why}") from error


def _check_existing(folder: Path, force: bool) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder}: this is a file; the output of a run is a folder")
    if os.path.ismount(folder):
        raise InputError(
            f"{folder}: a disk is mounted there, no run folder can take its place; name one in it"
        )
    if not any(folder.iterdir()):
        return
    if not force:
        raise InputError(f"{folder}: this folder is not empty; name another, or replace the run with --force")
    if not _claims_format(folder / MANIFEST):
        raise InputError(f"{folder}: this folder is not empty and holds no run; --force replaces runs only")


def _try_out(target: Path) -> None:
    """Do what `atomic_folder` will do, with a file of the longest name, and take all of it away again."""
    made: list[Path] = []
    try:
        for parent in reversed(target.parents):
            if not parent.exists():
                parent.mkdir()
                made.append(parent)
        probe = hidden_sibling(target)
        probe.mkdir()
        made.append(probe)
        file = probe / max(FILES, key=len)
        made.append(file)
        file.write_bytes(b"0")
        file.unlink()
        if not target.exists():
            probe.rename(target)
            made[made.index(probe)] = target
    finally:
        for path in reversed(made):
            with contextlib.suppress(OSError):
                path.unlink() if path.is_file() else path.rmdir()


def _claims_format(path: Path) -> bool:
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


def write_run(
    folder: Path | str,
    *,
    config_toml: str,
    manifest: Mapping[str, Any],
    columns: Tables,
    tables: Columns,
    force: bool = False,
) -> Path:
    """Write a run folder, whole or not at all.

    Parameters
    ----------
    folder : path
        Must not exist or be empty, unless ``force`` replaces an older run.
    config_toml : str
    manifest : mapping
        From `pskit.trace.manifest.build_manifest`; the hashes of the files are added here.
    columns : mapping
        All tables of the schema, from `Recorder.finish`, and any of the optional ones.
    tables : mapping of str to array
        ``final:NAME``, ``initial:NAME``, ``incs:NAME``.
    force : bool

    Returns
    -------
    Path
        ``folder``.

    Raises
    ------
    InputError
        See `check_target`.
    KeyError, ValueError
        When the columns do not follow the schema.
    """
    folder = Path(folder)
    check_target(folder, force)
    names = (*SCHEMA, *(name for name in OPTIONAL if name in columns))
    checked = {name: as_columns(name, columns[name]) for name in names}
    if unknown := sorted(set(columns) - set(names)):
        raise KeyError(f"tables {unknown} are not in the schema {sorted([*SCHEMA, *OPTIONAL])}")
    with atomic_folder(folder) as work:
        (work / CONFIG).write_text(config_toml, encoding="utf-8", newline="\n")
        write_npz(work / TABLES, tables)
        for name, table in checked.items():
            write_npz(work / f"{name}.npz", table)
        full = {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            **manifest,
            "files": {path.name: file_sha256(path) for path in sorted(work.iterdir())},
        }
        (work / MANIFEST).write_text(_to_json(full), encoding="utf-8", newline="\n")
    return folder


def _to_json(manifest: Mapping[str, Any]) -> str:
    return json.dumps(_plain(manifest), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    """Turn ``value`` into what strict JSON has; a float it has not becomes its name, not a lost run."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def open_run(folder: Path | str, verify: bool = False) -> "RunFolder":
    """Open a run folder; its columns are read when first asked for.

    Parameters
    ----------
    folder : path
    verify : bool
        Also compare the sha256 of every file with the manifest's.

    Raises
    ------
    InputError
        Naming the folder and the file that is missing, damaged, changed, or of another version.
    """
    folder = as_folder(folder)
    if not os.path.isdir(folder):  # unlike Path.is_dir, false for names that cannot be
        raise InputError(f"{folder}: there is no such run folder")
    manifest = _read_manifest(folder)
    for name in manifest["files"]:
        if not os.path.isfile(folder / name):
            raise InputError(f"{folder}: the run folder has no file {name}")
    run = RunFolder(folder, manifest)
    if verify and (changed := run.changed_files()):
        raise InputError(f"{folder}: the file {changed[0]} was changed, {MANIFEST} has another sha256 for it")
    return run


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder}: no run folder, it has no file {MANIFEST}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{folder}: the file {MANIFEST} is damaged ({error})") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{folder}: the file {MANIFEST} is not the manifest of a run")
    version = manifest.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{folder}: {MANIFEST} has schema_version {version!r}; this version reads {SCHEMA_VERSION} only"
        )
    check_manifest(folder, MANIFEST, manifest, FILES, OPTIONAL_FILES)
    return manifest


class RunFolder(Mapping[str, Columns]):
    """An opened run folder: a mapping from table name to columns, each read once, when asked for.

    Attributes
    ----------
    folder : Path
    manifest : dict
    tables : mapping of str to array
        ``final:NAME``, ``initial:NAME``, ``incs:NAME``; read when first asked for.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        self.manifest = manifest
        layout = layout_of(manifest)
        self.tables: Columns = LazyNpz(
            folder / TABLES, lambda arrays: check_tables(folder, TABLES, layout, arrays)
        )
        self._columns: dict[str, Columns] = {}
        self._names = (*SCHEMA, *(name for name in OPTIONAL if f"{name}.npz" in manifest["files"]))

    def __getitem__(self, table: str) -> Columns:
        if table not in self._names:
            raise KeyError(table)
        if table not in self._columns:
            file = f"{table}.npz"
            arrays = read_npz(self.folder / file)
            try:
                columns = as_columns(table, arrays)
            except (ValueError, TypeError) as error:
                raise InputError(f"{self.folder}: the file {file} is damaged ({error})") from error
            check_columns(self.folder, file, table, columns)
            self._columns[table] = columns
        return self._columns[table]

    def changed_files(self) -> list[str]:
        """Names of the files whose sha256 the manifest gives otherwise; InputError when one is unreadable."""
        changed = []
        for name, said in sorted(self.manifest["files"].items()):
            try:
                found = file_sha256(self.folder / name)
            except OSError as error:
                raise InputError(f"{self.folder}: the file {name} cannot be read ({error})") from error
            if found != said:
                changed.append(name)
        return changed

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

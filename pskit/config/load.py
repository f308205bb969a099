"""Reading a config from a TOML file and `--set` overrides."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from pskit.config.explain import Origin
from pskit.config.model import Config
from pskit.config.presets import Tree, overlay
from pskit.errors import InputError, wrong_argument

_UNQUOTED_UNIT = re.compile(r"=\s*([0-9.]+\s*(?:[mun]?s|min|h|[kMGT]?bit/s|[kMG]?B/s))\s*(?:#.*)?$")

EXAMPLE = '["ps.policy=essp", "ps.slack=8"]'
_EXPERIMENT_KEYS = frozenset({"seeds", "sweeps"})
"""Top-level keys by which an experiment of paper_repro.py is known; no config has them."""


def load_config(path: str | PathLike[str], overrides: Iterable[str] = ()) -> Config:
    """Read a config.

    Parameters
    ----------
    path : a TOML file.
    overrides : assignments such as "ps.slack=8" or "network.latency.mean=5ms", which win over the file;
        values are TOML, and text may go without quotes.

    Raises
    ------
    InputError
        The file cannot be read, or it or an override holds something that is not allowed; the message names
        file and line, or the override.
    """
    if not isinstance(path, str | PathLike):
        raise wrong_argument("load_config(path)", "the path of a TOML file", path)
    if isinstance(overrides, str | Mapping) or not isinstance(overrides, Iterable):
        raise wrong_argument("load_config(path, overrides)", f"a list such as {EXAMPLE}", overrides)
    name = str(path)
    text = _read(Path(path), name)
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(_syntax_error(name, text, error)) from None
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, thousands of brackets
        raise InputError(f"{name}: not valid TOML: {error}.") from None
    experiment = _EXPERIMENT_KEYS & tree.keys()
    if experiment:
        raise InputError(
            f"{name}: this is an experiment of paper_repro.py, a family of runs (it has "
            f"{' and '.join(sorted(experiment))}), not the config of one. paper_repro.py makes its runs; "
            "the config of a single run is experiments/mf.toml."
        )
    top: Tree = {}
    assignments: dict[str, str] = {}
    for assignment in overrides:
        keys, value = parse_override(assignment)
        _put(top, keys, value, assignment)
        assignments[".".join(keys)] = assignment
    return Config.from_tree(overlay(tree, top), Origin(name, text, assignments))


def parse_override(assignment: str) -> tuple[list[str], Any]:
    """Split "ps.slack=8" into ``(["ps", "slack"], 8)``."""
    if not isinstance(assignment, str):
        raise wrong_argument("load_config(path, overrides)", f"texts such as those of {EXAMPLE}", assignment)
    key, equals, text = assignment.partition("=")
    keys = [part.strip() for part in key.split(".")]
    if not equals or not all(keys):
        raise InputError(f'--set {assignment}: an override is written KEY=VALUE, such as "ps.slack=8".')
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return keys, text.strip()
    # A line break in the value could smuggle in more keys; then it is text.
    return keys, parsed["value"] if len(parsed) == 1 else text.strip()


def _put(top: Tree, keys: list[str], value: Any, assignment: str) -> None:
    for key in keys[:-1]:
        top = top.setdefault(key, {})
        if not isinstance(top, dict):
            raise InputError(
                f"--set {assignment}: another override has set {key} to a value, so it has no keys."
            )
    top[keys[-1]] = value


def _read(path: Path, name: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        nearby = sorted(p.name for p in path.parent.glob("*.toml")) if path.parent.is_dir() else []
        there = f" The folder has: {', '.join(nearby[:12])}." if nearby else ""
        raise InputError(f"{name}: there is no such config file.{there}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not a text file in UTF-8 (byte {error.start}).") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}.") from None


def _syntax_error(name: str, text: str, error: tomllib.TOMLDecodeError) -> str:
    """Say where the TOML is broken; units without quotes are the most likely reason."""
    place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", str(error))
    problem = str(error)[: place.start()] if place else str(error)
    lines = text.splitlines()
    number = int(place[1]) if place and place[1] else len(lines)
    line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    unit = _UNQUOTED_UNIT.search(line)
    hint = f' Values with a unit need quotes: "{unit[1]}".' if unit else ""
    return f"{name}, line {number}: not valid TOML: {problem}: {line[:60]}{hint}"

"""From a wrong value to one readable paragraph: where it stands, what it is, what is allowed."""

import difflib
import math
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

from pydantic import BaseModel, ValidationError

from pskit.config.toml import line_of
from pskit.errors import InputError

Path = tuple[str | int, ...]

MOST_SHOWN = 8
"""Problems of one config that are told."""


@dataclass(frozen=True)
class Origin:
    """Where the keys of a config were written."""

    name: str
    """The file, or what else to call the source."""
    text: str = ""
    """The TOML text of the file."""
    overrides: Mapping[str, str] = field(default_factory=dict)
    """For each overridden dotted key, the assignment as the user wrote it."""

    def where(self, path: Path) -> str:
        """Name the source of the key at `path`: the override, or the file with the line."""
        dotted = ".".join(map(str, path)) + "."
        # An override of the key or of a table around it; else the file; else an override inside the table.
        for key, assignment in self.overrides.items():
            if dotted.startswith(f"{key}."):
                return f"--set {assignment}"
        line = line_of(self.text, path)
        if line is None:
            for key, assignment in self.overrides.items():
                if f"{key}.".startswith(dotted):
                    return f"--set {assignment}"
        return f"{self.name}, line {line}" if line else self.name


def plain(tree: Any, origin: Origin | None = None, path: Path = ()) -> Any:
    """Return `tree` made of dict, list, str, bool, int and finite float only.

    Models become dicts, tuples lists, paths text and NumPy scalars Python numbers; keys that are None are
    left out.

    Raises
    ------
    InputError
        NaN, an infinity, an integer beyond 64 bits, a date or another type; `origin` names its source.
    """
    if isinstance(tree, BaseModel):
        tree = tree.model_dump(mode="json")
    if isinstance(tree, Mapping):
        return {str(k): plain(v, origin, (*path, str(k))) for k, v in tree.items() if v is not None}
    if isinstance(tree, list | tuple):
        return [plain(v, origin, (*path, i)) for i, v in enumerate(tree)]
    if isinstance(tree, PathLike):
        tree = fspath(tree)
    elif hasattr(tree, "item") and getattr(tree, "ndim", None) == 0:
        tree = tree.item()
    if isinstance(tree, str | bool):
        return tree
    what = "must be text, a number, true, false, a list or a table"
    if isinstance(tree, float):
        if math.isfinite(tree):
            return tree
        what = "must be a finite number"
    elif isinstance(tree, int):
        if -(2**63) <= tree < 2**63:
            return tree
        tree, what = "...", "must be a number of at most 64 bits"
    where = origin.where(path) if origin else "config"
    raise InputError(f"{where}: {_dotted(path)} = {_shown(tree)}: {what}.")


def explain(error: ValidationError, model: type[BaseModel], origin: Origin) -> InputError:
    """Translate pydantic's errors into our words: a line for each, up to `MOST_SHOWN`."""
    errors = error.errors(include_url=False)
    lines = [_line(one, model, origin) for one in errors[:MOST_SHOWN]]
    if len(errors) > MOST_SHOWN:
        lines.append(f"... and {len(errors) - MOST_SHOWN} more")
    return InputError("\n".join(lines))


def _line(error: Mapping[str, Any], model: type[BaseModel], origin: Origin) -> str:
    """One of pydantic's errors as a line."""
    context = error.get("ctx", {})
    path: Path = (*error["loc"], *context.get("path", ()))
    value = _value_at(error["input"], context.get("path", ()))
    if error["type"] == "extra_forbidden":
        problem = _unknown_key(path, model)
    else:
        problem = _problem(error, value, path, model)
    shown = "" if value is _ABSENT or isinstance(value, dict | list) else f" = {_shown(value)}"
    return f"{origin.where(path)}: {_dotted(path)}{shown}: {problem}."


_ABSENT = object()

# pydantic's error types in our words; {} is filled from the error's context.
_WORDS = {
    "missing": "this key is missing",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text in quotes",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be text of another form",
    "tuple_type": "must be a list of tables",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
}


def _problem(error: Mapping[str, Any], value: object, path: Path, model: type[BaseModel]) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "broken_rule":
            return str(context["message"])
        case "not_one_of":
            return f"unknown {context['what']}{_did_you_mean(str(value), context['allowed'])}"
        case "literal_error":
            allowed = str(context["expected"]).replace(" or ", ", ").replace("'", "").split(", ")
            return f"unknown value{_did_you_mean(str(value), allowed)}"
        case "value_error":
            return str(context["error"])
    limits = {k: f"{v:.15g}" if isinstance(v, float) else v for k, v in context.items()}
    words = _WORDS.get(error["type"])
    return (words.format(**limits) if words else str(error["msg"])) + _description(path, model)


def _unknown_key(path: Path, model: type[BaseModel]) -> str:
    key = str(path[-1])
    parent = _model_at(path[:-1], model)
    siblings = list(parent.model_fields) if parent else []
    # Perhaps it was written outside its section.
    sections = {name: _model_at((name,), model) for name in model.model_fields}
    elsewhere = [
        f"{name}.{key}" for name, section in sections.items() if section and key in section.model_fields
    ]
    return f'unknown key "{key}"{_did_you_mean(key, siblings, elsewhere)}'


def _did_you_mean(wrong: str, allowed: list[str], otherwise: Sequence[str] = ()) -> str:
    """Return the closest of `allowed` (or the first of `otherwise`) as a question, and all of `allowed`."""
    spellings = {name.lower().replace("_", "-"): name for name in reversed(allowed)}
    close = difflib.get_close_matches(wrong.lower().replace("_", "-"), spellings, n=1)
    meant = [spellings[found] for found in close] or otherwise
    question = f'; did you mean "{meant[0]}"?' if meant else "."
    return f"{question} Allowed: {', '.join(allowed)}"


def _description(path: Path, model: type[BaseModel]) -> str:
    """Return the sentence that says what the key at `path` is, from the field's description."""
    parent = _model_at(path[:-1], model)
    if parent is None or path[-1] not in parent.model_fields:
        return ""
    description = parent.model_fields[str(path[-1])].description
    return f". {path[-1]} is {description}" if description else ""


def _model_at(path: Path, model: type[BaseModel]) -> type[BaseModel] | None:
    """Return the model of the table at `path`, None where there is none."""
    for key in path:
        if isinstance(key, int):
            continue
        info = model.model_fields.get(key)
        inner = _inner_model(info.annotation) if info else None
        if inner is None:
            return None
        model = inner
    return model


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_inner_model, typing.get_args(annotation))), None)


def _value_at(value: Any, path: Path) -> Any:
    """Return what stands at `path` below `value`, `_ABSENT` if nothing does."""
    for key in path:
        try:
            value = value[key]
        except (TypeError, KeyError, IndexError):
            return _ABSENT
    return value


def _dotted(path: Path) -> str:
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text or "config"


def _shown(value: object) -> str:
    """Write a value as TOML does, shortened."""
    text = (
        f'"{value}"'
        if isinstance(value, str)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )
    return text if len(text) <= 60 else f"{text[:56]}..."

"""Applications by name."""

import importlib
from typing import Any

from pskit.errors import InputError

_BUILT_IN = {"mf": "pskit.apps.mf:MatrixFactorization", "quadratic": "pskit.apps.quadratic:Quadratic"}
_REGISTERED: dict[str, type[Any]] = {}


def app_names() -> list[str]:
    """Names that ``app.name`` accepts beside ``module:Class``."""
    return [*_BUILT_IN, *_REGISTERED]


def register_app(name: str, cls: type[Any]) -> None:
    """Make a user's application class known as ``name``.

    Raises
    ------
    ValueError
        When the name is taken.
    """
    if name in _BUILT_IN or _REGISTERED.get(name, cls) is not cls:
        raise ValueError(f"an application named {name!r} exists already")
    _REGISTERED[name] = cls


def make_app(name: str) -> Any:
    """A fresh application: a built-in or registered name, or ``module:Class``.

    Raises
    ------
    InputError
        On an unknown name, or a module or class that cannot be imported.
    """
    if name in _REGISTERED:
        return _REGISTERED[name]()
    module, _, cls = _BUILT_IN.get(name, name).partition(":")
    if not cls:
        raise InputError(
            f"app.name = {name!r}: not an application; allowed are {app_names()} or module:Class"
        )
    try:
        return getattr(importlib.import_module(module), cls)()
    except (ImportError, AttributeError) as e:
        raise InputError(f"app.name = {name!r}: {e}") from e

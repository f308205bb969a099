"""Applications by name."""

import importlib
import sys
from typing import Any

from pskit.apps.calls import calling
from pskit.errors import InputError

_BUILT_IN = {
    "mf": "pskit.apps.mf:MatrixFactorization",
    "quadratic": "pskit.apps.quadratic:Quadratic",
    "absolute": "pskit.apps.absolute:Absolute",
    "huber": "pskit.apps.huber:Huber",
    "logistic": "pskit.apps.logistic:Logistic",
}
SYNTHETIC = "synthetic"
"""The ``app.data`` that names no file: samples drawn from ``app.data_seed``."""
_REGISTERED: dict[str, type[Any]] = {}
WHERE_MODULES_ARE = "modules are looked for where Python does (PYTHONPATH), then in the working folder"
METHODS = ("tables", "init", "work", "objective")


def app_names() -> list[str]:
    """Names that ``app.name`` accepts beside ``module:Class``."""
    return [*_BUILT_IN, *_REGISTERED]


def apps_with_gate() -> list[str]:
    """Names of the built-in applications that run under a policy with a gate."""
    return [name for name in _BUILT_IN if not hasattr(make_app(name), "no_gate")]


def register_app(name: str, cls: type[Any]) -> None:
    """Make a user's application class known as ``name``.

    Raises
    ------
    TypeError
        When it cannot be called.
    ValueError
        When the name is none, or taken.
    """
    given: tuple[Any, Any] = name, cls
    if not callable(given[1]):
        raise TypeError(
            f"register_app takes a name and a class with the methods {METHODS}, got {given[1]!r:.60}"
        )
    if not isinstance(given[0], str) or not name or ":" in name:
        raise ValueError(f"an application's name is text without a colon, got {name!r:.60}")
    if name in _BUILT_IN or _REGISTERED.get(name, cls) is not cls:
        raise ValueError(f"an application named {name!r} exists already")
    _REGISTERED[name] = cls


def make_app(name: str) -> Any:
    """A fresh application: a built-in or registered name, or ``module:Class``.

    Raises
    ------
    InputError
        On an unknown name, a module or class that cannot be imported, what is no class, or a class that lacks
        a method.
    AppError
        When the module or the constructor fails.
    """
    if name in _REGISTERED:
        return _made(name, _REGISTERED[name])
    module, _, cls = _BUILT_IN.get(name, name).partition(":")
    if not cls:
        raise InputError(
            f"app.name = {name!r}: not an application; allowed are {app_names()} or module:Class"
        )
    try:
        with calling(name, "the import of its module", passing=(ImportError,)):
            found = getattr(importlib.import_module(module), cls, None)
    except ImportError as e:
        missing = f"; {WHERE_MODULES_ARE}" if isinstance(e, ModuleNotFoundError) else ""
        raise InputError(f"app.name = {name!r}: {e}{missing}") from e
    if not isinstance(found, type):
        what = (
            "has no such class" if found is None else f"has a {type(found).__name__} of this name, no class"
        )
        file = getattr(sys.modules.get(module), "__file__", None)
        raise InputError(
            f"app.name = {name!r}: module {module!r} {f'({file}) ' if file else ''}{what}; "
            f"{WHERE_MODULES_ARE}"
        )
    return _made(name, found)


def _made(name: str, cls: type[Any]) -> Any:
    with calling(name, "its constructor"):
        app = cls()
    missing = [method for method in METHODS if not callable(getattr(app, method, None))]
    if missing:
        raise InputError(
            f"app.name = {name!r}: an application needs the methods {METHODS}; it lacks {missing}"
        )
    return app

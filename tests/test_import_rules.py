"""Which room of the project may import which: arrows go down only (docs/explanation/architecture.md)."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent


class Room(NamedTuple):
    """What a package may import of the project beside itself; `types` only under ``if TYPE_CHECKING``."""

    allowed: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


ROOMS = {
    "theory": Room(),
    "pskit.errors": Room(),
    "pskit.units": Room(("pskit.errors",)),
    "pskit.core": Room(),
    "pskit.emulation": Room(("pskit.errors", "pskit.units"), types=("pskit.config",)),
    "pskit.data": Room(("pskit.errors",)),
    "pskit.apps": Room(
        (
            "pskit.data",
            "pskit.errors",
            "pskit.core.layout",
            "pskit.core.kernels",
            "pskit.emulation.streams",
        ),
        types=("pskit.config",),
    ),
    "pskit.config": Room(("pskit.errors", "pskit.units", "pskit.apps", "pskit.core.policies")),
    "pskit.trace": Room(("pskit.errors", "pskit.core.layout")),
    "pskit.explore": Room(("pskit.errors", "pskit.core")),
    "pskit.auditing": Room(("pskit.errors", "pskit.trace"), types=("pskit.analysis",)),  # nothing of the core
    "pskit.analysis": Room(("pskit.errors", "pskit.trace", "theory")),
    "pskit.runtime": Room(
        ("pskit.errors", "pskit.core", "pskit.emulation", "pskit.trace", "pskit.apps"),
        types=("pskit.config",),
    ),
    # What the command line and paper_repro.py are made of.
    "pskit.console": Room(("pskit", "theory")),
    "pskit.repro": Room(("pskit", "theory", "figures")),
    "figures": Room(("pskit.errors", "pskit.trace", "pskit.analysis", "theory")),
}
# The modules that stand directly in pskit/ (facade, running, command line) are the top: they see everything.

CORE_MAY_NOT = {"time", "random", "threading", "multiprocessing", "asyncio", "socket", "logging", "os"}


class Import(NamedTuple):
    """One imported module, dotted, with where and how."""

    module: str
    line: int
    types_only: bool


def imports_of(source: str, module: str, is_package: bool) -> Iterator[Import]:
    """Every import of a source text, also inside functions; ``from a import b`` counts as ``a.b``."""
    tree = ast.parse(source)
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for statement in block.body
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")
            above = above[: len(above) - node.level + is_package] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            yield Import(name, node.lineno, id(node) in typing_only)


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def room_of(module: str) -> str | None:
    return next((room for room in ROOMS if within(module, room)), None)


def offences(source: str, module: str, is_package: bool = False) -> list[str]:
    """Imports of `source` that the rules forbid, as readable lines."""
    name = room_of(module)
    if name is None:
        return []
    room = ROOMS[name]
    bad = []
    for found in imports_of(source, module, is_package):
        allowed = (name, *room.allowed, *(room.types if found.types_only else ()))
        ours = within(found.module, "pskit") or any(within(found.module, room) for room in ROOMS)
        if ours and not any(within(found.module, package) for package in allowed):
            bad.append(f"{module}, line {found.line}: {name} may not import {found.module}")
        if name == "pskit.core" and (
            found.module.split(".")[0] in CORE_MAY_NOT or within(found.module, "numpy.random")
        ):
            bad.append(f"{module}, line {found.line}: the core does no input or output: {found.module}")
    return bad


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the project's packages, with its file."""
    for package in ("pskit", "theory", "figures"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def test_arrows_go_down_only():
    bad = [
        line
        for module, path in modules()
        for line in offences(path.read_text(), module, path.stem == "__init__")
    ]
    assert not bad, "\n".join(bad)


def test_every_package_has_a_rule():
    packages = {module for module, path in modules() if path.stem == "__init__"} - {"pskit"}
    without = sorted(package for package in packages if room_of(package) is None)
    assert not without, f"say in ROOMS what these may import: {without}"


def test_the_core_draws_no_random_number():
    for module, path in modules():
        if within(module, "pskit.core"):
            drawn = [
                node.lineno
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Attribute) and ast.unparse(node) in ("np.random", "numpy.random")
            ]
            assert not drawn, f"{module}, lines {drawn}"


@pytest.mark.parametrize(
    ("module", "source", "count"),
    [
        ("pskit.core.server", "import numpy as np\nfrom pskit.core.layout import Layout", 0),
        ("pskit.core.server", "from pskit.errors import InputError", 1),
        ("pskit.core.server", "from .layout import Layout", 0),
        ("pskit.core.server", "from ..trace import store", 1),
        ("pskit.core.server", "from .. import trace", 1),
        ("pskit.core.server", "def f():\n    import time", 1),
        ("pskit.core.server", "from os import path", 1),
        ("pskit.core.server", "from numpy import random", 1),
        ("pskit.core.policies", "from ..layout import Layout", 0),
        ("theory.thm5", "import pskit", 1),
        ("theory.thm5", "from theory import bound", 0),
        ("pskit.emulation.network", "from pskit.config import Config", 1),
        ("pskit.emulation.network", "if TYPE_CHECKING:\n    from pskit.config import Config", 0),
        ("pskit.trace.store", "import pskit", 1),
        ("pskit.trace.store", "from pskit import errors", 0),
        ("figures.mf", "from pskit.running import run", 1),
        ("pskit.running", "from pskit.runtime.sim import Simulation", 0),
    ],
)
def test_the_rules_themselves(module, source, count):
    assert len(offences(source, module, is_package=module == "pskit.core.policies")) == count

"""Plants a bug: a method of the core with a piece of its text replaced."""

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

from pskit.explore import System


class Edit(NamedTuple):
    """One replacement in the text of a method or function; ``old`` must occur in it once."""

    owner: type | ModuleType
    name: str
    old: str
    new: str

    def changed(self) -> Callable[..., Any]:
        """The function with its text changed, compiled where the real one was written."""
        original = vars(self.owner)[self.name]
        plain = getattr(original, "py_func", original)
        source = getattr(plain, "mutated", "") or textwrap.dedent(inspect.getsource(plain))
        source = re.sub(r"\A(@.*\n)+", "", source)
        found = source.count(self.old)
        if found != 1:
            raise LookupError(f"{self.owner.__name__}.{self.name} has {self.old!r} {found} times, not once")
        source = source.replace(self.old, self.new).replace("super()", f"super({self.owner.__name__}, self)")
        names = dict(vars(sys.modules[plain.__module__]))
        exec(source, names)
        function: Any = names[self.name]
        function.mutated = source  # for a second edit of the same function
        return function


class Mutant(NamedTuple):
    """A planted bug.

    Attributes
    ----------
    name : str
    rule : str
        What the protocol says, of which this is the simpler or wrong form.
    edits : tuple of Edit
    system : System
        Where the explorer looks for it.
    ends : bool
        False: it can keep a run going for ever, which only the explorer notices.
    """

    name: str
    rule: str
    edits: tuple[Edit, ...]
    system: System
    ends: bool = True

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Context in which the core has the bug."""
        with ExitStack() as stack:
            for edit in self.edits:
                stack.enter_context(mock.patch.object(edit.owner, edit.name, edit.changed()))
            yield


def systems_of(mutants: Iterable[Mutant]) -> list[System]:
    """Systems in which these bugs are looked for, each once."""
    systems: list[System] = []
    for mutant in mutants:
        if mutant.system not in systems:
            systems.append(mutant.system)
    return systems

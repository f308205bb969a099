"""Faults of user code become one readable error."""

import sys
from collections.abc import Iterator

import pytest

import pskit.apps
from pskit.apps import make_app, register_app
from pskit.apps.calls import calling, described, fault
from pskit.errors import AppError, InputError

MODULE = """
class Fine:
    def tables(self, cfg): ...
    def init(self, ctx): ...
    def work(self, ps): ...
    def objective(self, tables): ...

class Raises(Fine):
    def __init__(self):
        raise AttributeError("no such thing")

class Exits(Fine):
    def __init__(self):
        raise SystemExit(0)

class Partial:
    def tables(self, cfg): ...
    work = None

function = lambda: Fine()
"""


@pytest.fixture(autouse=True)
def modules(tmp_path, monkeypatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "calls_app.py").write_text(MODULE)
    (tmp_path / "calls_exits.py").write_text("raise SystemExit(0)")
    (tmp_path / "calls_broken.py").write_text("def f(:")
    (tmp_path / "calls_needs.py").write_text("import calls_no_such_module")
    yield
    for name in [name for name in sys.modules if name.startswith("calls_")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("calls_app:Raises", AppError, "'calls_app:Raises': its constructor failed: AttributeError: no such"),
        ("calls_app:Exits", AppError, "its constructor failed: SystemExit: 0"),
        ("calls_exits:Any", AppError, "the import of its module failed: SystemExit: 0"),
        ("calls_broken:Any", AppError, "the import of its module failed: SyntaxError"),
        ("calls_needs:Any", InputError, "calls_no_such_module"),
        ("calls_app:function", InputError, "'calls_app' has a function of this name, no class"),
        ("calls_app:Nothing", InputError, "'calls_app' has no such class"),
        ("calls_app:Partial", InputError, r"it lacks \['init', 'work', 'objective'\]"),
    ],
)
def test_what_cannot_be_made(name, kind, message) -> None:
    with pytest.raises(kind, match=message):
        make_app(name)


def test_a_registered_maker_may_fail_too(monkeypatch) -> None:
    monkeypatch.setattr(pskit.apps, "_REGISTERED", {})
    register_app("fails", lambda: 1 / 0)  # type: ignore[arg-type]
    with pytest.raises(AppError, match="'fails': its constructor failed: ZeroDivisionError") as caught:
        make_app("fails")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    "passes", [InputError("mine"), AppError("mine"), KeyboardInterrupt(), GeneratorExit()]
)
def test_what_passes(passes) -> None:
    with pytest.raises(type(passes)) as caught, calling("a", "b()"):
        raise passes
    assert caught.value is passes


def test_one_paragraph_says_where() -> None:
    error = fault("a:B", "work()", ValueError("two\n  lines"), 3, 0)
    assert str(error) == "application 'a:B': work() failed, worker 3 at clock 0: ValueError: two lines"


def test_any_text_is_shown_or_not() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert described(Silent()) == "Silent: (its text cannot be shown)"
    assert described(KeyError()) == "KeyError"
    assert len(described(ValueError("x" * 10_000))) < 700

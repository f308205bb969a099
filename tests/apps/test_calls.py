"""Faults of user code become one readable error."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pskit.apps
from pskit.apps import make_app, register_app
from pskit.apps.calls import calling, described, fault, place
from pskit.core.layout import Layout
from pskit.errors import AppError, InputError, WrongCall

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
        ("calls_needs:Any", InputError, r"'calls_no_such_module'; modules are looked for .* working folder"),
        (
            "calls_app:function",
            InputError,
            r"'calls_app' \(.*calls_app.py\) has a function of this name, no class; modules",
        ),
        ("calls_app:Nothing", InputError, r"'calls_app' \(.*calls_app.py\) has no such class"),
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


@pytest.mark.parametrize("given", [("n", 4), ("n", None)])
def test_what_cannot_be_called_is_not_registered(given) -> None:
    with pytest.raises(TypeError, match=r"register_app takes a name and a class with the methods .*, got"):
        register_app(*given)


@pytest.mark.parametrize("name", ["", 3, "a:b"])
def test_a_name_is_text_without_a_colon(name) -> None:
    with pytest.raises(ValueError, match="text without a colon, got"):
        register_app(name, object)


FAULTY = """
import json


def deep():
    raise ValueError("boom")


def in_a_library():
    json.loads("{")


def unawaited():
    pending = never()
    return pending + 1


async def never():
    pass
"""


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("deep", r"ValueError: boom \(faulty.py, line 6, in deep\)"),
        ("in_a_library", r"JSONDecodeError: .* \(faulty.py, line 10, in in_a_library\)"),
        (
            "unawaited",
            r"TypeError: .* \(faulty.py, line 15, in unawaited\); 'pending' is a call of never\(\) without "
            r"`await`",
        ),
    ],
)
def test_a_fault_says_where_in_the_users_code(function, text, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("faulty.py").write_text(FAULTY)
    spec = importlib.util.spec_from_file_location("faulty", tmp_path / "faulty.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(AppError, match=rf"^application 'a': b\(\) failed: {text}$"), calling("a", "b()"):
        getattr(module, function)()


def test_a_wrong_call_is_a_fault_and_says_no_more_than_what() -> None:
    message = r"^application 'a': b\(\) failed: no such table \(.*test_calls.py, line \d+"
    with pytest.raises(AppError, match=message), calling("a", "b()"):
        raise WrongCall("no such table")


def test_a_fault_in_code_of_ours_has_no_line() -> None:
    with pytest.raises(ValueError, match="TableSpec") as caught:
        Layout([None])  # type: ignore[list-item]
    assert "test_calls.py, line" in place(caught.value)
    trace = caught.value.__traceback__
    assert trace is not None
    assert place(caught.value.with_traceback(trace.tb_next)) == ""

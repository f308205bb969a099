"""Calls into an application, which is a user's code: whatever goes wrong there becomes one readable error."""

import inspect
import os
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CoroutineType, FrameType
from typing import Any

from pskit.errors import AppError, InputError, WrongCall

FAULTS = (Exception, SystemExit)
"""What user code may raise by mistake. SystemExit would end the program without a word; an interruption
passes, and so does what closes a coroutine."""

LONGEST_TEXT = 600
"""Characters of the error's own text that are shown."""
OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def fault(app: str, what: str, error: BaseException | str, worker: int = -1, clock: int = -1) -> AppError:
    """The error to raise for ``error`` in an application.

    Parameters
    ----------
    app : str
        ``app.name``.
    what : str
        The method, for example ``"init()"``.
    error : exception or str
        What it raised, or what is wrong with it.
    worker, clock : int
        Where known, else -1.
    """
    where = f", worker {worker}" if worker >= 0 else ""
    where += f" at clock {clock}" if clock >= 0 else ""
    line = "" if isinstance(error, str) else f"{place(error)}{never_awaited(error)}"
    return AppError(f"application {app!r}: {what} failed{where}: {described(error)}{line}")


def described(error: BaseException | str) -> str:
    """Type and text of an error, in one line; of those that are ours the text alone."""
    if isinstance(error, str):
        return error
    try:
        text = " ".join(str(error).split())
    except Exception:  # its own __str__ is user code, too
        text = "(its text cannot be shown)"
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]} ..."
    if text and type(error).__module__.startswith("pskit."):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def place(error: BaseException) -> str:
    """Where in the user's code an error came up, as `` (FILE, line N, in FUNCTION)``; empty if not there.

    The innermost line of a file that is neither ours nor a library's; of a library's if there is no other.
    """
    lines = [(frame, line) for frame, line in _lines(error) if not _is_ours(frame)]
    own = [(frame, line) for frame, line in lines if not _is_library(frame.f_code.co_filename)]
    if not lines:
        return ""
    frame, line = (own or lines)[-1]
    return f" ({shown_file(frame.f_code.co_filename)}, line {line}, in {frame.f_code.co_name})"


def never_awaited(error: BaseException) -> str:
    """Hint at coroutines in the variables of the failed code that nobody awaited; empty if there are none.

    They are closed, so that Python does not also complain of them.
    """
    names = []
    for frame, _ in _lines(error):
        for name, value in list(frame.f_locals.items()):
            if isinstance(value, CoroutineType) and inspect.getcoroutinestate(value) == "CORO_CREATED":
                value.close()
                names.append(f"{name!r} is a call of {value.__qualname__}() without `await`")
    return f"; {', '.join(names)}" if names else ""


def _lines(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """Frames and lines of a traceback, the outermost first."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith((OURS, "<frozen"))


def _is_library(file: str) -> bool:
    return file.startswith(_library_folders())


@cache
def _library_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple(paths[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def shown_file(name: str) -> str:
    """A file's name from the working folder, if it is in it."""
    try:
        return str(Path(name).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return name


class calling:  # noqa: N801 - reads like a function, as those of contextlib
    """Context: user code runs; its faults come out as `AppError`.

    Not made by ``contextlib.contextmanager``, which takes a RuntimeError caused by a StopIteration for that.

    Parameters
    ----------
    app, what, worker, clock
        See `fault`.
    passing : tuple of exception types
        That come out as they are, beside `InputError` and `AppError`.
    """

    def __init__(
        self,
        app: str,
        what: str,
        worker: int = -1,
        clock: int = -1,
        passing: tuple[type[Exception], ...] = (),
    ) -> None:
        self._place = worker, clock
        self._app, self._what = app, what
        self._passing: tuple[type[Exception], ...] = (InputError, AppError, *passing)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, FAULTS) and (
            isinstance(error, WrongCall) or not isinstance(error, self._passing)
        ):
            raise fault(self._app, self._what, error, *self._place) from error

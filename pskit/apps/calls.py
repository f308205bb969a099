"""Calls into an application, which is a user's code: whatever goes wrong there becomes one readable error."""

from typing import Any

from pskit.errors import AppError, InputError

FAULTS = (Exception, SystemExit)
"""What user code may raise by mistake. SystemExit would end the program without a word; an interruption
passes, and so does what closes a coroutine."""

LONGEST_TEXT = 600
"""Characters of the error's own text that are shown."""


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
    return AppError(f"application {app!r}: {what} failed{where}: {described(error)}")


def described(error: BaseException | str) -> str:
    """Type and text of an error, in one line."""
    if isinstance(error, str):
        return error
    try:
        text = " ".join(str(error).split())
    except Exception:  # its own __str__ is user code, too
        text = "(its text cannot be shown)"
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]} ..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


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
        if isinstance(error, FAULTS) and not isinstance(error, self._passing):
            raise fault(self._app, self._what, error, *self._place) from error

"""Errors that a user can cause, each with one readable message."""

from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """Wrong input: the message names file, key, line and value, and says what is allowed.

    The command line prints it as one paragraph and ends with exit code 2.
    """


def wrong_argument(what: str, expected: str, given: object) -> InputError:
    """Make the error of an argument of another kind.

    Parameters
    ----------
    what : str
        Call and argument, such as ``"run(cfg)"``.
    expected : str
        What is allowed, and how it is got.
    """
    return InputError(f"{what}: expected {expected}; got {given!r:.60} of type {type(given).__name__}")


@contextmanager
def about(key: str, value: object) -> Iterator[None]:
    """Context: an `InputError` is about this value of this key of the config, and says so.

    For what is read where nothing is known of the key, such as a file.
    """
    try:
        yield
    except InputError as error:
        raise InputError(f'{key} = "{value}": {error}') from error


class WrongCall(InputError):
    """A call of the parameter server that cannot be: rows, shapes or tables that are not there.

    In a session it is wrong input; in an application a fault of it, so it comes out as `AppError`.
    """


class AppError(RuntimeError):
    """A fault of a user's application: names application, method, worker, clock, error, file and line.

    Chained to that error. The command line ends with exit code 1.
    """


class Blocked(RuntimeError):
    """A call in a session that would never return: says what it waits for, and for whom."""


class RunFailed(RuntimeError):
    """A process of a live run died or could not go on: says which, where it was and who waited for what.

    The command line ends with exit code 4.
    """

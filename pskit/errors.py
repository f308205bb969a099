"""Errors that a user can cause, each with one readable message."""


class InputError(ValueError):
    """Wrong input: the message names file, key, line and value, and says what is allowed.

    The command line prints it as one paragraph and ends with exit code 2.
    """


class AppError(RuntimeError):
    """A fault of a user's application: names application, method, worker, clock and the error behind it.

    Chained to that error. The command line ends with exit code 1.
    """


class Blocked(RuntimeError):
    """A call in a session that would never return: says what it waits for, and for whom."""


class RunFailed(RuntimeError):
    """A process of a live run died or could not go on: says which, where it was and who waited for what.

    The command line ends with exit code 4.
    """

"""What an application forgot to await: Python only warns of it, and goes on as if nothing were missing."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pskit.apps.calls import shown_file
from pskit.errors import AppError

_TEXT = r"coroutine '(.*)' was never awaited"


@contextmanager
def nothing_unawaited(app: str) -> Iterator[None]:
    """Context: an application runs; of a call that it did not await comes an `AppError`, and no warning.

    Where the application has failed anyway, its error is told together with that.

    Parameters
    ----------
    app : str
        ``app.name``.

    Notes
    -----
    Until its end the filters and the printing of warnings are this one's, of the whole process.
    """
    found: list[str] = []
    with warnings.catch_warnings():
        warnings.filterwarnings("always", _TEXT, RuntimeWarning)
        others = warnings.showwarning

        def note(
            message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None
        ) -> None:
            missing = re.match(_TEXT, str(message)) if category is RuntimeWarning else None
            if missing is None:
                others(message, category, filename, lineno, file, line)
            else:
                found.append(
                    f"{missing[1]}() was called without `await` ({shown_file(filename)}, line {lineno})"
                )

        warnings.showwarning = note
        try:
            yield
        except AppError as error:
            if found:
                raise AppError(f"{error}; {found[0]}") from error
            raise
    if found:
        raise AppError(f"application {app!r}: {found[0]}, so nothing was done")

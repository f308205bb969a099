"""What an application forgot to await becomes an error of its own, and no warning."""

import gc
import warnings

import pytest

from pskit.apps.awaiting import nothing_unawaited
from pskit.errors import AppError


async def call() -> None:
    pass


def guarded(error: Exception | None) -> None:
    with nothing_unawaited("a"):
        call()
        gc.collect()  # where the count of references is not kept
        if error is not None:
            raise error


def test_a_call_that_nobody_awaited_is_an_error_with_its_line() -> None:
    message = r"^application 'a': call\(\) was called without `await` \(.*test_awaiting.py, line \d+\), so "
    with pytest.raises(AppError, match=message):
        guarded(None)


def test_it_is_told_with_the_fault_that_came_of_it() -> None:
    with pytest.raises(AppError, match=r"^mine; call\(\) was called without `await` \(") as caught:
        guarded(AppError("mine"))
    assert str(caught.value.__cause__) == "mine"


def test_other_errors_and_warnings_pass() -> None:
    with pytest.raises(KeyError):
        guarded(KeyError())
    with pytest.raises(AppError, match=r"^mine$"), nothing_unawaited("a"):
        raise AppError("mine")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with nothing_unawaited("a"):
            warnings.warn("other", RuntimeWarning, stacklevel=1)
    assert [str(one.message) for one in seen] == ["other"]


def test_everything_is_as_before_afterwards() -> None:
    before = warnings.showwarning, list(warnings.filters)
    with nothing_unawaited("a"):
        pass
    assert (warnings.showwarning, list(warnings.filters)) == before

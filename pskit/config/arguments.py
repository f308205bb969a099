"""Arguments of the functions that take a config, looked at before anything is done."""

import operator
from typing import Any

from pskit.config.model import Config
from pskit.errors import wrong_argument


def as_config(call: str, given: Any) -> Config:
    """The config ``given`` to ``call``, such as ``"run(cfg)"``.

    Raises
    ------
    InputError
        When it is none; says how one is made.
    """
    if isinstance(given, Config):
        return given
    expected = "a pskit.Config, such as pskit.load_config(FILE) or pskit.Config(**TABLES) gives"
    raise wrong_argument(call, expected, given)


def as_count(call: str, given: Any) -> int:
    """The number of processes or threads ``given``, 1 or more; InputError on anything else."""
    try:
        count = operator.index(given)
    except TypeError:
        count = 0
    if count >= 1 and not isinstance(given, bool):
        return count
    raise wrong_argument(call, "a whole number, 1 or more", given)


def as_list(call: str, what: str, given: Any) -> list[Any]:
    """The items ``given`` as a list or the like, which a text, a table or a single thing is not.

    Raises
    ------
    InputError
        Says that a list of ``what`` is expected.
    """
    if not isinstance(given, str | bytes | dict):
        try:
            return list(given)
        except TypeError:
            pass
    raise wrong_argument(call, f"a list of {what}", given)

"""What a check hands back."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from pskit.auditing.case import Case

Array = npt.NDArray[Any]


class Finding(NamedTuple):
    """What a check found.

    Attributes
    ----------
    checked : int
        Things it looked at.
    bad : (n,) int64
        Which of them break the rule, the first one first.
    tell : callable
        The story of one of them.
    """

    checked: int
    bad: Array
    tell: Callable[[int], str]


class Check(NamedTuple):
    """A rule that a trace has to follow.

    Attributes
    ----------
    name : str
    find : callable
        Looks for what breaks the rule; text instead of a `Finding` says why the rule does not apply here.
    """

    name: str
    find: "Callable[[Case], Finding | str]"

    @property
    def rule(self) -> str:
        """The rule in a sentence."""
        return (self.find.__doc__ or "").partition("\n")[0]


def breaks(wrong: Array, tell: Callable[[int], str], when: Array | None = None) -> Finding:
    """Make the finding of a check that flags each thing ``wrong`` (n,) bool, which happened at ``when``."""
    bad = np.flatnonzero(wrong)
    if when is not None and len(bad):
        bad = bad[np.argsort(when[bad], kind="stable")]
    return Finding(len(wrong), bad, tell)

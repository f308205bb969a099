"""Faults and how they are planted."""

from collections.abc import Callable
from typing import NamedTuple

from tests.auditing.drafts import Draft
from tests.auditing.runs import run


class Corruption(NamedTuple):
    """A fault, how to plant it in a good run, and the check that has to name it first.

    Attributes
    ----------
    what : str
    caught_by : str
    plant : callable
        Changes a draft.
    policy : str
        Of the run that it is planted in.
    """

    what: str
    caught_by: str
    plant: Callable[[Draft], None]
    policy: str


class Faults(list[Corruption]):
    """The faults of one subject."""

    def fault(
        self, what: str, caught_by: str, policy: str = "ssp"
    ) -> Callable[[Callable[[Draft], None]], None]:
        """Add the decorated planting."""

        def add(plant: Callable[[Draft], None]) -> None:
            self.append(Corruption(what, caught_by, plant, policy))

        return add


def plant(fault: Corruption) -> Draft:
    """A run with the fault in it."""
    draft = Draft(run(fault.policy))
    fault.plant(draft)
    return draft

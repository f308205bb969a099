"""Parts of a verdict: a number over seeds, held against a limit."""

import math
import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pskit.repro.statistics import Estimate, estimate

RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


class Part(NamedTuple):
    """One number of a claim.

    Attributes
    ----------
    what : str
    estimate : Estimate
        Its median is what is held against `limit`.
    relation : str
        A key of `RELATIONS`, or empty for a number that is only reported.
    limit : float
    """

    what: str
    estimate: Estimate
    relation: str = ""
    limit: float = math.nan

    @property
    def met(self) -> bool:
        """Whether the median is on the right side of the limit."""
        return not self.relation or RELATIONS[self.relation](self.estimate.value, self.limit)

    @property
    def margin(self) -> float:
        """Distance to the limit relative to it, negative when missed; infinite for a number without limit."""
        if not self.relation or math.isinf(self.estimate.value):
            return math.inf if self.met else -math.inf
        distance = self.estimate.value - self.limit
        return (distance if self.relation.startswith(">") else -distance) / abs(self.limit)

    def text(self) -> str:
        """In words and numbers."""
        limit = f" ({self.relation} {number(self.limit)})" if self.relation else ""
        missed = "" if self.met else ", missed"
        return f"{self.what}: {number(self.estimate.value)}{limit}{missed}"


def part(what: str, values: Sequence[float], relation: str = "", limit: float = math.nan) -> Part:
    """Make a part of one value per seed."""
    return Part(what, estimate(values), relation, limit)


def number(value: float) -> str:
    """Three significant digits; plain words for what is no number."""
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if value and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.1e}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"

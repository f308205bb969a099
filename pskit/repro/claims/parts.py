"""Parts of a verdict: a number over seeds, and the range that it is expected in."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from pskit.repro.statistics import Estimate, estimate


class Part(NamedTuple):
    """One number of a claim.

    Attributes
    ----------
    what : str
    estimate : Estimate
        Its median is what is expected in the range.
    low, high : float
        The range; infinite where it has no end. Without any end the number is only shown.
    strict : bool
        Whether the ends themselves are outside.
    """

    what: str
    estimate: Estimate
    low: float = -math.inf
    high: float = math.inf
    strict: bool = False

    @property
    def binding(self) -> bool:
        """Whether anything is expected of the number."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    @property
    def met(self) -> bool:
        """Whether the median is in the range."""
        value = self.estimate.value
        above = math.isinf(self.low) or value > self.low or (value == self.low and not self.strict)
        below = math.isinf(self.high) or value < self.high or (value == self.high and not self.strict)
        return above and below

    @property
    def margin(self) -> float:
        """Distance to the nearer end relative to it, negative outside; infinite without ends."""
        value = self.estimate.value
        below = (value - self.low) / (abs(self.low) or 1.0) if math.isfinite(self.low) else math.inf
        above = (self.high - value) / (abs(self.high) or 1.0) if math.isfinite(self.high) else math.inf
        return min(below, above)

    def expected(self) -> str:
        """The range in symbols; empty if the number is only shown."""
        less, greater = ("<", ">") if self.strict else ("<=", ">=")
        if not self.binding:
            return ""
        if math.isinf(self.low):
            return f"{less} {self.high:g}"
        if math.isinf(self.high):
            return f"{greater} {self.low:g}"
        return f"{self.low:g} to {self.high:g}"

    def interval(self) -> str:
        """The median and, for several seeds, its interval."""
        e = self.estimate
        return number(e.value) + (f" [{number(e.low)}, {number(e.high)}]" if e.n > 1 else "")


def part(
    what: str,
    values: Sequence[float],
    *,
    low: float = -math.inf,
    high: float = math.inf,
    strict: bool = False,
) -> Part:
    """Make a part of one value per seed."""
    return Part(what, estimate(values), low, high, strict)


def number(value: float) -> str:
    """Four significant digits; a plain word for infinity."""
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if value and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.1e}"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"

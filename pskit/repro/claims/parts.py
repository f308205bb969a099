"""Parts of a verdict: a number over seeds, and the range that it is expected in."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from pskit.repro.ensemble import Ensemble
from pskit.repro.statistics import Estimate, estimate

AS_BEFORE = "in every seed equal to that of a smaller s: the slack never binds"
"""Of a number that is there already, and is no other evidence."""


class Unfit(Exception):
    """The runs are there, but nothing can be judged by them; the message says why."""


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
    carries : bool
        Whether it is one of the numbers that the claim stands on, and is shown beside its verdict.
    infinite : str
        What an infinite value means, in words.
    note : str
        What else is to be known about single seeds.
    """

    what: str
    estimate: Estimate
    low: float = -math.inf
    high: float = math.inf
    strict: bool = False
    carries: bool = False
    infinite: str = "infinite"
    note: str = ""

    @property
    def binding(self) -> bool:
        """Whether anything is expected of the number."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    @property
    def met(self) -> bool:
        """Whether the median is in the range."""
        return self._holds(self.estimate.value)

    @property
    def doubtful(self) -> bool:
        """Whether the median is on the right side of a limit, but the interval is on both.

        A limit says which of two is larger, so the whole interval has to be on its side. A range with two
        ends is an allowance around an expected value: there the median decides, however wide the interval.
        """
        one_end = math.isinf(self.low) or math.isinf(self.high)
        sure = self._holds(self.estimate.low) and self._holds(self.estimate.high)
        return one_end and self.met and not sure

    def _holds(self, value: float) -> bool:
        above = math.isinf(self.low) or value > self.low or (value == self.low and not self.strict)
        below = math.isinf(self.high) or value < self.high or (value == self.high and not self.strict)
        return above and below

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
        """The median, for several seeds its interval, and the note."""
        e = self.estimate
        value, low, high = (number(v, self.infinite) for v in (e.value, e.low, e.high))
        if e.low < e.high:
            value += f" [{low}, {high}]"
        return f"{value} ({self.note})" if self.note else value


def part(
    what: str,
    values: Sequence[float],
    *,
    low: float = -math.inf,
    high: float = math.inf,
    strict: bool = False,
    carries: bool = False,
    infinite: str = "infinite",
    note: str = "",
) -> Part:
    """Make a part of one value per seed."""
    return Part(what, estimate(values), low, high, strict, carries, infinite, note)


def single(value: float, n: int) -> Estimate:
    """One number from n runs together, without an interval of its own."""
    return Estimate(float(value), float(value), float(value), n, 0.0)


def together(what: str, value: float, batch: Ensemble, **limits: Any) -> Part:
    """Make a part of one number that all runs of batches give together."""
    return Part(what, single(value, len(batch.seeds)), **limits)


def number(value: float, infinite: str = "infinite") -> str:
    """Four significant digits; words for infinity."""
    if math.isinf(value):
        return infinite if value > 0 else "-infinite"
    if value and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.1e}"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"

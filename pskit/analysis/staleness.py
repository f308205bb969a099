"""How old the rows were that workers read: exact, from the histogram of a trace.

The *age* of a read is c - k, the reader's clock minus the row's clock. The *differential* that the
paper plots is (k - 1) - c = -age - 1: -1 under BSP, -(s + 1) .. -1 under SSP with slack s. Every row of
every GET counts once.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

CONVENTIONS = ("paper", "age")


class Staleness:
    """Distribution of the ages of all reads.

    Parameters
    ----------
    clock, age, count : (n,) int
        ``count`` reads of this age by workers at this clock; the columns of the table ``histogram``.

    Notes
    -----
    Without any read every statistic is NaN and the histogram empty.
    """

    def __init__(self, clock: npt.NDArray[Any], age: npt.NDArray[Any], count: npt.NDArray[Any]) -> None:
        self._clock = np.asarray(clock, np.int64)
        self._age = np.asarray(age, np.int64)
        self._count = np.asarray(count, np.int64)
        self.ages, place = np.unique(self._age, return_inverse=True)
        self.counts = np.zeros(len(self.ages), np.int64)
        np.add.at(self.counts, place, self._count)

    @property
    def reads(self) -> int:
        """Number of row reads."""
        return int(self.counts.sum())

    def between(self, first: int, last: int) -> "Staleness":
        """Only the reads at clocks ``first`` .. ``last``, both included."""
        inside = (self._clock >= first) & (self._clock <= last)
        return Staleness(self._clock[inside], self._age[inside], self._count[inside])

    def mean(self) -> float:
        """Mean age, in clocks."""
        return _ratio(int((self.ages * self.counts).sum()), self.reads)

    def var(self) -> float:
        """Variance of the age over all reads (divided by their number), in clocks squared."""
        n, first = self.reads, int((self.ages * self.counts).sum())
        second = int((self.ages**2 * self.counts).sum())
        return _ratio(n * second - first**2, n**2)

    def quantile(self, q: float) -> float:
        """Smallest age that at least a share ``q`` of the reads does not exceed.

        Raises
        ------
        ValueError
            Unless 0 <= q <= 1.
        """
        if not 0.0 <= q <= 1.0:
            raise ValueError(f"a quantile needs 0 <= q <= 1, got {q!r}")
        if not self.reads:
            return float("nan")
        return float(self.ages[np.searchsorted(np.cumsum(self.counts), q * self.reads, side="left")])

    def share(self, low: int, high: int) -> float:
        """Share of the reads with an age of ``low`` .. ``high``, both included."""
        inside = (self.ages >= low) & (self.ages <= high)
        return _ratio(int(self.counts[inside].sum()), self.reads)

    def histogram(self, convention: str = "paper") -> dict[int, float]:
        """Share of the reads at each value that occurs, in ascending order of the value.

        Parameters
        ----------
        convention : {"paper", "age"}
            Key by the differential -age - 1, or by the age.

        Raises
        ------
        ValueError
            On another convention.
        """
        if convention not in CONVENTIONS:
            raise ValueError(f"convention must be one of {CONVENTIONS}, got {convention!r}")
        total = self.reads
        shares = {int(a): int(n) / total for a, n in zip(self.ages, self.counts, strict=True)}
        return shares if convention == "age" else {-a - 1: p for a, p in reversed(shares.items())}

    def mean_by_clock(self) -> dict[str, npt.NDArray[Any]]:
        """Mean age over time: equally long arrays ``clock`` (of the reader), ``mean`` and ``reads``."""
        clock, place = np.unique(self._clock, return_inverse=True)
        reads, sums = np.zeros((2, len(clock)), np.int64)
        np.add.at(reads, place, self._count)
        np.add.at(sums, place, self._count * self._age)
        return {"clock": clock, "mean": sums / reads, "reads": reads}

    def tv_to_uniform(self, slack: int) -> float:
        """Total variation distance to the uniform law on the ages 0 .. ``slack``.

        Raises
        ------
        ValueError
            On a negative slack.
        """
        if slack < 0:
            raise ValueError(f"slack must be at least 0, got {slack}")
        uniform = dict.fromkeys(range(slack + 1), 1.0 / (slack + 1))
        return total_variation(self.histogram("age"), uniform)

    def tv_to(self, other: "Staleness") -> float:
        """Total variation distance to another sample of ages, by their histograms."""
        return total_variation(self.histogram("age"), other.histogram("age"))


def total_variation(h1: Mapping[int, float], h2: Mapping[int, float]) -> float:
    """Total variation distance of two laws, half the sum of the differences of their shares: 0 to 1.

    NaN when one of them is empty.
    """
    if not h1 or not h2:
        return float("nan")
    return 0.5 * sum(abs(h1.get(k, 0.0) - h2.get(k, 0.0)) for k in sorted(h1.keys() | h2.keys()))


def _ratio(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else float("nan")

"""Shaped staleness: latencies that give reads a wanted law of ages, for cause-and-effect experiments.

All clocks take the same time, and pushes are held back by whole clocks. A push that carries clock m, held
back by j - 1 clocks, is there from the read at clock m + j on: with a constant j every read has the age j.
In general a reader's ages are a sequence a_c, and the push of clock m arrives for the first read with c - a_c
>= m. Nothing else of the protocol or the network changes, so ages are *measured*, as in every run.

A view never goes back, so an age rises by at most one per clock: no process whatever has independent ages.
Ages that change within a run are made like this: draw an age from q, hold it for h clocks; a lower age is
taken at once, a higher one is reached by one per clock. In the long run the share of age i is

    p_i = (h q_i + Q_{i-1} (1 - Q_i)) / Z,    Q_i = q_1 + ... + q_i,

as climbing past i takes a target below it and one above it. `target_law` solves this for q, with the smallest
h for which there is a solution. There is none where the wanted law has a gap: climbing fills it.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice, repeat
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pskit.emulation.fan import Fan
from pskit.emulation.streams import Stream
from pskit.errors import InputError

if TYPE_CHECKING:
    from pskit.config.staleness import Staleness

LONGEST_HOLD = 10_000
_HALVINGS = 200
_ROUNDING = 1e-9
_BLOCK = 256


def law(wanted: "Staleness") -> list[float]:
    """Shares of the ages 1, 2, 3, ...; they add up to 1.

    Parameters
    ----------
    wanted : Staleness
    """
    match wanted.law:
        case "fixed":
            weights = [float(age == wanted.age) for age in range(1, wanted.largest + 1)]
        case "uniform":
            weights = [float(age >= (wanted.low or 1)) for age in range(1, wanted.largest + 1)]
        case "bimodal":
            weights = _bimodal(wanted.near or 1, wanted.largest, wanted.p_far or 0.0, wanted.bridge)
        case "heavy-tail":
            weights = _heavy_tail(wanted.largest, wanted.mean or 1.0)
        case _:
            largest = max(wanted.shares)
            weights = [share / largest for share in wanted.shares]  # so that no sum overflows
    total = sum(weights)
    return [weight / total for weight in weights]


def _bimodal(near: int, far: int, p_far: float, bridge: float) -> list[float]:
    """Two ages; the share ``bridge`` is spread evenly over those between them."""
    weights = [0.0] * far
    weights[near - 1], weights[far - 1] = (1.0 - p_far) * (1.0 - bridge), p_far * (1.0 - bridge)
    for age in range(near + 1, far):
        weights[age - 1] = bridge / (far - near - 1)
    return weights


def _heavy_tail(bound: int, mean: float) -> list[float]:
    """Shares proportional to 1/(age + shift), cut off at ``bound``; the shift makes the mean.

    Raises
    ------
    InputError
        When no shift above -1 does: the mean lies above 1 and below that of the uniform law.
    """

    def weights(shift: float) -> list[float]:
        return [1.0 / (age + shift) for age in range(1, bound + 1)]

    def mean_of(shift: float) -> float:
        found = weights(shift)
        return sum(age * w for age, w in enumerate(found, 1)) / sum(found)

    low, high = -1.0 + 1e-9, 1e9
    if not mean_of(low) <= mean <= mean_of(high):
        raise InputError(
            f"network.staleness: a heavy tail that ends at {bound} has a mean above 1 and below "
            f"{(1 + bound) / 2:g} (that of a uniform law), not {mean!r}"
        )
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_of(middle) < mean else (low, middle)
    return weights(low)


def target_law(shares: Sequence[float]) -> tuple[list[float], int]:
    """q and h, see above, for wanted ``shares`` of the ages 1, 2, ...

    Raises
    ------
    InputError
        When there are none: the law has a gap, or would have to be held too long.
    """
    support = [age for age, share in enumerate(shares, 1) if share > 0]
    for age in range(support[0], support[-1]):
        if shares[age - 1] == 0:
            raise InputError(
                f"network.staleness: no reads are wanted to have the age {age}, but some to have less and "
                "some more. Within a run this cannot be: a view never goes back, so an age rises by one per "
                f'clock at most. Give age {age} a share (bimodal: bridge), or take drawn = "run"'
            )
    # The longer ages are held the less climbing there is: once there is a solution there always is.
    hold = bisect_left(range(1, LONGEST_HOLD + 1), True, key=lambda h: _valid(_solve(shares, h))) + 1
    q = _solve(shares, hold)
    if not _valid(q):
        raise InputError(
            f"network.staleness: this law would need ages that last more than {LONGEST_HOLD} clocks; give "
            "the ages between larger shares"
        )
    return [max(share, 0.0) for share in q], hold


def _valid(q: Sequence[float]) -> bool:
    return min(q) >= -_ROUNDING and abs(sum(q) - 1) <= _ROUNDING


def _solve(shares: Sequence[float], hold: int) -> list[float]:
    """q for one h: Z is found by halving, as the sum of q rises with it."""
    low, high = 0.0, float(hold + len(shares))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(_targets(shares, hold, middle)) < 1 else (low, middle)
    return _targets(shares, hold, high)


def _targets(shares: Sequence[float], hold: int, z: float) -> list[float]:
    q, below = [], 0.0
    for share in shares:
        room = hold - below
        q.append((share * z - below * (1.0 - below)) / room if room > 0 else math.inf)
        below += q[-1]
        if not below < 2.0:  # far too large a Z; further on the formula means nothing
            return [math.inf]
    return q


class AgeLaw:
    """What the ages of readers are drawn from.

    Parameters
    ----------
    wanted : Staleness

    Attributes
    ----------
    shares : list of float
        Of the ages 1, 2, ...

    Raises
    ------
    InputError
        When there is no such law, or none that can change within a run.
    """

    def __init__(self, wanted: "Staleness") -> None:
        self.shares = law(wanted)
        self._upto = list(accumulate(self.shares))
        self.by_clock = wanted.drawn == "clock"
        if self.by_clock:
            targets, self._hold = target_law(self.shares)
            self._targets = list(accumulate(targets))

    def ages(self, seed: int, client: int) -> Iterator[int]:
        """Ages of the reads of a client, clock after clock; one age for all clients if drawn once."""
        if self.by_clock:
            return self._changing(Stream(seed, "staleness", "client", client))
        return repeat(_drawn(self._upto, float(Stream(seed, "staleness").uniform(1)[0])))

    def _changing(self, stream: Stream) -> Iterator[int]:
        forgotten = 4 * (len(self.shares) + self._hold)  # clocks until the start does not matter any more
        return islice(self._path(_uniform(stream)), forgotten, None)

    def _path(self, draws: Iterator[float]) -> Iterator[int]:
        hold = self._hold - int(next(draws) * self._hold)  # somewhere in a hold
        age = _drawn(self._targets, next(draws))
        while True:
            yield from repeat(age, hold)
            target, hold = _drawn(self._targets, next(draws)), self._hold
            yield from range(age + 1, target)  # nothing for a lower age
            age = target


def _drawn(upto: list[float], u: float) -> int:
    """The age, from 1, that a uniform number falls on; ``upto`` has the sums of the shares."""
    last = bisect_left(upto, upto[-1])  # the largest age with a share
    return min(bisect_right(upto, u), last) + 1


def _uniform(stream: Stream) -> Iterator[float]:
    while True:
        yield from stream.uniform(_BLOCK).tolist()


def held_back(ages: Iterator[int]) -> Iterator[int]:
    """By how many clocks each message to a reader with these ages is held back.

    The first one answers its first GET and is not; then come the pushes that carry clock 1, 2, ...
    """
    yield 0
    clock, age, push = 0, next(ages), 0
    while True:
        push += 1
        while clock - age < push:
            clock, age = clock + 1, next(ages)
        yield clock - push - 1


class Shaped:
    """Latencies of a shard's links to clients: those of ``plain`` and what `held_back` adds.

    Parameters
    ----------
    plain : Fan
        One sequence for each client.
    ages : sequence of iterators of int
        Ages of each client's reads.
    clock_time : int, ns
    """

    __slots__ = ("_clock_time", "_held", "_plain")

    def __init__(self, plain: Fan, ages: Sequence[Iterator[int]], clock_time: int) -> None:
        self._plain, self._clock_time = plain, clock_time
        self._held = [held_back(of_client) for of_client in ages]

    def next(self, i: int) -> int:
        """Latency of the next message on the i-th link, ns."""
        return self._plain.next(i) + self._clock_time * next(self._held[i])

    def next_of_all(self) -> NDArray[np.int64]:
        """Latency of the next message on every link: (m,) int64, ns."""
        held = np.array([next(held) for held in self._held], np.int64)
        return self._plain.next_of_all() + self._clock_time * held

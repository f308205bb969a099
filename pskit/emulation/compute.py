"""Modelled compute times: draws per clock, cost per item, bounded drift, stragglers, pauses.

The time of one ``compute()`` is built in this order:

1. The first compute of a clock pays the clock's draw. With ``reversion`` r > 0 the worker remembers its
   deviation D from a schedule of equal clocks and pays ``draw - r D``, so that D <- (1 - r) D + (draw -
   mean), an AR(1) process: clocks of different workers stay within a bounded distance of each other. With r =
   0 they drift apart like a random walk.
2. Every compute pays ``per_item`` times its cost.
3. Stragglers multiply the sum. 4. Pauses prolong it.

Reversion works against the jitter of the draws only: a straggler or a paused worker does not catch up.

Where the time is measured, in place of 1. and 2., only 3. and 4. apply.
"""

from typing import TYPE_CHECKING

from pskit.emulation.samplers import Sampler
from pskit.emulation.streams import Stream
from pskit.errors import about

if TYPE_CHECKING:
    from pskit.config import ComputeConfig, Pause, Straggler


MEASURED = "measured"
"""The model of computations that take the time which they really take."""


class ComputeModel:
    """Compute times of one worker.

    Parameters
    ----------
    compute : ComputeConfig
        The distribution of one clock's time, ``per_item``, ``reversion``, ``stragglers`` and ``pauses``.
    seed : int
    worker : int

    Every clock has its own draw, whether or not the worker computes in it, so a time depends on what the
    worker did before only through the deviation D. The coins of the worker's i-th straggler entry come from
    their own stream.
    """

    def __init__(self, compute: "ComputeConfig", seed: int, worker: int) -> None:
        modelled = compute.model != MEASURED
        with about("compute.file", getattr(compute, "file", None)):
            self._draws = Sampler(compute, Stream(seed, "compute", "clock", worker)) if modelled else None
        self._mean = self._draws.quantile.mean if self._draws is not None else 0
        self._shortest = compute.floor // 2
        self._per_item = compute.per_item
        self._reversion = compute.reversion
        own = [straggler for straggler in compute.stragglers if straggler.worker == worker]
        self._slowdowns = [
            _Slowdown(straggler, Stream(seed, "compute", "straggler", worker, i))
            for i, straggler in enumerate(own)
        ]
        self._pauses = _merged([pause for pause in compute.pauses if pause.worker == worker])
        self._deviation = 0
        self._clock = -1
        self._draw = 0
        self._factor = 1.0

    def duration(self, now: int, clock: int, cost: float, first: bool) -> int:
        """Time that a computation takes.

        Parameters
        ----------
        now : int, ns
            When it starts.
        clock : int
            The worker's clock; never smaller than in an earlier call.
        cost : float
            Number of items, not negative.
        first : bool
            Whether this is the worker's first computation in this clock.

        Returns
        -------
        int, ns, at least 1

        Raises
        ------
        ValueError
            The clock went back.
        """
        if clock != self._clock:
            self._advance(clock)
        time = self._clock_time() if first else 0
        return self._slowed(now, time + round(self._per_item * float(cost)))

    def measured(self, now: int, clock: int, time: int) -> int:
        """Time that a computation takes that started at ``now`` in ``clock`` and really took ``time``, ns."""
        if clock != self._clock:
            self._advance(clock)
        return self._slowed(now, time)

    def _slowed(self, now: int, time: int) -> int:
        if self._factor != 1.0:
            time = round(self._factor * time)
        if time < 1:
            time = 1
        for begin, end in self._pauses:
            if now < end and begin < now + time:
                time += end - max(begin, now)
        return time

    def _advance(self, clock: int) -> None:
        if clock < self._clock:
            raise ValueError(f"the clock of a worker went back from {self._clock} to {clock}")
        for c in range(self._clock + 1, clock + 1):
            self._draw = self._draws.next() if self._draws is not None else 0
            self._factor = 1.0
            for slowdown in self._slowdowns:
                self._factor *= slowdown.factor(c)
        self._clock = clock

    def _clock_time(self) -> int:
        if not self._reversion:
            return self._draw
        # Half the floor is as fast as a late worker gets; what it then still lags behind stays in the
        # deviation.
        time = max(self._draw - round(self._reversion * self._deviation), self._shortest)
        self._deviation += time - self._mean
        return time


class _Slowdown:
    """One straggler entry: the factor of each clock, in the order of the clocks."""

    __slots__ = ("_coins", "_straggler", "_stream")

    BLOCK = 64

    def __init__(self, straggler: "Straggler", stream: Stream) -> None:
        self._straggler = straggler
        self._stream = stream
        self._coins: list[float] = []

    def factor(self, clock: int) -> float:
        straggler = self._straggler
        if not self._coins:
            self._coins = self._stream.uniform(self.BLOCK)[::-1].tolist()
        coin = self._coins.pop()
        slow = clock >= straggler.from_clock and (
            straggler.until_clock is None or clock < straggler.until_clock
        )
        return straggler.factor if slow and coin < straggler.probability else 1.0


def _merged(pauses: list["Pause"]) -> list[tuple[int, int]]:
    """Pauses as disjoint (begin, end) in order, so that overlapping ones are not paid twice."""
    spans: list[tuple[int, int]] = []
    for begin, end in sorted((pause.at, pause.at + pause.duration) for pause in pauses):
        if spans and begin <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((begin, end))
    return spans

"""Measuring in rounds: what is compared is measured in turn, so a slow phase of the machine meets all."""

import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numba
import numpy as np

from pskit.console.bench import Ratio

REPEATS = 5
T = TypeVar("T")


def interleaved(*calls: Callable[[], T]) -> list[list[T]]:
    """Each call's results over the repetitions, the calls in turn; one round before is not counted."""
    rounds = [[call() for call in calls] for _ in range(REPEATS + 1)][1:]
    return [list(column) for column in zip(*rounds, strict=True)]


def ratio(
    what: str, above: Sequence[float], below: Sequence[float], target: str = "", limit: float = 0.0
) -> Ratio:
    """Median and range of the pairwise ratios; ``target`` is met up to ``limit`` (from it, if negative)."""
    pairs = sorted(a / b for a, b in zip(above, below, strict=True))
    middle = statistics.median(pairs)
    met = (middle <= limit if limit > 0 else middle >= -limit) if target else None
    return Ratio(what, middle, pairs[0], pairs[-1], target, met)


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, smallest and largest."""
    return statistics.median(values), min(values), max(values)


def seconds_together(*calls: Callable[[], object]) -> float:
    """Wall seconds until all calls are over, each in a thread of its own; they should release the GIL."""
    threads = [threading.Thread(target=call) for call in calls]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begin


@numba.njit(nogil=True)
def _busy(x: float, n: int) -> float:
    for _ in range(n):
        x = x * 0.9999999 + 1e-9
    return x


def two_threads_over_one() -> Ratio:
    """What two threads at once are worth on this machine, now; to be read beside two-worker figures."""
    _busy(1.0, 1)
    work = lambda: _busy(1.0, 20_000_000)  # noqa: E731
    one, two = interleaved(lambda: seconds_together(work), lambda: seconds_together(work, work))
    return ratio("scaling probe: work per second, two threads / one", [2 * s for s in one], two)


def load() -> Ratio:
    """Load average of the last minute per processor: above about .1, others were at work."""
    share = os.getloadavg()[0] / (os.cpu_count() or 1)
    return Ratio("load average / processors, when the benchmark began", share, share, share)


def some_rows(rows: int, n: int) -> np.ndarray:
    """``n`` of ``rows`` row ids, (n,) int32, ascending."""
    ids = np.random.default_rng(7).choice(rows, n, replace=False)
    return np.sort(ids).astype(np.int32)

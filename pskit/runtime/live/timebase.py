"""Emulated time on the wall clock."""

import math
import time
from typing import TYPE_CHECKING

from pskit.errors import InputError
from pskit.runtime.events import LATEST

if TYPE_CHECKING:
    from pskit.config import Config

NEVER = (1 << 62) - 1
"""A time that does not come."""


def scale_of(cfg: "Config") -> float:
    """``run.time_scale``, which every config of the live runtime has."""
    if cfg.run.time_scale is None:
        raise ValueError(f"a config of the runtime {cfg.run.runtime!r} has no time scale")
    return cfg.run.time_scale


class Timebase:
    """Emulated nanoseconds since the start of a run; equal in all processes of one machine.

    Parameters
    ----------
    start : int, ns
        Of the machine's monotonic clock, at emulated time 0.
    scale : float
        Real seconds per emulated second.
    """

    __slots__ = ("_start", "scale")

    def __init__(self, start: int, scale: float) -> None:
        self._start, self.scale = start, scale

    def now(self) -> int:
        """Emulated time now, ns; never smaller than it was.

        Raises
        ------
        InputError
            After the end of emulated time, which a very small scale reaches soon.
        """
        now = (time.monotonic_ns() - self._start) / self.scale
        if now >= LATEST:
            raise InputError(
                f"run.time_scale = {self.scale:g}: after {LATEST * 1e-9 * self.scale:.2g} s this run is at "
                "the end of emulated time, which is at 2**63 - 1 ns (about 292 years); choose a larger "
                "time scale"
            )
        return int(now)

    def seconds_until(self, emulated: int) -> float:
        """Real seconds from now until an emulated time, negative when it is over; infinite for `NEVER`."""
        if emulated >= NEVER:
            return math.inf
        return (emulated * self.scale + self._start - time.monotonic_ns()) * 1e-9

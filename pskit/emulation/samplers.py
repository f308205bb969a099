"""Random times in whole nanoseconds: the models of compute time and latency.

A time is ``floor + X``, and X has one of seven models. Each is the inverse distribution function of one
uniform number, so that the i-th time of a sampler is a function of word i of its stream, whatever the model
and the block size.
"""

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pskit.emulation.elementary import Floats, exp, log, log_scalar, normal_quantile
from pskit.emulation.empirical import load_times
from pskit.emulation.fan import block_of
from pskit.emulation.streams import Stream, open_unit
from pskit.units import LONGEST_TIME

if TYPE_CHECKING:
    from pskit.config import Distribution

Inverse = Callable[[Floats], Floats]

FIRST_BLOCK, LARGEST_BLOCK = 8, 1024


def _constant(mean: float) -> tuple[Inverse, float]:
    return lambda u: np.full_like(u, mean), mean


def _uniform(low: float, high: float) -> tuple[Inverse, float]:
    width = high - low
    return lambda u: low + width * u, low + width / 2


def _exponential(mean: float) -> tuple[Inverse, float]:
    return lambda u: -mean * log(1.0 - u), mean


def _lognormal(mean: float, cv: float) -> tuple[Inverse, float]:
    """X = mean exp(sigma z - sigma^2 / 2) with sigma^2 = log(1 + cv^2)."""
    variance = log_scalar(1.0 + cv * cv)
    sigma = math.sqrt(variance)
    return lambda u: mean * exp(sigma * normal_quantile(u) - variance / 2), mean


def _pareto(mean: float, alpha: float) -> tuple[Inverse, float]:
    """P(X > x) = (scale / x)^alpha for x >= scale = mean (alpha - 1) / alpha."""
    scale = mean * (alpha - 1.0) / alpha
    rate = -1.0 / alpha
    return lambda u: scale * exp(rate * log(1.0 - u)), mean


def _bimodal(near: float, far: float, p_far: float) -> tuple[Inverse, float]:
    p_near = 1.0 - p_far
    return lambda u: np.where(u < p_near, near, far), p_near * near + p_far * far


def _empirical(file: str) -> tuple[Inverse, float]:
    values, mean = load_times(file)
    return lambda u: values[(u * len(values)).astype(np.int64)], mean


# Model -> the fields of its distribution, and what turns them into an inverse distribution function and the
# mean of X.
MODELS: dict[str, tuple[tuple[str, ...], Callable[..., tuple[Inverse, float]]]] = {
    "constant": (("mean",), _constant),
    "uniform": (("low", "high"), _uniform),
    "exponential": (("mean",), _exponential),
    "lognormal": (("mean", "cv"), _lognormal),
    "pareto": (("mean", "alpha"), _pareto),
    "bimodal": (("mean", "far", "p_far"), _bimodal),
    "empirical": (("file",), _empirical),
}


class Quantile:
    """Inverse distribution function of a time.

    Parameters
    ----------
    distribution : Distribution
        Read: ``model``, ``floor`` and the fields of that model.

    Attributes
    ----------
    floor, mean : int, ns
        Lower end of the model's range, and mean of the whole time (floor included).

    Raises
    ------
    InputError
        The file of an empirical model cannot be used.
    """

    __slots__ = ("_inverse", "floor", "mean")

    def __init__(self, distribution: "Distribution") -> None:
        fields, build = MODELS[distribution.model]
        self._inverse, mean = build(*(getattr(distribution, field) for field in fields))
        self.floor = distribution.floor
        self.mean = self.floor + round(mean)

    def __call__(self, u: Floats) -> NDArray[np.int64]:
        """Turn uniform numbers into times.

        Parameters
        ----------
        u : float64 array of any shape, strictly between 0 and 1

        Returns
        -------
        int64 array of the shape of ``u``, ns
        """
        # A Pareto tail with alpha near 1 would leave the range of int64.
        x = np.rint(np.minimum(self._inverse(u), LONGEST_TIME)).astype(np.int64)
        x += self.floor
        return x


class Sampler:
    """A sequence of random times, one after the other or in arrays.

    Parameters
    ----------
    distribution : Distribution
    stream : Stream
        Owned by the sampler from here on.

    Attributes
    ----------
    quantile : Quantile
    """

    __slots__ = ("_ahead", "_block", "_stream", "quantile")

    def __init__(self, distribution: "Distribution", stream: Stream) -> None:
        self.quantile = Quantile(distribution)
        self._stream = stream
        self._block = FIRST_BLOCK
        self._ahead: Iterator[int] = iter(())

    def next(self) -> int:
        """Draw a time, ns. Times are computed ahead in growing blocks, which never changes them."""
        for time in self._ahead:
            return time
        self._ahead = iter(block_of(self._fresh(self._block)))
        self._block = min(2 * self._block, LARGEST_BLOCK)
        return next(self._ahead)

    def draw(self, n: int) -> NDArray[np.int64]:
        """Draw ``n`` times: (n,) int64, ns. They are the same as ``n`` calls of :meth:`next` give."""
        ahead = np.fromiter(islice(self._ahead, n), dtype=np.int64)
        return np.concatenate((ahead, self._fresh(n - len(ahead))))

    def _fresh(self, n: int) -> NDArray[np.int64]:
        return self.quantile(open_unit(self._stream.bits(n)))

"""Huber regression: r^2/(2 h) for a residual |r| <= h, |r| - h/2 beyond; L = the longest row, smooth.

h is ``app.threshold``. As h falls the loss tends to the absolute one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pskit.apps.minimise import Local, newton
from pskit.apps.regression import Loss, Regression
from pskit.apps.terms import Floats
from pskit.data.samples import Samples


@dataclass(frozen=True)
class HuberLoss(Loss):
    """The loss with the threshold h."""

    threshold: float

    @property
    def bend(self) -> float:
        """See `Loss.bend`: 1/h."""
        return 1.0 / self.threshold

    def local(self, z: Floats, y: Floats) -> Local:
        """See `Loss.local`."""
        r, h = z - y, self.threshold
        size = np.abs(r)
        inner = size <= h
        # Not r * r / (2 h): a square may overflow where it is not used.
        value = np.where(inner, size * np.minimum(size / (2 * h), 0.5), size - h / 2)
        return Local(value, np.clip(r / h, -1.0, 1.0), inner / h)

    def one(self, z: float, y: float) -> tuple[float, float]:
        """See `Loss.one`."""
        r, h = z - y, self.threshold
        size = abs(r)
        value = size * (size / (2 * h)) if size <= h else size - h / 2
        return value, min(max(r / h, -1.0), 1.0)

    def minimise(self, samples: Samples, weights: Floats, start: Floats) -> Floats:
        """See `Loss.minimise`."""
        return newton(lambda z: self.local(z, samples.targets), samples.rows, weights, start)


class Huber(Regression):
    """The application ``huber``."""

    name = "huber"

    def loss(self, app: Any) -> Loss:
        """See `Regression.loss`."""
        return HuberLoss(app.threshold)

"""Huber regression: r^2/(2 h) for a residual |r| <= h, |r| - h/2 beyond; L = the longest row, smooth.

h is ``app.threshold``. As h falls the loss tends to the absolute one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pskit.apps.minimise import Local, least_absolute, newton
from pskit.apps.regression import Loss, Regression
from pskit.apps.terms import Floats
from pskit.data.samples import SMALLEST, Samples
from pskit.errors import InputError


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
        source = f"{samples.source} data"

        def from_there(start: Floats) -> Floats:
            return newton(lambda z: self.local(z, samples.targets), samples.rows, weights, start, source)

        try:
            return from_there(start)
        except InputError:  # a threshold far below the residuals: nearly an absolute loss, with its kinks
            start = least_absolute(samples.rows, samples.targets, weights, source)
        try:
            return from_there(start)
        except InputError as error:
            targets = f"app.threshold = {self.threshold:g}, targets up to {np.abs(samples.targets).max():.3g}"
            raise InputError(f"{error} ({targets})") from error


class Huber(Regression):
    """The application ``huber``."""

    name = "huber"

    def loss(self, app: Any) -> Loss:
        """See `Regression.loss`; refuses a threshold that residuals cannot be divided by."""
        if app.threshold < SMALLEST:
            raise InputError(f"app.threshold = {app.threshold:g}: must be {SMALLEST:g} or more")
        return HuberLoss(app.threshold)

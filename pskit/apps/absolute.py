"""Least absolute deviations: the loss |a . x - y|, Lipschitz with L = the longest row, with a kink.

Without noise every term is 0 at the true parameters, and the regret is the certificate C0 itself.
"""

from typing import Any

import numpy as np

from pskit.apps.minimise import Local, least_absolute
from pskit.apps.regression import Loss, Regression
from pskit.apps.terms import Floats
from pskit.data.samples import Samples


class AbsoluteLoss(Loss):
    """|z - y|; where z = y, the slope is 0."""

    def local(self, z: Floats, y: Floats) -> Local:
        """See `Loss.local`."""
        r = z - y
        return Local(np.abs(r), np.sign(r), np.zeros_like(r))

    def one(self, z: float, y: float) -> tuple[float, float]:
        """See `Loss.one`."""
        r = z - y
        return abs(r), float(r > 0) - float(r < 0)

    def minimise(self, samples: Samples, weights: Floats, start: Floats) -> Floats:
        """See `Loss.minimise`."""
        return least_absolute(samples.rows, samples.targets, weights, f"{samples.source} data")


class Absolute(Regression):
    """The application ``absolute``."""

    name = "absolute"

    def loss(self, app: Any) -> Loss:
        """See `Regression.loss`."""
        return AbsoluteLoss()

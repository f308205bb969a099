"""Logistic regression: log(1 + exp(-y a . x)) with y = -1 or 1; L = the longest row, smooth with L^2/4.

It has a minimiser unless the classes are separable; such data is refused. Synthetic labels are the sign of
a . x* + noise times a standard logistic number: P(y = 1) is the logistic function of a . x*/noise. Without
noise they are separable.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from pskit.apps.minimise import Local, check_not_separable, newton
from pskit.apps.regression import Loss, Regression
from pskit.apps.terms import Floats
from pskit.data.samples import Samples
from pskit.emulation.streams import Stream
from pskit.errors import InputError


class LogisticLoss(Loss):
    """The loss of a margin y z."""

    @property
    def bend(self) -> float:
        """See `Loss.bend`."""
        return 0.25

    def local(self, z: Floats, y: Floats) -> Local:
        """See `Loss.local`."""
        margin = y * z
        with np.errstate(over="ignore", under="ignore"):
            small = np.exp(-np.abs(margin))
        p = np.where(margin > 0, small, 1.0) / (1 + small)  # 1/(1 + exp(margin)), without overflow
        return Local(np.maximum(-margin, 0) + np.log1p(small), -y * p, p * (1 - p))

    def one(self, z: float, y: float) -> tuple[float, float]:
        """See `Loss.one`."""
        margin = y * z
        small = math.exp(-abs(margin))
        p = (small if margin > 0 else 1.0) / (1 + small)
        return max(-margin, 0.0) + math.log1p(small), -y * p

    def targets(self, z: Floats, noise: float, stream: Stream) -> Floats:
        """See `Loss.targets`; labels."""
        u = stream.uniform(len(z)) * (1 - 2.0**-52) + 2.0**-53
        return np.where(z + noise * np.log(u / (1 - u)) > 0, 1.0, -1.0)

    def check(self, samples: Samples) -> Samples:
        """See `Loss.check`; refuses what has no minimiser."""
        labelled = zero_or_one_for_minus_one(samples)
        check_not_separable(labelled.rows, labelled.targets, f"{samples.source} data")
        return labelled

    def minimise(self, samples: Samples, weights: Floats, start: Floats) -> Floats:
        """See `Loss.minimise`; InputError when the samples with a weight are separable."""
        used = weights > 0
        rows, labels = samples.rows[used], samples.targets[used]
        source = f"{len(labels)} samples of {samples.source} data that a run drew"
        check_not_separable(rows, labels, source)
        return newton(lambda z: self.local(z, labels), rows, weights[used], start, source)


class Logistic(Regression):
    """The application ``logistic``."""

    name = "logistic"

    def loss(self, app: Any) -> Loss:
        """See `Regression.loss`."""
        return LogisticLoss()


def zero_or_one_for_minus_one(samples: Samples) -> Samples:
    """Labels 0 and 1 as -1 and 1; such stay.

    Raises
    ------
    InputError
        On other targets, or a single class.
    """
    values = set(np.unique(samples.targets).tolist())
    if not (values == {0.0, 1.0} or values == {-1.0, 1.0}):
        raise InputError(
            f"{samples.source}: a logistic loss needs targets -1 and 1, or 0 and 1, both of them; "
            f"found {sorted(values)[:4]}{' and others' if len(values) > 4 else ''}"
        )
    return replace(samples, targets=np.where(samples.targets > 0, 1.0, -1.0))

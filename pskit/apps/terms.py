"""What a convex run sums: the terms f_1 .. f_T, one per worker and clock, with all their known constants.

The terms depend on the config alone, never on a view, so they can be made again from it: to evaluate a term
at another point than the run did (the reference, a comparator), and to find their minimiser.

Term t belongs to worker p in clock c (both from 0), t - 1 = c P + p; arrays over terms are clock-major.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Terms(ABC):
    """The terms of one run, convex and finite everywhere: no projection is ever needed.

    Attributes
    ----------
    workers, clocks, dim : int
    start : (dim,) float64
        Where the run starts.
    lipschitz, lipschitz_inf : float
        Largest Euclidean and largest absolute norm that a (sub)gradient of a term can have; inf without any.
    smoothness : float
        Largest Lipschitz constant of a term's gradient; inf where the terms have kinks.
    """

    def __init__(
        self,
        workers: int,
        clocks: int,
        start: Floats,
        *,
        lipschitz: float,
        lipschitz_inf: float,
        smoothness: float,
    ) -> None:
        self.workers, self.clocks, self.start = workers, clocks, start
        self.lipschitz, self.lipschitz_inf, self.smoothness = lipschitz, lipschitz_inf, smoothness

    @property
    def dim(self) -> int:
        """Number of unknowns."""
        return len(self.start)

    def __len__(self) -> int:
        return self.workers * self.clocks

    @abstractmethod
    def values(self, x: Floats) -> Floats:
        """f_t(x_t) for every t: ``x`` (dim,) or (T, dim) to (T,) float64."""

    @abstractmethod
    def gradients(self, x: Floats) -> Floats:
        """A (sub)gradient of every f_t at its x_t: ``x`` (dim,) or (T, dim) to (T, dim) float64."""

    @abstractmethod
    def minimiser(self) -> Floats:
        """A minimiser of f_1 + ... + f_T, (dim,) float64, to 1e-12 where it is unique and well conditioned.

        Raises
        ------
        InputError
            When these terms have none.
        """

    @abstractmethod
    def population(self) -> Floats:
        """The minimiser of the mean term, (dim,) float64: the same for every draw of samples and noise."""

    def comparator(self, which: str) -> Floats:
        """The minimiser of the ``"run"`` or of the ``"population"``."""
        if which not in ("run", "population"):
            raise ValueError(f'comparator must be "run" or "population", got {which!r}')
        return self.minimiser() if which == "run" else self.population()


def directions(dim: int, distance: float | None = None) -> Floats:
    """The true parameters, (dim,) float64: 1 and -1 in turn, or scaled to be ``distance`` from 0."""
    signs = np.where(np.arange(dim) % 2, -1.0, 1.0)
    return signs if distance is None else signs * (distance / np.sqrt(dim))


def noise_seed(cfg: Any) -> int:
    """The seed of samples and gradient noise, which may be another than that of the schedule."""
    chosen: int | None = cfg.app.noise_seed
    return int(cfg.run.seed) if chosen is None else chosen


def constants(terms: Terms) -> dict[str, Any]:
    """What a manifest keeps of `terms`; None stands for a constant that does not exist."""

    def known(value: float) -> float | None:
        return float(value) if np.isfinite(value) else None

    return {
        "dim": terms.dim,
        "L": known(terms.lipschitz),
        "L_inf": known(terms.lipschitz_inf),
        "smoothness": known(terms.smoothness),
    }

"""Losses of linear predictions: what the applications `absolute`, `huber` and `logistic` share.

Term t is loss(a_i . x, y_i) with the sample i drawn anew for every worker and clock, with replacement from
all samples, so the mean term is the mean over the data set. A clock is one read of all of x, one gradient and
one update. Nothing projects: the losses are Lipschitz on the whole space.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from pskit.apps import SYNTHETIC
from pskit.apps.base import Array, InitContext, Worker
from pskit.apps.minimise import Local
from pskit.apps.steps import step_size
from pskit.apps.terms import Floats, Terms, directions, noise_seed
from pskit.core.layout import TableSpec
from pskit.data.samples import LARGEST, Samples, read_samples
from pskit.emulation.streams import Stream
from pskit.errors import InputError, about

PASSES = 3
"""Arrays of the size of the samples while they are made: draws, the rows, and their squares."""


@dataclass(frozen=True)
class Loss(ABC):
    """A convex loss of a prediction z and a target y, with a slope in z of 1 at most; compares by value."""

    @property
    def bend(self) -> float:
        """Largest second derivative in z; inf for a kink."""
        return np.inf

    @abstractmethod
    def local(self, z: Floats, y: Floats) -> Local:
        """Values, slopes and bends at predictions ``z`` for targets ``y``, all (n,) float64."""

    @abstractmethod
    def one(self, z: float, y: float) -> tuple[float, float]:
        """Value and slope of one sample, as `local` has them; without arrays, which is faster."""

    def targets(self, z: Floats, noise: float, stream: Stream) -> Floats:
        """Targets of synthetic samples whose exact predictions are ``z`` (n,): with normal noise."""
        return z + noise * stream.normal(len(z)) if noise else z

    def check(self, samples: Samples) -> Samples:
        """Samples as the loss wants them.

        Raises
        ------
        InputError
            When it cannot have these.
        """
        return samples

    @abstractmethod
    def minimise(self, samples: Samples, weights: Floats, start: Floats) -> Floats:
        """A minimiser (d,) of the sum of the losses times ``weights`` (n,)."""


@lru_cache(maxsize=8)
def synthetic(loss: Loss, dim: int, samples: int, noise: float, distance: float | None, seed: int) -> Samples:
    """Rows in random directions, of length 1; targets with noise around the true parameters."""
    rows = Stream(seed, "data", "rows").normal(samples * dim).reshape(samples, dim)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    targets = loss.targets(rows @ directions(dim, distance), noise, Stream(seed, "data", "targets"))
    return _shared(loss.check(Samples(rows, targets, SYNTHETIC)))


@lru_cache(maxsize=8)
def _from_file(loss: Loss, path: str, _changed: int) -> Samples:
    return _shared(loss.check(read_samples(Path(path))))


def _shared(samples: Samples) -> Samples:
    """Samples that several runs may hold: nobody writes to them.

    Raises
    ------
    InputError
        On synthetic targets that cannot be computed with; a file's are refused by line.
    """
    if not (largest := float(np.abs(samples.targets).max())) <= LARGEST:
        raise InputError(
            f"{samples.source} data: the targets reach {largest:.3g}, and {LARGEST:g} is the most that can "
            "be computed with; give a smaller app.noise or app.distance"
        )
    samples.rows.setflags(write=False)
    samples.targets.setflags(write=False)
    return samples


def samples_of(loss: Loss, app: Any) -> Samples:
    """The data set that ``app`` (AppConfig) names, made or read once per process."""
    if app.data == SYNTHETIC:
        return synthetic(loss, app.dim, app.samples, app.noise, app.distance, app.data_seed)
    try:
        changed = Path(app.data).stat().st_mtime_ns
    except (OSError, ValueError):
        changed = 0  # `read_samples` says what is wrong
    with about("app.data", app.data):
        return _from_file(loss, app.data, changed)


@lru_cache(maxsize=8)
def _population(loss: Loss, samples: Samples) -> Floats:
    """Minimiser of the mean over the data set, found once for all runs on it."""
    number, dim = samples.rows.shape
    return loss.minimise(samples, np.ones(number), np.zeros(dim))


class SampledTerms(Terms):
    """Losses of samples that are drawn with replacement.

    Parameters
    ----------
    loss : Loss
    samples : Samples
    workers, clocks : int
    seed : int
        Of the draws.
    truth : (d,) float64 or None
        Where every sample's loss has a minimum, when it is known.

    Attributes
    ----------
    drawn : (clocks, workers) int64
        Sample of each term.
    """

    def __init__(
        self, loss: Loss, samples: Samples, workers: int, clocks: int, seed: int, truth: Floats | None = None
    ) -> None:
        norm = float(np.linalg.norm(samples.rows, axis=1).max())
        super().__init__(
            workers,
            clocks,
            np.zeros(samples.rows.shape[1]),
            lipschitz=norm,
            lipschitz_inf=float(np.abs(samples.rows).max()),
            smoothness=loss.bend * norm**2,
        )
        self.loss, self.samples, self._truth = loss, samples, truth
        number = len(samples.targets)
        self.drawn = np.stack(
            [Stream(seed, "app", "worker", w, "samples").integers(clocks, number) for w in range(workers)],
            axis=1,
        )

    def _local(self, x: Floats) -> tuple[Floats, Local]:
        which = self.drawn.ravel()
        rows = self.samples.rows[which]
        predictions = np.einsum("td,td->t", rows, np.broadcast_to(x, rows.shape))
        return rows, self.loss.local(predictions, self.samples.targets[which])

    def values(self, x: Floats) -> Floats:
        """See `Terms.values`."""
        return self._local(x)[1].value

    def gradients(self, x: Floats) -> Floats:
        """See `Terms.gradients`."""
        rows, local = self._local(x)
        return np.asarray(local.slope[:, None] * rows)

    def minimiser(self) -> Floats:
        """See `Terms.minimiser`."""
        if self._truth is not None:
            return self._truth
        counts = np.bincount(self.drawn.ravel(), minlength=len(self.samples.targets))
        return self.loss.minimise(self.samples, counts.astype(np.float64), self.start)

    def population(self) -> Floats:
        """See `Terms.population`."""
        if self._truth is not None:
            return self._truth
        return _population(self.loss, self.samples)


class Regression(ABC):
    """An application with a loss of linear predictions: one table ``x`` (d, 1) float64 that starts at 0."""

    name: ClassVar[str]

    def __init__(self) -> None:
        self._terms: dict[Any, SampledTerms] = {}
        self._samples: Samples | None = None
        self._loss: Loss | None = None

    @abstractmethod
    def loss(self, app: Any) -> Loss:
        """The loss that ``app`` (AppConfig) asks for."""

    def terms(self, cfg: Any) -> SampledTerms:
        """The terms that a run of ``cfg`` sums.

        Raises
        ------
        InputError
            On a file that cannot be used, or data without a minimiser.
        """
        app, seed = cfg.app, noise_seed(cfg)
        key = cfg.workers, app.clocks, seed
        if key not in self._terms:
            loss = self.loss(app)
            samples = samples_of(loss, app)
            exact = app.data == SYNTHETIC and app.noise == 0
            truth = directions(app.dim, app.distance) if exact else None
            self._loss, self._samples = loss, samples
            self._terms[key] = SampledTerms(loss, samples, cfg.workers, app.clocks, seed, truth)
        return self._terms[key]

    def tables(self, cfg: Any) -> list[TableSpec]:
        """Load the data and name the table."""
        return [TableSpec("x", self.terms(cfg).dim, 1, "f8")]

    def working_bytes(self, cfg: Any) -> int:
        """A worker's share, bytes, of the synthetic samples that every process of the run makes."""
        app = cfg.app
        if app.data != SYNTHETIC:
            return 0
        processes = 1 if cfg.run.runtime == "sim" else cfg.cluster.clients + 1
        return -(-processes * PASSES * 8 * app.samples * app.dim // cfg.workers)

    def init(self, ctx: InitContext) -> None:
        """x starts at 0."""
        ctx.tables["x"][:] = 0.0

    async def work(self, ps: Worker) -> None:
        """One sample, one step per clock."""
        terms = self.terms(ps.cfg)
        x, ids = ps.table("x"), np.arange(terms.dim, dtype=np.int32)
        app, one = ps.cfg.app, terms.loss.one
        rows, targets = terms.samples.rows, terms.samples.targets.tolist()

        def gradient(view: Array, row: Floats, target: float) -> tuple[Array, float]:
            value, slope = one(float(row @ view[:, 0]), target)
            return (slope * row)[:, None], value

        for clock, sample in enumerate(terms.drawn[:, ps.worker].tolist()):
            view = await x.get(ids)
            size = step_size(app, clock, ps.start_index)
            g, f = await ps.compute(gradient, view, rows[sample], targets[sample], cost=1)
            x.inc(ids, -size * g)
            ps.took_step(size, g, f)
            await ps.clock()

    def objective(self, tables: Mapping[str, Array]) -> dict[str, float]:
        """``loss``: the mean over the whole data set."""
        samples, loss = self._samples, self._loss
        if samples is None or loss is None:
            raise RuntimeError("objective() needs the data that tables(cfg) loads")
        with np.errstate(over="ignore", invalid="ignore"):  # a diverging run is reported by its loss
            value = loss.local(samples.rows @ tables["x"][:, 0], samples.targets).value
        return {"loss": float(value.mean())}

    def lipschitz_inf(self, cfg: Any) -> float:
        """Largest entry that a gradient can have."""
        return self.terms(cfg).lipschitz_inf

    def step_at(self, cfg: Any, worker: int, clock: int, start: int) -> float:
        """The step of the computation that a worker starts as number ``start`` of all."""
        return step_size(cfg.app, clock, start)

    def describe(self, cfg: Any) -> str:
        """One line for captions."""
        app, terms = cfg.app, self.terms(cfg)
        data = terms.samples
        noise = f", noise {app.noise:g}" if app.data == SYNTHETIC else ""
        return (
            f"{self.name} loss in {terms.dim:,} dimensions, {data.source} data: {len(data.targets):,} samples"
            f"{noise}, L = {terms.lipschitz:g}; one sample a clock; step {app.step:g} {app.schedule}"
        )

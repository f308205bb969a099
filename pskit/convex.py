"""Convex runs against the theory: one run measured with all its terms, and ensembles of such runs.

    runs = ensemble({"ssp": ssp, "essp": essp}, seeds=range(200))
    runs["ssp"].mean_regret                       # R/T of every run
    runs["ssp"].moments()                         # theory.Moments of gamma over runs
    theory.thm6_terms(**runs["ssp"].variance())   # exact terms of Theorem 6 for every t

A trace alone has views, gradients and what each view contained (`Trace.steps`). Regret and fresh gradients
need the terms themselves, at other points than the run evaluated them; the application makes them again from
the config.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import theory
from pskit.analysis.gamma import Steps, run_moments
from pskit.analysis.trace import Trace
from pskit.apps import make_app
from pskit.apps.terms import Terms
from pskit.config import Config
from pskit.config.arguments import as_config, as_count, as_list
from pskit.errors import InputError, wrong_argument
from pskit.running import run
from pskit.runtime.live.starting import starting

Floats = npt.NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)
ROUNDING = 1e-6
"""What values of a term may differ by, relative to the largest, when they are computed in another way."""
_GUARD = (
    "an ensemble could not be run in several processes, or one of them was killed: the script has to call it "
    'under `if __name__ == "__main__":`, and be a file; or use jobs = 1'
)


class ConvexRun(Steps):
    """The steps of a run, with the values of its terms at other points.

    Attributes
    ----------
    seed : int
        Of the schedule.
    x_star : (d,) float64
        The comparator.
    f_star, f_reference : (T,) float64
        Term t at the comparator and at the reference x_t.
    fresh : (T, d) float64
        Gradient of term t at the reference x_t, of the same sample: the h_t of Theorem 6.
    final_error : float
        Largest difference between x_{T+1} rebuilt from the updates and the final table, relative to its size.
    """

    def __init__(self, trace: Trace, comparator: str = "run", slack: int | None = None) -> None:
        if not isinstance(trace, Trace):
            raise wrong_argument("measure(trace)", "a trace, such as pskit.run(cfg) gives", trace)
        self.__dict__.update(vars(trace.steps(slack)))
        cfg = Config(**trace.config)
        terms = make_app(cfg.app.name).terms(cfg)
        self._check_terms(terms)
        self.seed = cfg.run.seed
        self.x_star = terms.comparator(comparator)
        self.f_star = terms.values(self.x_star)
        self.f_reference = terms.values(self.x[:-1])
        self.fresh = terms.gradients(self.x[:-1])
        final = trace.in_one_line()
        self.final_error = float(np.abs(self.x[-1] - final).max() / max(1.0, float(np.abs(final).max())))

    def _check_terms(self, terms: Terms) -> None:
        """Refuse terms that are not those of the run: its data changed since, or its trace."""
        again = terms.values(self.views)
        size = max(np.abs(self.f).max(), np.abs(terms.values(np.zeros(terms.dim))).max())
        wrong = np.flatnonzero(np.abs(again - self.f) > ROUNDING * size)
        if len(wrong):
            t = int(wrong[0])
            raise InputError(
                "the terms made again from the run's config are not those of its trace: at the view of "
                f"worker {t % self.workers} in clock {t // self.workers} term {t + 1} is {again[t]:.12g}, "
                f"and the trace has {self.f[t]:.12g}. Did the file of app.data, or the application, change "
                "since the run?"
            )

    def __repr__(self) -> str:
        return (
            f"<ConvexRun: seed {self.seed}, {self.workers} workers x {self.clocks} clocks, "
            f"slack {self.slack}, {self.dim} unknowns, R/T = {self.mean_regret:.4g}>"
        )

    @property
    def mean_regret(self) -> float:
        """R/T, with the terms at the views."""
        return float(np.mean(self.f - self.f_star))

    @property
    def mean_reference_regret(self) -> float:
        """The same with the terms at the references: what C3 bounds."""
        return float(np.mean(self.f_reference - self.f_star))

    @cached_property
    def F2(self) -> float:  # noqa: N802 - the theory's name
        """F^2 of this run alone, see `Steps.largest_distance`."""
        return self.largest_distance(self.x_star)

    def levels(self) -> dict[str, float]:
        """What the pathwise certificates say of R/T, with this run's own F^2.

        ``R``, ``C0`` and, where L is known, ``C1`` (displacements) and ``C2`` (counts); where the terms are
        smooth, ``R_reference`` and ``C3``, which bounds that.
        """
        parts, reads = self.certificate(self.x_star), len(self)
        common = parts.A + parts.B
        levels: dict[str, Any] = {"R": self.mean_regret * reads, "C0": common + parts.S}
        if self.lipschitz is not None:
            levels["C1"] = common + self.lipschitz * float(self.gamma.b.sum())
            levels["C2"] = common + self.lipschitz**2 * float(self.eta @ self.counts.k)
        if self.smoothness is not None:
            levels["R_reference"] = self.mean_reference_regret * reads
            levels["C3"] = common + self.smoothness / 2 * float((self.gamma.b**2).sum())
        return {name: float(value) / reads for name, value in levels.items()}


class Ensemble:
    """Runs that differ in their seeds alone, in the order in which they were asked for.

    Parameters
    ----------
    runs : sequence of ConvexRun
        N runs.
    """

    def __init__(self, runs: Sequence[ConvexRun]) -> None:
        self.runs = tuple(runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return (
            f"<Ensemble of {len(self)} runs, the first {self.first!r}>" if self.runs else "<Ensemble: empty>"
        )

    def each(self, measure: Callable[[ConvexRun], Any]) -> npt.NDArray[Any]:
        """A number or an array of every run, (N, ...)."""
        return np.stack([np.asarray(measure(run)) for run in self.runs])

    @property
    def first(self) -> ConvexRun:
        """One of the runs, for what all have in common: workers, slack, clocks, eta, lipschitz."""
        return self.runs[0]

    @property
    def mean_regret(self) -> Floats:
        """R/T of every run, (N,) float64."""
        return self.each(lambda run: run.mean_regret)

    @property
    def F2(self) -> float:  # noqa: N802 - the theory's name
        """One F^2 for all of the runs: the largest of theirs."""
        return float(self.each(lambda run: run.F2).max())

    @property
    def gamma(self) -> Floats:
        """Staleness of every read, (N, T) float64."""
        return self.each(lambda run: run.gamma.gamma)

    def moments(self, delta: float = 0.05) -> theory.Moments:
        """Moments of gamma, with intervals over the runs; see `pskit.analysis.gamma.run_moments`."""
        return run_moments(self.runs, delta)

    def levels(self) -> dict[str, Floats]:
        """`ConvexRun.levels` of every run: (N,) float64 each."""
        each = [run.levels() for run in self.runs]
        return {name: np.array([levels[name] for levels in each]) for name in each[0]}

    def variance(self) -> dict[str, Floats]:
        """Arguments of `theory.thm6_terms` for t = 1 .. T-1: (T-1, N, d) arrays, and the steps (T-1,)."""
        x, views, g, h = (
            self.each(measure).swapaxes(0, 1)
            for measure in (lambda r: r.x, lambda r: r.views, lambda r: r.g, lambda r: r.fresh)
        )
        delta = views - x[:-1]
        return {
            "x": x[:-2],
            "x_next": x[1:-1],
            "g": g[:-1],
            "h": h[:-1],
            "delta": delta[:-1],
            "delta_next": delta[1:],
            "eta": self.first.eta[:-1],
        }

    def assumptions(self) -> theory.AssumptionReport:
        """Diagnostics of A1 and A2 over the runs; InputError where the terms have no known L."""
        one = self.first
        if one.lipschitz is None:
            raise InputError("the assumptions of Theorem 5 need terms with a known L; these have none")
        return theory.check_assumptions(
            self.gamma,
            one.workers,
            one.slack,
            one.eta,
            one.lipschitz,
            x=self.each(lambda run: run.x),
            ubar=self.each(lambda run: run.gamma.ubar),
            x_star=one.x_star if (self.each(lambda run: run.x_star) == one.x_star).all() else None,
        )


def measure(trace: Trace, comparator: str = "run", slack: int | None = None) -> ConvexRun:
    """All of a convex run that the theory speaks of.

    Parameters
    ----------
    trace : Trace
    comparator : {"run", "population"}
        Regret against the minimiser of the run's own terms, or of their mean over all samples and noise,
        which is the same for all seeds.
    slack : int, optional
        s of the windows, where the policy has none.

    Raises
    ------
    InputError
        See `Trace.steps`; when the terms have no minimiser; and when they are not those of the trace.
    """
    return ConvexRun(trace, comparator, slack)


def ensemble(
    configs: Mapping[Key, Config],
    seeds: Iterable[int],
    *,
    noise_seeds: Iterable[int] | None = None,
    comparator: str = "population",
    slack: int | None = None,
    jobs: int = 1,
) -> dict[Key, Ensemble]:
    """Run every config with every seed, without writing anything, and measure the runs.

    Parameters
    ----------
    configs : mapping of anything to Config
        Convex runs in virtual time, for example one per policy. The loss is evaluated at their ends only.
    seeds : iterable of int
        N values of ``run.seed``: schedules, and samples and noise too unless ``noise_seeds`` are given.
    noise_seeds : iterable of int, optional
        N values of ``app.noise_seed``. Equal ``seeds`` and different ``noise_seeds`` keep the schedule and
        draw fresh noise; the reverse keeps the noise.
    comparator, slack
        See `measure`.
    jobs : int
        Processes; with 1 everything happens in this one. Changes no result. A script that asks for more must
        do so under ``if __name__ == "__main__":``, as the processes import it.

    Returns
    -------
    dict
        An `Ensemble` for each key.

    Raises
    ------
    InputError
        When a run cannot be made or measured.
    ValueError
        On an unequal number of seeds.
    """
    if not isinstance(configs, Mapping):
        raise wrong_argument("ensemble(configs)", 'a dict of configs, such as {"ssp": cfg}', configs)
    for key, cfg in configs.items():
        as_config(f"ensemble(configs), key {key!r}", cfg)
    as_count("ensemble(configs, jobs=...)", jobs)
    numbers = "whole numbers, such as range(5)"
    schedule = as_list("ensemble(configs, seeds)", numbers, seeds)
    noise: list[int | None] = [None] * len(schedule)
    if noise_seeds is not None:
        noise = as_list("ensemble(configs, noise_seeds=...)", numbers, noise_seeds)
    if not schedule or len(noise) != len(schedule):
        raise ValueError(
            f"got {len(schedule)} seeds and {len(noise)} noise_seeds; they must be as many, not 0"
        )
    tasks = [
        (_seeded(cfg, seed, of_noise), comparator, slack)
        for cfg in configs.values()
        for seed, of_noise in zip(schedule, noise, strict=True)
    ]
    runs = _in_parallel(tasks, min(jobs, len(tasks))) if jobs > 1 else [_made(task) for task in tasks]
    size = len(schedule)
    return {key: Ensemble(runs[i * size : (i + 1) * size]) for i, key in enumerate(configs)}


def _in_parallel(tasks: Sequence[tuple[dict[str, Any], str, int | None]], jobs: int) -> list[ConvexRun]:
    with starting() as context:
        pool = ProcessPoolExecutor(jobs, mp_context=context)
        try:
            runs = pool.map(_made, tasks, chunksize=max(1, len(tasks) // (8 * jobs)))
        except RuntimeError as error:  # this very process is being imported by one that was to help
            pool.shutdown(wait=False, cancel_futures=True)
            raise InputError(_GUARD) from error
    try:
        return list(runs)
    except BrokenProcessPool as error:
        raise InputError(_GUARD) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _seeded(cfg: Config, seed: int, noise_seed: int | None) -> dict[str, Any]:
    tree = cfg.to_dict()
    tree["run"] |= {"seed": seed, "eval_every": cfg.app.clocks}
    if noise_seed is not None:
        tree["app"]["noise_seed"] = noise_seed
    return tree


def _made(task: tuple[dict[str, Any], str, int | None]) -> ConvexRun:
    tree, comparator, slack = task
    return ConvexRun(run(Config(**tree), threads=1), comparator, slack)

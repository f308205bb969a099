"""Measured gamma: from the views, gradients and applied updates of a convex run to the theory's arrays.

Which updates a view contains is derived, not believed: a read has a version of each row's shard, and contains
what that shard applied as number 0 .. version - 1, and the reader's own updates [protocol page, "What a trace
records"]. The arithmetic on these arrays is that of the package `theory`.

Arrays are clock-major: read t = c P + p (from 0) is that of worker p in clock c.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

import theory
from pskit.analysis.included import Included
from pskit.errors import InputError, wrong_argument
from pskit.trace.manifest import layout_of
from pskit.trace.schema import Columns, Tables

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Steps:
    """One read and one update per worker and clock, with what each view contained.

    Attributes
    ----------
    workers, slack, clocks, dim : int
        The theory's P, s, C and d; there are T = C P reads.
    lipschitz, smoothness : float or None
        Known constants of every term; None where there is none.
    eta : (T,) float64
        Step sizes.
    g, views : (T, d) float64
        Gradient at the view, and the view.
    f : (T,) float64
        Value of the term at the view.
    x : (T + 1, d) float64
        References, rebuilt from the start and the updates: x[t] is the one BEFORE update t.
    included : (C, P, P) or (C, P, R, P) int64
        included[c, p, q] or [c, p, r, q]: clocks of worker q contained in the view; the second form, over R
        groups of rows, where rows of one view differ in age.
    order : (T,) int64
        Indices of the reads in the order in which their views were taken.
    """

    def __init__(
        self,
        *,
        workers: int,
        slack: int,
        start: Floats,
        eta: Floats,
        g: Floats,
        f: Floats,
        views: Floats,
        included: Ints,
        order: Ints,
        lipschitz: float | None = None,
        smoothness: float | None = None,
    ) -> None:
        self.workers, self.slack = workers, slack
        self.lipschitz, self.smoothness = lipschitz, smoothness
        self.eta, self.g, self.f, self.views = eta, g, f, views
        self.included, self.order = included, order
        self.x = references(start, self.u)

    @property
    def clocks(self) -> int:
        """C, clocks of each worker."""
        return len(self.eta) // self.workers

    @property
    def dim(self) -> int:
        """d, the number of unknowns."""
        return self.g.shape[1]

    def __len__(self) -> int:
        return len(self.eta)

    @property
    def per_row(self) -> bool:
        """Whether rows of one view differ in age: then counts are bounded by (P - 1)(2s + 1)."""
        return self.included.ndim == 4

    @property
    def u(self) -> Floats:
        """Updates, (T, d) float64: exactly the INCs that were made."""
        return -self.eta[:, None] * self.g

    @cached_property
    def gamma(self) -> theory.Gamma:
        """Mean update, displacement and staleness of each read; per step too where L is known."""
        steps = None if self.lipschitz is None else self.eta
        return theory.gamma(self.x, self.views, self.u, self.workers, self.slack, L=self.lipschitz, eta=steps)

    @cached_property
    def counts(self) -> theory.Counts:
        """Missing and extra updates of each view (n, missing, extra), views that disagree on each (k)."""
        return theory.counts(self.included)

    @cached_property
    def read_start(self) -> Ints:
        """Updates that had started before each read and that its view lacks, (T,) int64."""
        return theory.read_start_counts(self.included, self.order)

    def moments(self, delta: float = 0.05) -> theory.Moments:
        """Moments of this run's gamma; intervals from batch means, each at the level 1 - ``delta``."""
        return theory.gamma_moments(self.gamma.gamma, self.workers, self.slack, delta)

    def certificate(self, x_star: Floats) -> theory.Certificate:
        """The parts A, B and S of the certificate C0 against the comparator ``x_star`` (d,)."""
        return theory.regret_certificate(self.eta, self.g, self.x, self.views, x_star)

    def largest_distance(self, x_star: Floats) -> float:
        """F^2 of this run: the largest |x_t - x*|^2/2 over t = 1 .. T."""
        return float(((self.x[:-1] - x_star) ** 2).sum(axis=1).max() / 2)


def references(start: Floats, u: Floats) -> Floats:
    """The start (d,) and what it is after each of the updates ``u`` (T, d): (T + 1, d) float64."""
    return np.concatenate([start[None], start + np.cumsum(u, axis=0)])


def in_one_line(manifest: Mapping[str, Any], tables: Columns, which: str) -> Floats:
    """Values of all parameter tables, one after the other as in a view; ``which`` as in `Trace.table`."""
    return np.concatenate(
        [np.asarray(tables[f"{which}:{t.name}"], np.float64).ravel() for t in layout_of(manifest).tables]
    )


def window_slack(manifest: Mapping[str, Any], slack: int | None, how: str) -> int:
    """The theory's s: ``slack`` if it is given, else that of the policy.

    Raises
    ------
    InputError
        When there is neither; ``how`` says how to give one.
    """
    if slack is not None and not isinstance(slack, int | np.integer):
        raise wrong_argument("slack", "a whole number of clocks, 0 or more", slack)
    bound = manifest["config"]["ps"].get("slack") if slack is None else slack
    if bound is None:
        policy = manifest["config"]["ps"]["policy"]
        raise InputError(f"the policy {policy!r} has no slack, so give one for the windows: {how}")
    return int(bound)


def steps_of(
    manifest: Mapping[str, Any], columns: Tables, tables: Columns, slack: int | None = None
) -> Steps:
    """The steps of a convex run.

    Parameters
    ----------
    manifest, columns, tables
        Of the run.
    slack : int, optional
        s of the windows, for a policy without any.

    Raises
    ------
    InputError
        When the run recorded no views, did not come to its end, or has no slack and none is given.
    """
    name = manifest["config"]["app"]["name"]
    if "views" not in columns or "gradients" not in columns:
        why = (
            "is too large for it: all reads must fit in the trace; use fewer clocks, or run.trace=full"
            if manifest.get("convex")
            else "is not convex; trace.moments() has the moments of some rows, to which no bound applies"
        )
        raise InputError(f"this run recorded no views and gradients: the application {name!r} {why}")
    if manifest["status"] != "finished":
        raise InputError(f"gamma needs a run that came to its end; this one is {manifest['status']}")
    if manifest["trace"]["sampling"]["reads"]["share"] < 1:
        raise InputError("gamma needs every read; this trace keeps a sample: run it with run.trace=full")
    bound = window_slack(manifest, slack, "slack=...")
    workers: int = manifest["workers"]
    views, gradients = columns["views"], columns["gradients"]
    read, made = _by_clock(views, workers), _by_clock(gradients, workers)
    if read is None or made is None or len(read) != len(made):
        raise InputError(
            f"the application {name!r} did not make exactly one read of all rows and one step in every clock "
            "of every worker, as the theory of gamma needs it"
        )
    place = np.empty(len(read), np.int64)
    place[read] = np.arange(len(read))
    known = manifest.get("convex") or {}
    return Steps(
        workers=workers,
        slack=bound,
        start=in_one_line(manifest, tables, "initial"),
        eta=gradients["eta"][made],
        g=gradients["g"][made],
        f=gradients["f"][made],
        views=views["x"][read],
        included=included_clocks(manifest, columns),
        order=place[np.argsort(views["t"], kind="stable")],
        lipschitz=known.get("L"),
        smoothness=known.get("smoothness"),
    )


def _by_clock(lines: Columns, workers: int) -> Ints | None:
    """Lines in clock-major order; None unless there is one for every clock of every worker."""
    index = lines["clock"].astype(np.int64) * workers + lines["worker"]
    order = np.argsort(index, kind="stable")
    whole = len(index) % workers == 0 and np.array_equal(index[order], np.arange(len(index)))
    return order if whole and len(index) else None


def included_clocks(manifest: Mapping[str, Any], columns: Tables) -> Ints:
    """Clocks of every worker in every view of a run with one whole read per clock.

    Returns
    -------
    (C, P, P) or (C, P, R, P) int64
        See `Steps.included`. Rows of one shard that have equal versions in every read make one group.
    """
    reads, workers = columns["reads"], int(manifest["workers"])
    layout = layout_of(manifest)
    rows = layout.n_rows
    index = reads["clock"].astype(np.int64) * workers + reads["worker"]
    row = layout.offsets[reads["table"]] + reads["row"]
    order = np.argsort(index * rows + row, kind="stable")
    shape = len(order) // rows, rows
    version = reads["version"][order].reshape(shape)
    shard = np.arange(rows) % layout.shards
    first = np.flatnonzero(_distinct_columns(version, shard))
    applied = Included(columns["updates"], workers, layout.shards)
    found = np.empty((shape[0], len(first), workers), np.int64)
    for q in range(workers):
        found[:, :, q] = applied.clocks(shard[first], version[:, first], q)
    reader = np.arange(shape[0]) % workers
    own = reads["own_upto"][order].reshape(shape)[:, first] - 1  # the open unit is still empty
    found[np.arange(shape[0]), :, reader] = applied.own_clocks(shard[first], own, reader[:, None])
    found = np.minimum(found, shape[0] // workers)  # what a leaving worker sends last is no clock
    views: Ints = found.reshape(-1, workers, len(first), workers)
    return views[:, :, 0] if (views == views[:, :, :1]).all() else views


def _distinct_columns(version: Ints, shard: Ints) -> npt.NDArray[np.bool_]:
    """Whether each column is the first of its shard with these versions."""
    keep = np.zeros(version.shape[1], np.bool_)
    for j in np.unique(shard):
        mine = np.flatnonzero(shard == j)
        if (version[:, mine] == version[:, mine[:1]]).all():
            keep[mine[0]] = True
        else:
            keep[mine[np.unique(version[:, mine], axis=1, return_index=True)[1]]] = True
    return keep


def run_moments(runs: Sequence[Steps], delta: float = 0.05) -> theory.Moments:
    """Moments of gamma over runs that differ in their seeds: t-interval over the run means.

    Raises
    ------
    InputError
        When the runs differ in workers, slack or length.
    """
    shapes = {(run.workers, run.slack, len(run)) for run in runs}
    if len(shapes) != 1:
        raise InputError(
            f"runs of one ensemble have equal workers, slack and reads; these have {sorted(shapes)}"
        )
    workers, slack, _ = shapes.pop()
    return theory.gamma_moments(np.stack([run.gamma.gamma for run in runs]), workers, slack, delta)

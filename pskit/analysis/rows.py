"""Measured gamma of an application whose tables are too large for whole views: row by row, on a sample.

For every recorded read of a row whose updates were recorded, the row is taken for the whole parameter:
displacement and mean update are those of the row. What the view lacks or has in advance follows from its
version; the values of the updates do the rest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import theory
from pskit.analysis.included import Included
from pskit.errors import InputError
from pskit.trace.manifest import layout_of
from pskit.trace.schema import Tables

NOT_CONVEX = "no bound applies: the objective is not convex"
SINGLE_ROWS = "no bound applies: gamma of single rows, the run was too large for whole views"


@dataclass(frozen=True, slots=True)
class RowMoments(theory.Moments):
    """Moments over the reads of a sample of rows.

    Attributes
    ----------
    rows : int
        Rows of the sample that were read.
    note : str
        Why no bound applies to them.
    """

    rows: int = 0
    note: str = NOT_CONVEX

    def __str__(self) -> str:
        return (
            f"gamma of {self.n_reads:,} reads of {self.rows} rows: mean {self.mu:.3g} (95% from "
            f"{self.ci_mu[0]:.3g} to {self.ci_mu[1]:.3g}), variance {self.var:.3g}; {self.note}"
        )


def row_moments(manifest: Mapping[str, Any], columns: Tables, slack: int | None = None) -> RowMoments:
    """Moments of the gamma of single rows.

    Parameters
    ----------
    manifest, columns
        Of a run that recorded ``row_updates``.
    slack : int, optional
        s of the windows, for a policy without any.

    Raises
    ------
    InputError
        When the policy has no slack and none is given, or no recorded read saw a row of the sample.
    """
    bound = manifest["config"]["ps"].get("slack") if slack is None else slack
    if bound is None:
        policy = manifest["config"]["ps"]["policy"]
        raise InputError(
            f"the policy {policy!r} has no slack, so give one for the windows: moments(slack=...)"
        )
    gamma, clock, rows = row_gamma(manifest, columns, int(bound))
    if not len(gamma):
        raise InputError("no recorded read of this run saw one of the rows whose updates it recorded")
    order = np.argsort(clock, kind="stable")
    found = theory.gamma_moments(gamma[order], manifest["workers"], int(bound))
    note = SINGLE_ROWS if manifest.get("convex") else NOT_CONVEX
    # Lemma 4's weights are by the index of the read in the whole run, which a sample does not have.
    return RowMoments(
        found.mu, found.var, found.mu, found.ci_mu, found.ci_var, 1, len(gamma), found.within, found.between,
        len(np.unique(rows)), note,
    )  # fmt: skip


def row_gamma(
    manifest: Mapping[str, Any], columns: Tables, slack: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Gamma of each recorded read of a sampled row: (n,) float64, with clock and global row, (n,) int64.

    Of several reads of a row by one worker in one clock the last one counts.
    """
    layout, workers = layout_of(manifest), int(manifest["workers"])
    reads, updates = columns["reads"], columns["row_updates"]
    changed = layout.offsets[updates["table"]] + updates["row"]
    sampled = np.unique(changed)
    row = layout.offsets[reads["table"]] + reads["row"]
    lines = np.flatnonzero(np.isin(row, sampled))
    lines = lines[np.argsort(reads["t"][lines], kind="stable")][::-1]
    clocks = int(max(reads["clock"].max(initial=0), updates["clock"].max(initial=0))) + 1
    key = (row[lines] * clocks + reads["clock"][lines]) * workers + reads["worker"][lines]
    lines = lines[np.unique(key, return_index=True)[1]]  # the last read: they are in reverse order
    worker, clock = reads["worker"][lines], reads["clock"][lines].astype(np.int64)
    version, row = reads["version"][lines], row[lines]
    applied = Included(columns["updates"], workers, layout.shards)
    gamma = np.zeros(len(lines))
    every = np.arange(workers)
    for r in np.unique(row):
        mine, of_row = np.flatnonzero(row == r), changed == r
        u = np.zeros((workers, clocks, updates["u"].shape[1]))
        u[updates["worker"][of_row], updates["clock"][of_row]] = updates["u"][of_row]
        sums = np.concatenate([np.zeros_like(u[:, :1]), np.cumsum(u, axis=1)], axis=1)
        p, c = worker[mine, None], clock[mine, None]
        base = c + (every < p)
        held = applied.clocks(r % layout.shards, version[mine, None], every)
        held = np.where(every == p, base, np.minimum(held, clocks))
        b = np.linalg.norm((sums[every, held] - sums[every, base]).sum(axis=1), axis=1)
        size = np.concatenate([[0.0], np.cumsum(np.linalg.norm(u, axis=2).sum(axis=0))])
        window = size[np.minimum(c[:, 0] + slack + 1, clocks)] - size[np.maximum(c[:, 0] - slack, 0)]
        ubar = window / (workers * (2 * slack + 1))
        gamma[mine] = np.divide(b, ubar, out=np.zeros_like(b), where=ubar > 0)
    return gamma, clock, row

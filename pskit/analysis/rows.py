"""Measured gamma of an application whose tables are too large for whole views: row by row, on a sample.

For every recorded read of a row whose updates were recorded, the row is taken for the whole parameter:
displacement and mean update are those of the row. What the view lacks or has in advance follows from its
version; the values of the updates do the rest.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import theory
from pskit.analysis.gamma import window_slack
from pskit.analysis.included import Included
from pskit.errors import InputError
from pskit.trace.manifest import layout_of
from pskit.trace.schema import Tables
from theory.lemma4 import window_means

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
    bound = window_slack(manifest, slack, "moments(slack=...)")
    gamma, clock, rows = row_gamma(manifest, columns, bound)
    if not len(gamma):
        raise InputError("no recorded read of this run saw one of the rows whose updates it recorded")
    order = np.argsort(clock, kind="stable")
    found = theory.gamma_moments(gamma[order], manifest["workers"], bound)
    note = SINGLE_ROWS if manifest.get("convex") else NOT_CONVEX
    # Lemma 4's weights are by the index of the read in the whole run, which a sample does not have.
    known = asdict(found) | {"mu_weighted": found.mu}
    return RowMoments(**known, rows=len(np.unique(rows)), note=note)


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
        ubar = window_means(np.linalg.norm(u, axis=2).T.ravel(), workers, slack)[c[:, 0] * workers]
        gamma[mine] = np.divide(b, ubar, out=np.zeros_like(b), where=ubar > 0)
    return gamma, clock, row

"""Numbers of Theorem 6 that a figure shows and a claim is about, from the columns of ensembles, defined once.

Of two ensembles with the same noise the reads before their schedules part are the same to the last bit: a
score from there is one number, whichever of the two it is read from.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from figures.floors import Interval, jackknife
from figures.kit import Floats
from pskit.analysis.variance import TERMS, checkpoints, late, root_mean_square

SAME = 1e-9  # a relative difference that is rounding


def own_checkpoints(column: Floats, other: Floats) -> Floats:
    """Checkpoints of a curve (..., T), without those at which it is that of another ensemble."""
    at = checkpoints(column.shape[-1])
    here, there = (np.atleast_2d(each)[:, at] for each in (column, other))
    return at[(np.abs(here - there) > SAME * np.abs(there)).any(axis=0)]


def factor(columns: Mapping[str, Any], name: str) -> Interval:
    """A term in the second half of the runs over what the moments of gamma predict; root mean squares.

    The root mean square of a measured term holds its sampling noise, which may be larger than the term. So
    the term is measured along its exact curve e, as sum_t (term e) / sum_t e^2 of each run: the mean over
    runs is free of that noise on average, and their spread gives the interval. The prediction keeps its
    noise, and a term that is predicted to vanish is predicted as no more than that: then the ratio is the
    smallest that these runs allow, and more runs make it larger.
    """
    row = TERMS.index(name)
    exact, predicted = (
        root_mean_square(columns[kind][row, late(columns[kind].shape[1])]) for kind in ("exact", "predicted")
    )
    return jackknife(lambda along: float(along.mean() * exact / predicted), columns["along"][:, row])


def noise(columns: Mapping[str, Any], name: str) -> float:
    """Standard error of a measured term of a single read over the exact one, as `factor` has them."""
    row = TERMS.index(name)
    error, exact = (
        root_mean_square(columns[kind][row, late(columns[kind].shape[1])])
        for kind in ("error_terms", "exact")
    )
    return error / exact


def iid_error(columns: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Reads t (n,) from the second with a variance on, and the relative error of the iid law (n,)."""
    exact = columns["exact_var"]
    t = np.flatnonzero(exact > 0)[1:]
    return t, columns["iid_var"][t] / exact[t] - 1

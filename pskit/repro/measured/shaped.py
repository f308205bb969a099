"""Regret under shaped staleness, of all runs of a batch at once.

Where ages are prescribed ([network.staleness]) they say by themselves what each view contains: the read of
clock c with age a has every other worker's updates of the clocks before c - a, and all of the reader's own.
Steps and samples follow from the config, too. So the views of N runs come from one loop over their reads,
with the law of ages that the emulator uses and the terms of the application: R/T of each run to rounding, a
hundred times faster. This is checked, not believed: the first runs of every batch are made by the emulator as
well, and the column ``difference`` has by how much they differ.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.apps import make_app
from pskit.apps.regression import SampledTerms
from pskit.apps.steps import step_size
from pskit.config import Config
from pskit.convex import measure
from pskit.emulation.staleness import AgeLaw
from pskit.running import run

EMULATED = 1
"""So many runs of a batch are made by the emulator, too."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def measured(configs: Sequence[Config]) -> dict[str, npt.NDArray[Any]]:
    """Regret of runs with shaped staleness.

    Parameters
    ----------
    configs : sequence of Config
        N convex runs that differ in their seeds, with ``network.staleness``.

    Returns
    -------
    dict
        (N,) float64 each: ``regret``, R/T against the minimiser of the mean term. ``age``, ``age_square``:
        means over the reads from clock 1 on. ``difference``: of R/T to that of the emulated run, relative;
        NaN where none was made.
    """
    app = make_app(configs[0].app.name)
    terms = [app.terms(cfg) for cfg in configs]
    ages = np.stack([ages_of(cfg) for cfg in configs])
    excess = values(terms, ages, steps_of(configs[0])) - np.stack([at_best(each) for each in terms])
    regret, late = excess.mean(axis=(1, 2)), ages[:, 1:].astype(np.float64)
    difference = np.full(len(configs), np.nan)
    for place, cfg in enumerate(configs[:EMULATED]):
        emulated = measure(run(cfg, threads=1), "population").mean_regret
        difference[place] = abs(regret[place] / emulated - 1)
    return {
        "regret": regret,
        "age": late.mean(axis=(1, 2)),
        "age_square": (late**2).mean(axis=(1, 2)),
        "difference": difference,
    }


def at_best(terms: SampledTerms) -> Floats:
    """Values of the terms at the minimiser of the mean term, (C, P)."""
    return terms.values(terms.comparator("population")).reshape(terms.clocks, terms.workers)


def ages_of(cfg: Config) -> Ints:
    """Ages of the reads, (clocks, workers): those of the law, and no more than there are clocks before."""
    wanted = cfg.network.staleness
    if wanted is None:
        raise ValueError("the config has no [network.staleness]")
    law, clocks = AgeLaw(wanted), cfg.app.clocks
    drawn = [list(islice(law.ages(cfg.run.seed, p), clocks)) for p in range(cfg.workers)]
    return np.minimum(np.array(drawn, np.int64).T, np.arange(clocks)[:, None])


def steps_of(cfg: Config) -> Floats:
    """eta_t of the reads in clock-major order, (clocks * workers,)."""
    clocks, workers = cfg.app.clocks, cfg.workers
    return np.array([step_size(cfg.app, t // workers, t + 1) for t in range(clocks * workers)], np.float64)


def values(terms: Sequence[SampledTerms], ages: Ints, eta: Floats) -> Floats:
    """Values of the terms at the views of N runs.

    Parameters
    ----------
    terms : sequence of SampledTerms
        Of each run; the loss and the samples are common to all.
    ages : (N, C, P) int64
        Of each read, at most its clock.
    eta : (T,) float64
        Steps, clock-major.

    Returns
    -------
    (N, C, P) float64
    """
    runs, clocks, workers = ages.shape
    one, drawn = terms[0], np.stack([each.drawn for each in terms])
    rows, targets = one.samples.rows, one.samples.targets
    every, reader = np.arange(runs)[:, None, None], np.arange(workers)
    # sums[:, c, q]: sum of the updates of worker q in the clocks before c.
    sums = np.zeros((runs, clocks + 1, workers, one.dim))
    found = np.empty((runs, clocks, workers))
    for c in range(clocks):
        seen = np.repeat((c - ages[:, c])[:, :, None], workers, axis=2)  # (N, readers, workers)
        seen[:, reader, reader] = c
        views = one.start + sums[every, seen, reader].sum(axis=2)
        mine = rows[drawn[:, c]]
        local = one.loss.local(np.einsum("npd,npd->np", mine, views), targets[drawn[:, c]])
        found[:, c] = local.value
        steps = eta[c * workers : (c + 1) * workers, None]
        sums[:, c + 1] = sums[:, c] - steps * (local.slope[:, :, None] * mine)
    return found

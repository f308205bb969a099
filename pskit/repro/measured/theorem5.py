"""What Theorem 5 and its replacements need of a run: regret, certificates, moments of its staleness.

Everything is against the minimiser of the mean term, which is the same for all seeds. Levels are per read.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import theory
from pskit.config import Config
from pskit.convex import ConvexRun, measure
from pskit.running import run

SHORTER = (8, 4, 2, 1)
"""A run of T reads says what shorter ones would: regret is also taken after T/8, T/4 and T/2 reads."""


def measured(configs: Sequence[Config]) -> dict[str, npt.NDArray[Any]]:
    """Make and measure runs.

    Parameters
    ----------
    configs : sequence of Config
        N convex runs in virtual time.

    Returns
    -------
    dict
        See `row`: (N,) float64 each; ``reads`` and ``regret_after`` (N, 4).
    """
    return stacked([row(cfg) for cfg in configs])


def row(cfg: Config) -> dict[str, Any]:
    """One run.

    Returns
    -------
    dict
        ``regret``: R/T. ``C0``, ``C1``, ``C2``: what the certificates allow it to be (where L is known).
        ``F2``, ``L``. ``age``: mean age of its reads, clocks. ``reads``, ``regret_after``: R/T after fewer
        reads. ``gamma``, ``gamma_square``: means over the reads. ``gamma_weighted``: mean weighted with Lemma
        4's w_t. ``gamma_root``: sum of gamma_t/sqrt(t). ``autocorrelation``: of gamma_t and gamma_(t+P).
        ``k``, ``k_square``, ``k_weighted``: of the counts, the last weighted with the steps.
    """
    trace = run(cfg, threads=1)
    one = measure(trace, "population")
    return {"age": trace.staleness().mean()} | regrets(one) | staleness(one)


def regrets(one: ConvexRun) -> dict[str, Any]:
    """Regret and what bounds it."""
    levels = one.levels()
    reads = len(one) // np.array(SHORTER)
    sums = np.cumsum(one.f - one.f_star)
    found: dict[str, Any] = {"regret": levels["R"], "reads": reads, "regret_after": sums[reads - 1] / reads}
    found |= {name: levels[name] for name in ("C0", "C1", "C2") if name in levels}
    return found | {"F2": one.F2, "L": np.nan if one.lipschitz is None else one.lipschitz}


def staleness(one: ConvexRun) -> dict[str, float]:
    """Sums over the reads from which the moments over runs follow."""
    gamma, k = one.gamma.gamma, one.counts.k
    weights = theory.lemma4_weights(one.workers, one.slack, len(one))
    return {
        "gamma": float(gamma.mean()),
        "gamma_square": float((gamma**2).mean()),
        "gamma_weighted": float(weights @ gamma / weights.sum()),
        "gamma_root": float(gamma @ (1 / np.sqrt(np.arange(1, len(one) + 1)))),
        "autocorrelation": float(np.corrcoef(gamma[: -one.workers], gamma[one.workers :])[0, 1]),
        "k": float(k.mean()),
        "k_square": float((k.astype(np.float64) ** 2).mean()),
        "k_weighted": float(one.eta @ k / one.eta.sum()),
    }


def stacked(rows: Sequence[dict[str, Any]]) -> dict[str, npt.NDArray[Any]]:
    """Rows of runs as columns."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}

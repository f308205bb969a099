"""Made-up columns of the batches of Theorem 5, as the claims expect them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pskit.config import Config
from pskit.repro.measured.counterexample import Closed
from pskit.repro.measured.theorem5 import SHORTER

Columns = dict[str, Any]


def chance(seeds: Sequence[int]) -> np.ndarray:
    """A standard normal number for each seed."""
    return np.array([np.random.default_rng(seed).standard_normal() for seed in seeds])


def theorem5_columns(cfg: Config, seeds: Sequence[int]) -> Columns:
    """Regret grows with the age; C0 is R; C1 and C2 are three and ten times that."""
    eager, slack, runs = cfg.ps.policy == "essp", cfg.ps.slack or 0, len(seeds)
    age = 1.2 if eager else slack / 2
    regret = 0.1 * (1 + 0.5 * age) * (1 + 0.05 * chance(seeds))
    reads = cfg.workers * cfg.app.clocks // np.array(SHORTER)
    slope = {"absolute": -0.5, "huber": -1.0}[cfg.app.name] if cfg.app.noise == 0 else -0.7
    after = regret[:, None] * (reads / reads[-1]) ** slope
    gamma = 1.0 + age
    return {
        "age": np.full(runs, age),
        "regret": regret,
        "reads": np.tile(reads, (runs, 1)),
        "regret_after": after,
        "C0": regret,
        "C1": 3 * regret,
        "C2": 10 * regret,
        "F2": np.full(runs, 6.0),
        "L": np.ones(runs),
        "gamma": np.full(runs, gamma),
        "gamma_square": np.full(runs, gamma**2 + 1),
        "gamma_weighted": np.full(runs, gamma),
        "gamma_root": 50 + 5 * chance(seeds),
        "autocorrelation": np.full(runs, 0.4),
        "k": np.full(runs, age),
        "k_square": np.full(runs, age**2 + 1),
        "k_weighted": np.full(runs, age),
    }


SPREAD = {"fixed": 0.0, "uniform": 0.5, "bimodal": 1.0, "heavy-tail": 3.0}


def shaped_columns(cfg: Config, seeds: Sequence[int]) -> Columns:
    """One run in seven is slow, the more so the larger the variance; or every run faster if within runs."""
    law = cfg.network.staleness
    spread = SPREAD[law.law]
    slow = 1 + spread * (np.array(seeds) % 7 == 0) if law.drawn == "run" else 1 - 0.1 * spread
    difference = np.full(len(seeds), np.nan)
    difference[0] = 1e-16
    return {
        "regret": 0.2 * slow * (1 + 0.01 * chance(seeds)),
        "age": np.full(len(seeds), 3.0),
        "age_square": np.full(len(seeds), 9.0 + spread),
        "difference": difference,
    }


def counterexample_columns(cfg: Config, seeds: Sequence[int]) -> Columns:
    """Every other run is slow; the printed bound falls from 1."""
    slow = (np.arange(len(seeds)) % 2).astype(float)
    bound = np.array([1.0, 1.0, 1e-20])
    reads = np.array([1e3, 1e4, 1e5])
    closed = Closed(
        reads, reads * 0 + 4, reads * 0 + 12, 9 / reads, 90 / reads, 100 / reads, 9 / reads, bound, bound
    )
    return {
        "regret": np.where(slow, closed.regret_slow[0], closed.regret_fast[0]),
        "slow": slow,
        "difference": np.full(len(seeds), 1e-15),
    } | {f"closed_{name}": values for name, values in closed._asdict().items()}

"""Columns of batches under VAP and ESSP as they should be, made up."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pskit.config import Config
from pskit.runtime.gate import TRAFFIC

Columns = dict[str, Any]


def bound_columns(cfg: Config, seeds: Sequence[int]) -> Columns:
    """Views at half of what is allowed, and a regret of half the bound."""
    runs, reads = len(seeds), cfg.workers * cfg.app.clocks
    t, each = np.arange(1, reads + 1), np.ones((runs, 1))
    bound = (1 + cfg.ps.v0) / np.sqrt(t) * each
    return {
        "violations": np.zeros(runs, np.int64),
        "gradient": np.full(runs, 0.99),
        "step_error": np.full(runs, 1e-16),
        "over": np.full(runs, 0.5),
        "over_printed": np.full(runs, 0.9),
        "in_flight": np.full(runs, 1 + cfg.ps.v0),
        "distance": 0.5 * each * (1 + 0 * t),
        "regret": bound / 2,
        "bound": bound,
        "printed": 0.6 * bound,
    }


def floor_columns(cfg: Config, seeds: Sequence[int]) -> Columns:
    """Floors that rise with v0, and with s only where messages take a clock; chance is common to all."""
    chance = 0.2 * (1 + 0.1 * np.sin(np.array(seeds)))
    little = 1 + 0.002 * np.cos(np.array(seeds))
    far = cfg.network.latency.mean == 10**9
    if cfg.ps.policy == "vap":
        place = np.log2(cfg.ps.v0 / 0.25) / 4
        waiting, size = 0.875 * (1 - place), 1 + (0.9 if far else 0.3) * place
        sync = dict.fromkeys(TRAFFIC, 1.0) | {"seen": 8.0}
    else:
        place, waiting, sync = np.log2(cfg.ps.slack) / 4, 0.01, dict.fromkeys(TRAFFIC, 0.0)
        size = (1.35 + place if far else 1.35 + 0.08 * place) if cfg.app.step < 0.1 else np.inf
    total = sum(sync.values())
    found = {
        "waiting": waiting,
        "in_flight": 8 * (1 - waiting),
        "messages": 10.0,
        "bytes": 700.0,
        "sync_messages": total,
        "sync_bytes": 48 * total,
        "gradient": 4.5 if cfg.ps.policy == "vap" else np.nan,
    } | {f"sync_{kind}": number for kind, number in sync.items()}
    columns = {name: np.full(len(seeds), float(value)) for name, value in found.items()}
    return columns | {"floor": size * chance * little, "serial": chance}

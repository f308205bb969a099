"""Batches of runs as the theory would have them, made up for the configs of the real experiments."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pskit.analysis.variance import TERMS
from pskit.config import Config
from pskit.repro.batches import Batch, seeded
from pskit.repro.catalogue import Catalogue, Profile
from pskit.repro.ensemble import Ensemble
from pskit.repro.measured.theorem6 import FLOOR_STEPS, INTERPOLATING_STEPS
from tests.paper.theorem5_columns import counterexample_columns, shaped_columns, theorem5_columns
from tests.paper.vap_columns import bound_columns, floor_columns

Columns = dict[str, Any]


def batch_of(cfg: Config, seeds: Sequence[int], varies: str, columns: Columns) -> Batch:
    """A finished batch with these columns."""
    config = seeded(cfg, varies, seeds[0]).model_dump(mode="json")
    manifest = {
        "config": config,
        "varies": varies,
        "seeds": list(seeds),
        "data": "made up; of no account",
        "workers": cfg.workers,
    }
    return Batch(manifest, {"seed": np.array(seeds, np.int64)} | columns)


def variance_columns(cfg: Config, seeds: Sequence[int]) -> Columns:
    """Terms that add up; gamma's moments give the size of the displacement and nothing else."""
    reads, dim, runs = cfg.workers * cfg.app.clocks, 5, len(seeds)
    eta = cfg.app.step / np.sqrt(np.arange(1, reads + 1))
    sizes = np.array([-1.0, 0.7, 0.3, -0.01, 0.01, 0.5, -0.2])[:, None]
    terms = sizes * eta[:-1] ** 2
    var = 5.0 + np.concatenate([[0.0], np.cumsum(terms[:5].sum(axis=0))])
    wrong = terms * np.array([1, 1, 0.001, 0.1, 1, 0.001, 0.3])[:, None]
    columns = {
        "final_error": np.full(runs, 1e-15),
        "view_error": np.full(runs, 1e-15),
        "eta": eta,
        "var": var,
        "var_view": var,
        "var_delta": eta**2,
        "closure": np.full(reads - 1, 1e-15),
        "closure_view": np.full(reads - 1, 1e-15),
        "terms": terms,
    }
    if cfg.app.name != "quadratic":
        return columns
    columns |= {"predicted": wrong, "predicted_var_delta": 1.01 * eta**2}
    columns |= {"pooled": wrong, "pooled_var_delta": 1.3 * eta**2}
    if cfg.run.seed == 11:
        # At the first checkpoint, t = 7, nothing differs yet between the policies.
        scale = np.where(np.arange(reads + 1) < 8, 1.0, 0.9 if cfg.ps.policy == "essp" else 1.0)
        exact, curves = scale * np.append(var, var[-1]), scale[: reads - 1] * terms
        columns |= {
            "exact": curves,
            "along": 1 + 0.1 * np.where(np.arange(len(seeds)) % 2, 1.0, -1.0)[:, None] * np.ones(len(TERMS)),
            "error_terms": 0.5 * np.abs(curves),
            "exact_var": exact,
            "z_terms": np.full((len(TERMS), reads - 1), 1.0),
            "z_mean": np.full((reads + 1, dim), -1.0),
            "z_var": np.full(reads + 1, 1.0),
            "error_var": 0.05 * exact,
            "iid_var": 0.95 * exact,
            "delay_law": np.array([0.5, 0.5]),
        }
    return columns


def scaling_columns(cfg: Config, seeds: Sequence[int]) -> Columns:
    """The powers of the step as they should be, times a little for each seed."""

    def table(steps: Sequence[float], powers: Sequence[float], sizes: Sequence[float]) -> Any:
        step = np.array(steps)[:, None]
        each = 1 + 0.01 * np.arange(len(seeds))[:, None, None]
        return each * np.array(sizes) * step ** np.array(powers)

    early = table(INTERPOLATING_STEPS, (1, 2, 2, 3, 4, 2, 2, 0), (-1, 1, -8, -3, 5, 1, 1, 40.0))
    floor = table(FLOOR_STEPS, (1, 2, 3, 4, 4, 2, 2, 1), (-1, 5, 22, -9, 9, 1, 1, 9.0))
    return {
        "interpolating_steps": np.array(INTERPOLATING_STEPS),
        "interpolating": early,
        "floor_steps": np.array(FLOOR_STEPS),
        "floor": floor,
        "iid_floor": 0.9 * floor[..., -1],
    }


MADE: dict[str, Callable[[Config, Sequence[int]], Columns]] = {
    "theorem5": theorem5_columns,
    "shaped": shaped_columns,
    "counterexample": counterexample_columns,
    "variance": variance_columns,
    "scaling": scaling_columns,
    "vap-bound": bound_columns,
    "vap-floor": floor_columns,
}
"""Made-up columns of a batch, by measure."""


def batches(
    catalogue: Catalogue,
    *experiments: str,
    profile: Profile = "default",
    change: Callable[[Columns], Columns] = lambda columns: columns,
) -> Ensemble:
    """All batches of some experiments, each changed by ``change``."""
    found = []
    for name in experiments:
        experiment = catalogue.experiments[name]
        for cfg, seeds, _ in experiment.batches(profile):
            columns = change(MADE[experiment.measure](cfg, seeds))
            found.append(batch_of(cfg, seeds, experiment.varies, columns))
    return Ensemble(found)

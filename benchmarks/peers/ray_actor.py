"""Ray: a table in an actor, rows through its object store."""

import os
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.peers import COLS, ROWS, CallingPeer


class _Rows:
    """The actor."""

    def __init__(self) -> None:
        self._table = np.zeros((ROWS, COLS), np.float32)

    def get(self, ids: np.ndarray) -> np.ndarray:
        """Rows ``ids``."""
        return self._table[ids]

    def inc(self, ids: np.ndarray, delta: np.ndarray) -> None:
        """Add to them."""
        self._table[ids] += delta


class Ray(CallingPeer):
    """An actor of a Ray of its own on this machine."""

    name = "Ray"
    how = "pip install ray (some 70 MB)"

    @classmethod
    def present(cls) -> bool:
        return find_spec("ray") is not None

    def __init__(self) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # it would report to its makers
        import ray

        self._ray: Any = ray
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
        self._actor = ray.remote(_Rows).remote()

    def get(self, ids: np.ndarray) -> np.ndarray:
        rows: np.ndarray = self._ray.get(self._actor.get.remote(ids))
        return rows.copy()  # what the object store hands out is read-only

    def inc(self, ids: np.ndarray, delta: np.ndarray) -> None:
        self._ray.get(self._actor.inc.remote(ids, delta))

    def close(self) -> None:
        self._ray.shutdown()

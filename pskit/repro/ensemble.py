"""The runs of an experiment, chosen by what their configs say."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.analysis.trace import Trace
from pskit.repro.batches import Batch

# Short names for the keys that experiments sweep.
KEYS = {
    "app": "app.name",
    "fraction": "app.clock_fraction",
    "step": "app.step",
    "policy": "ps.policy",
    "slack": "ps.slack",
    "preset": "preset",
    "runtime": "run.runtime",
    "seed": "run.seed",
    "workers": "cluster.clients",
    "noise": "app.noise",
    "law": "network.staleness.law",
    "drawn": "network.staleness.drawn",
    "far": "network.staleness.far",
    "v0": "ps.v0",
    "latency": "network.latency.mean",
    "reversion": "compute.reversion",
}


class Absent(Exception):
    """No run fits; the message says which one was wanted."""


class Ensemble:
    """Traces in the order of their seeds; or batches of runs, which have columns in the place of a trace.

    Parameters
    ----------
    traces : sequence of Trace or of Batch
    """

    def __init__(self, traces: Sequence[Any]) -> None:
        self.traces = sorted(traces, key=lambda trace: trace.config["run"]["seed"])

    def __len__(self) -> int:
        return len(self.traces)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.traces)

    def select(self, **where: Any) -> "Ensemble":
        """Only the runs with these values; keys as in `KEYS`.

        Raises
        ------
        Absent
            When there are none.
        """
        chosen = [trace for trace in self.traces if fits(trace, where)]
        if not chosen:
            raise Absent("no run with " + ", ".join(f"{key} {value}" for key, value in where.items()))
        return Ensemble(chosen)

    def any_of(self, choices: Iterable[Mapping[str, Any]]) -> "Ensemble":
        """The runs that at least one of the choices would `select`.

        Raises
        ------
        Absent
            When there are none.
        """
        choices = list(choices)
        chosen = [trace for trace in self.traces if any(fits(trace, where) for where in choices)]
        if not chosen:
            raise Absent("none of the runs that it shows")
        return Ensemble(chosen)

    def has(self, **where: Any) -> bool:
        """Whether `select` would find a run."""
        return any(fits(trace, where) for trace in self.traces)

    def values(self, key: str) -> list[Any]:
        """Distinct values of a key of `KEYS`, ascending."""
        return sorted({setting(trace, key) for trace in self.traces})

    def each(self, measure: Callable[[Trace], float]) -> list[float]:
        """A number of every run, in the order of their seeds."""
        return [measure(trace) for trace in self.traces]

    def column(self, name: str) -> npt.NDArray[Any]:
        """Values of all runs of batches, in the order of their seeds: a row per run."""
        return np.concatenate([batch.columns[name] for batch in self.traces])

    @property
    def seeds(self) -> list[int]:
        """Distinct seeds of all runs, ascending."""
        found = (t.seeds if isinstance(t, Batch) else [setting(t, "seed")] for t in self.traces)
        return sorted({seed for some in found for seed in some})


def fits(trace: Trace | Batch, where: Mapping[str, Any]) -> bool:
    """Whether a run has all these values."""
    return all(setting(trace, key) == value for key, value in where.items())


def setting(trace: Trace | Batch, key: str) -> Any:
    """Value of a key of `KEYS` in a run's config; None where the config has no such key."""
    value: Any = trace.config
    for part in KEYS[key].split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value

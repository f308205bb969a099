"""What the scripts make of a system, for the invariants: all update units, known beforehand.

A `pskit.core.ledger.Ledger` of a run records what was done. An explored state has many histories, so
here the ledger says what any of them must have come to: which units a copy holds follows from the counts
that travel with it (see `pskit.explore.machines`), and their sums follow from the scripts.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from pskit.core.ledger import ByIncrement, Ledger, broken
from pskit.core.messages import Values
from pskit.explore.script import Call, units_of
from pskit.explore.system import System

Counts = tuple[int, ...]
"""Applied update units by worker."""


class ScriptLedger(Ledger):
    """Answers for one machine call at a time; `look_at` says which.

    Attributes
    ----------
    total_units : tuple of int
        Units of each worker's whole script.
    """

    def __init__(self, system: System) -> None:
        layout = system.layout
        initial = {
            t.name: np.zeros((t.rows, t.cols), d) for t, d in zip(layout.tables, layout.dtypes, strict=True)
        }
        super().__init__(layout, initial, range(system.workers))
        self._units = [
            [
                units_of(
                    tuple(call for move in moves[:n] for call in (*move.incs, move.call)),
                    w,
                    system.workers,
                    system.gated,
                )
                for n in range(len(moves) + 1)
            ]
            for w, moves in enumerate(system.moves)
        ]  # by worker and number of moves made
        self.units = {w: units[-1] for w, units in enumerate(self._units)}
        self.total_units: Counts = tuple(len(units) - 1 for units in self.units.values())
        self._zeros = np.zeros(system.columns, np.int64)
        self._values: dict[tuple[int, Counts], Values] = {}
        self._counters: dict[Counts, Counter[int]] = {}
        self._known: Mapping[tuple[int, int], Counts] = {}

    def look_at(self, done: Mapping[int, int], known: Mapping[tuple[int, int], Counts]) -> None:
        """Take the point of view of a machine.

        Parameters
        ----------
        done : mapping of int to int
            Moves made by some workers. The others may have made any number: their units all count.
        known : mapping of (shard, version) to Counts
            What was applied when the copies were made that the machine has, or last confirmed.
        """
        self.units = {w: units[done.get(w, -1)] for w, units in enumerate(self._units)}
        self._known = known

    def included(self, shard: int, version: int) -> Counter[int]:
        counts = self._known.get((shard, version))
        if counts is None:
            broken(
                "versions", f"there is no version {version} of shard {shard} here, only {dict(self._known)}"
            )
        counter = self._counters.get(counts)
        if counter is None:
            counter = self._counters[counts] = Counter(dict(enumerate(counts)))
        return counter

    def value(self, row: int, version: int) -> Values:
        shard = row % self.layout.shards
        self.included(shard, version)
        return self.value_of(row, self._known[shard, version])

    def value_of(self, row: int, counts: Counts) -> Values:
        """Value (columns,) of a global row that holds the first ``counts[w]`` units of each worker."""
        value = self._values.get((row, counts))
        if value is None:
            value = self._zeros
            for worker, count in enumerate(counts):
                for unit in self._units[worker][-1][:count]:
                    if row in unit:
                        value = value + unit[row]
            self._values[row, counts] = value
        return value

    def total(self, worker: int) -> int | None:
        """Known before the worker has left: what its script makes."""
        return self.total_units[worker]


class GatedScriptLedger(ScriptLedger, ByIncrement):
    """The same where every INC is a unit: copies hold what the scripts make, units travel as in a run."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.tags = {w: _tags(system.calls[w]) for w in range(system.workers)}


def _tags(calls: tuple[Call, ...]) -> list[int]:
    """Clock of each unit."""
    tags, clock = [], 0
    for call in calls:
        if call.name != "get":
            tags.append(clock)
            clock += call.name in ("clock", "leave")
    return tags


def with_count(counts: Counts, worker: int, count: int) -> Counts:
    """The same counts, but for one worker."""
    return (*counts[:worker], count, *counts[worker + 1 :])


def ledger_of(system: System) -> ScriptLedger:
    """The ledger for the policy of ``system``."""
    return GatedScriptLedger(system) if system.gated else ScriptLedger(system)

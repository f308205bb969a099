"""Which planted bug is found by which check: ``python -m tests.explore.planted`` prints the table."""

from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

import pskit
from pskit.explore import Verdict, explore
from tests.explore import schedules
from tests.explore.mutants import MUTANTS
from tests.explore.mutation import Mutant
from tests.property.test_walks import random_cluster, walk

WALKS = 60
SCHEDULES = 6


class Row(NamedTuple):
    """What found a bug.

    Attributes
    ----------
    mutant : Mutant
    verdict : Verdict
        The explorer's, with the number of states and the steps of a shortest way.
    walk : int or None
        The first random walk (`tests.property.test_walks`) that found it.
    trace : str or None
        What the auditor says of a run in virtual time, or how the run ended itself.
    """

    mutant: Mutant
    verdict: Verdict
    walk: int | None
    trace: str | None

    @property
    def invariant(self) -> str:
        """Name of the broken invariant."""
        parts = (self.verdict.violation or "-").split(": ")
        return parts[1] if parts[0] == "InvariantBroken" else parts[0]


def policy_of(mutant: Mutant) -> str:
    """Name of the mutant's policy in `tests.property.machines.POLICIES`."""
    if mutant.system.policy != "essp":
        return mutant.system.policy
    return "essp-deltas" if mutant.system.deltas else "essp-rows"


def walk_that_finds(mutant: Mutant) -> int | None:
    """Number of the first walk that an invariant stops."""
    name = policy_of(mutant)
    for seed in range(WALKS):
        random = Random(f"{name} {seed}")
        with mutant.planted():
            try:
                walk(random_cluster(random, name), random)
            except Exception:
                return seed + 1
    return None


def what_a_trace_shows(mutant: Mutant) -> str | None:
    """What is wrong with the trace of a run with the bug, or what kept the run from its end."""
    for seed in range(SCHEDULES):
        cfg = schedules.draw(seed, [policy_of(mutant)], even=bool(seed % 2))
        with mutant.planted():
            try:
                report = pskit.audit(pskit.run(cfg, threads=1))
            except Exception as error:
                return type(error).__name__
        if not report.ok:
            return report.violations[0].check
    return None


def table(mutants: Iterable[Mutant] = tuple(MUTANTS)) -> Iterator[Row]:
    """Plant every bug, and look for it in three ways."""
    for mutant in mutants:
        with mutant.planted():
            verdict = explore(mutant.system)
        walked = walk_that_finds(mutant) if mutant.ends else None
        yield Row(mutant, verdict, walked, what_a_trace_shows(mutant) if mutant.ends else None)


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """The table as Markdown."""
    yield "| planted bug | rule | invariant | explorer: states, steps | random walk | trace |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        found = f"{row.verdict.states:,}, {len(row.verdict.path)}" if row.verdict.violation else "-"
        cells = (row.mutant.name, row.mutant.rule, row.invariant, found, row.walk or "-", row.trace or "-")
        yield "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    for line in lines(table()):
        print(line, flush=True)

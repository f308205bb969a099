"""Breadth-first search through all states of a system."""

import gc
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from pskit.explore.gated import space_of
from pskit.explore.liveness import Edges
from pskit.explore.orbits import Orbits
from pskit.explore.outcomes import Failure
from pskit.explore.space import Event, Space, State
from pskit.explore.system import System

MOST_STATES = 5_000_000
"""Where a search gives up by default: at about two gigabytes."""

DEAD = "no way leads from here to the end of all scripts"
"""Violation of a state that is not stuck itself."""


class Progress(NamedTuple):
    """How far a search is: states met and left behind, transitions, and their distance from the start."""

    states: int
    expanded: int
    transitions: int
    depth: int


class Verdict(NamedTuple):
    """What a search found.

    Attributes
    ----------
    system : System
    states : int
        Different states met; those that differ only in names count once if ``renamings`` > 1.
    transitions : int
    depth : int
        Events between the start and the farthest state expanded.
    complete : bool
        Nothing was left out.
    seconds : float
    calls : int
        Calls of real machines.
    renamings : int
    violation : str or None
        The invariant that does not hold.
    path : list of str
        A shortest way there: names of events.
    """

    system: System
    states: int
    transitions: int
    depth: int
    complete: bool
    seconds: float
    calls: int
    renamings: int
    violation: str | None
    path: list[str]


def explore(
    system: System,
    max_states: int = MOST_STATES,
    symmetry: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Verdict:
    """Go through all states of ``system`` until an invariant breaks.

    Parameters
    ----------
    system : System
    max_states : int
        Give up beyond so many.
    symmetry : bool
        States that differ only in names are one.
    progress : callable, optional
        Called now and then.
    """
    begin = time.perf_counter()
    with _no_collection():
        search = _Search(space_of(system), symmetry and not system.gated)
        search.run(max_states, progress)
    return Verdict(
        system,
        len(search.seen),
        search.transitions,
        search.depth,
        search.complete,
        time.perf_counter() - begin,
        search.space.machines.tables.calls,
        len(search.orbits) if search.orbits else 1,
        search.violation,
        search.path,
    )


def is_dead(space: Space, state: State) -> bool:
    """Whether no way leads from ``state`` to the end; all states that can follow it are searched."""
    space.start = state
    search = _Search(space, symmetry=False)
    search.run(MOST_STATES, None)
    return search.violation == DEAD


class _Search:
    """State of a search. States are numbered in the order in which they are found.

    Of each only the number of its parent and the position of the event that led to it are kept.
    """

    def __init__(self, space: Space, symmetry: bool) -> None:
        self.space = space
        orbits = Orbits(space) if symmetry else None
        self.orbits = orbits if orbits and len(orbits) > 1 else None
        self.seen: dict[State, int] = {}
        self.parent, self.event = array("I"), array("H")
        self.edges = Edges()
        self.transitions = self.depth = 0
        self.complete = False
        self.violation: str | None = None
        self.path: list[str] = []

    def run(self, max_states: int, progress: Callable[[Progress], None] | None) -> None:
        successors, wrong, seen, edges = self.space.successors, self.space.wrong, self.seen, self.edges
        layer = [self.space.start]
        self._find(self.space.start, 0, 0)
        index = 0
        while layer:
            following: list[State] = []
            met: dict[State, int] = {}  # in this layer: most ways to a state are equally long
            for state in layer:
                if (index & 0x3FFF) == 0 and progress is not None:
                    progress(Progress(len(seen), index, self.transitions, self.depth))
                if violation := wrong(state):
                    self._stop(violation, index, None)
                    return
                for position, new in enumerate(successors(state)):
                    self.transitions += 1
                    if isinstance(new, Failure):
                        self._stop(new.what, index, position)
                        return
                    number = met.get(new)
                    if number is None:
                        before = len(seen)
                        number = met[new] = self._find(new, index, position)
                        if number == before:
                            following.append(new)
                    edges.add(number)
                edges.close(self.space.at_rest(state))
                index += 1
            if len(seen) > max_states and following:
                return
            layer = following
            self.depth += 1
        self.depth -= 1
        self.complete = True
        dead = edges.first_dead()
        if dead is not None:
            self._stop(DEAD, dead, None)

    def _find(self, state: State, parent: int, position: int) -> int:
        """Number of ``state``, which is a new one if it was not met before."""
        key = self.orbits.representative(state) if self.orbits else state
        number = self.seen.setdefault(key, len(self.seen))
        if number == len(self.parent):
            self.parent.append(parent)
            self.event.append(position)
        return number

    def _stop(self, violation: str, index: int, position: int | None) -> None:
        """Rebuild the way to state ``index`` from the positions of its events."""
        self.violation = violation
        positions = [] if position is None else [position]
        while index > 0:
            positions.append(self.event[index])
            index = self.parent[index]
        state: State | Failure = self.space.start
        for position in reversed(positions):
            assert not isinstance(state, Failure)
            event: Event = list(self.space.events(state))[position]
            self.path.append(event.name)
            state = event.outcome


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the garbage collector: millions of tuples, no cycle among them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

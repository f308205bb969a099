"""The vector clock of a shard: one count per member, and their minimum.

A member's count is the number of its clocks received in full. The minimum over the members is the
shard's clock. It never goes back: a member that would enter below it is refused, a member that leaves
can only raise it, and with no member left it stays.

The counts stand in arrays, those of several shards side by side if the runtime likes, so that a compiled loop
can count the many oplogs that carry nothing but a tick. It does so with the same functions as the machines.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.core.kernels import compiled

Counts = npt.NDArray[np.int64]

MINIMUM, AT_MINIMUM, MEMBERS, APPLY_INDEX = range(4)
"""Words of a shard's head: its clock, how many members stand there, how many there are, oplogs applied."""
NO_MEMBER = -1


class Counters:
    """Numbers of one or several shards: who finished which clock, and what is applied.

    Parameters
    ----------
    shards, workers : int

    Attributes
    ----------
    received : (shards, workers) int64
        Clocks received in full; `NO_MEMBER` for who is not a member.
    applied : (shards, workers) int64
        Update units applied.
    heads : (shards, 4) int64
        See `MINIMUM`.
    """

    def __init__(self, shards: int, workers: int) -> None:
        self.received: Counts = np.full((shards, workers), NO_MEMBER, np.int64)
        self.applied: Counts = np.zeros((shards, workers), np.int64)
        self.heads: Counts = np.zeros((shards, 4), np.int64)


class VectorClock:
    """Counts of finished clocks per worker, with their minimum.

    Parameters
    ----------
    members : iterable of int
        Workers present from clock 0 on.
    counters : Counters, optional
        Where the counts stand; by default arrays of its own.
    line : int
        Which of ``counters``.

    Attributes
    ----------
    received : (workers,) int64
    head : (4,) int64
        See `MINIMUM`.
    """

    __slots__ = ("head", "received")

    def __init__(self, members: Iterable[int], counters: Counters | None = None, line: int = 0) -> None:
        members = list(members)
        counters = counters or Counters(1, max(members, default=-1) + 1)
        self.received: Counts = counters.received[line]
        self.head: Counts = counters.heads[line]
        self.received[members] = 0
        self.head[[AT_MINIMUM, MEMBERS]] = len(members)

    def __len__(self) -> int:
        return self.head.item(MEMBERS)

    def __contains__(self, worker: int) -> bool:
        return self.count(worker) != NO_MEMBER

    @property
    def minimum(self) -> int:
        """The lowest count of a member."""
        return self.head.item(MINIMUM)

    def count(self, worker: int) -> int:
        """Finished clocks of ``worker``; `NO_MEMBER` of a stranger."""
        return self.received.item(worker) if 0 <= worker < len(self.received) else NO_MEMBER

    def counts(self) -> dict[int, int]:
        """Finished clocks by member."""
        return {w: count for w, count in enumerate(self.received.tolist()) if count != NO_MEMBER}

    def tick(self, worker: int) -> bool:
        """Count one more finished clock of ``worker``; True when the minimum rose.

        Raises
        ------
        KeyError
            When it is no member.
        """
        self._check(worker)
        return bool(tick(self.received, self.head, worker))

    def remove(self, worker: int) -> bool:
        """Take ``worker`` out; True when the minimum of the others rose. Raises like `tick`."""
        self._check(worker)
        return bool(remove(self.received, self.head, worker))

    def skip_to(self, clock: int) -> None:
        """Let the clock of a shard without members be ``clock``, unless it is beyond that."""
        self.head[MINIMUM] = max(self.minimum, clock)

    def set(self, counts: dict[int, int], minimum: int) -> None:
        """Stand as `counts` and `minimum` say."""
        self.received[:] = NO_MEMBER
        self.received[list(counts)] = list(counts.values())
        self.head[:APPLY_INDEX] = minimum, sum(n == minimum for n in counts.values()), len(counts)

    def _check(self, worker: int) -> None:
        if worker not in self:
            raise KeyError(worker)


@compiled
def tick(received: Any, head: Any, worker: int) -> bool:
    """Count one more finished clock of ``worker``; whether the minimum of ``received`` rose."""
    count = received[worker]
    received[worker] = count + 1
    if count > head[MINIMUM]:
        return False
    head[AT_MINIMUM] -= 1
    return bool(_raise(received, head))


@compiled
def remove(received: Any, head: Any, worker: int) -> bool:
    """Take ``worker`` out; whether the minimum of the others rose."""
    count = received[worker]
    received[worker] = NO_MEMBER
    head[MEMBERS] -= 1
    if count > head[MINIMUM]:
        return False
    head[AT_MINIMUM] -= 1
    return bool(_raise(received, head))


@compiled
def _raise(received: Any, head: Any) -> bool:
    """Bring the minimum up to the lowest count, once nobody stands at it; whether there was anybody."""
    if head[AT_MINIMUM] > 0 or head[MEMBERS] == 0:
        return False
    lowest, at = np.int64(0), 0
    for count in received:  # once in as many ticks as there are members
        if count == NO_MEMBER:
            continue
        if at == 0 or count < lowest:
            lowest, at = count, 1
        elif count == lowest:
            at += 1
    head[MINIMUM], head[AT_MINIMUM] = lowest, at
    return True


@compiled
def count_unit(applied: Any, head: Any, worker: int, seq: int) -> Any:
    """Count unit ``seq`` of ``worker`` as applied: the number that it gets at the shard."""
    index = head[APPLY_INDEX]
    head[APPLY_INDEX] = index + 1
    applied[worker] = seq + 1
    return index


@compiled
def quiet(received: Any, head: Any, worker: int, clock: int) -> bool:
    """Whether the tick that ends ``clock`` of ``worker`` is in order, and raises nothing."""
    if received[worker] != clock:
        return False
    return bool(clock > head[MINIMUM] or head[AT_MINIMUM] > 1)

"""A server shard's state as a value: taken from the real machine, and put back into it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pskit.core.clocks import APPLY_INDEX
from pskit.core.rows import RowPools
from pskit.core.server import ServerShard
from pskit.explore.ledger import Counts
from pskit.explore.system import System
from pskit.explore.wire import matrix

KNOWN = (
    "shard layout policy pools clients clock applied rows current shared dirty subscribed "
    "subscriptions owed put_offs waiting held pushed replied _effects"
)
"""Attributes of a `ServerShard` that are frozen here, or never change. A test compares."""


class Seen(NamedTuple):
    """What the explorer itself has seen of a shard.

    ``counts``: units applied by worker; ``changed``: rows changed since the last rise, if the policy pushes.
    """

    counts: Counts
    changed: tuple[int, ...]


class FrozenShard(NamedTuple):
    """State of a shard.

    Row versions are told apart by value, not by slot. ``waiting`` and ``held`` name messages by number.
    """

    shard: int
    seen: Seen
    received: tuple[tuple[int, int], ...]
    minimum: int
    applied: Counts
    apply_index: int
    values: bytes
    shared: bytes
    dirty: bytes
    subscribed: bytes
    subscriptions: Counts
    owed: tuple[tuple[int, bytes], ...]
    waiting: tuple[tuple[int, int], ...]
    held: tuple[tuple[int, int, int], ...]
    pushed: bytes
    pushed_is_current: bytes
    replied: bytes


class ShardBox:
    """One real shard with a row pool of its own, into which states are put.

    Parameters
    ----------
    system : System
    shard : int
    """

    def __init__(self, system: System, shard: int) -> None:
        layout = system.layout
        self.pools = RowPools(layout)
        self.pool = self.pools.pools[0]
        initial = {"n": np.zeros((layout.n_rows, system.columns), np.int64)}
        members = [system.members(c) for c in range(system.clients)]
        self.machine = ServerShard(shard, layout, system.make_policy(), self.pools, members, initial)
        self._free = self.pool.free.copy()

    def freeze(self, seen: Seen, number: Callable[[Any], int]) -> FrozenShard:
        """The machine's state; ``number(message)`` numbers a request or oplog that it keeps."""
        s, values = self.machine, self.pool.values
        return FrozenShard(
            s.shard,
            seen,
            tuple(s.clock.counts().items()),
            s.clock.minimum,
            tuple(s.applied.tolist()),
            s.apply_index,
            values[s.current].tobytes(),
            s.shared.tobytes(),
            s.dirty.tobytes(),
            s.subscribed.tobytes(),
            tuple(s.subscriptions),
            tuple(sorted((client, rows.tobytes()) for client, rows in s.owed.items())),
            # Answers to different clients go different ways: only the order among a client's own counts.
            tuple(sorted(((c, number(request)) for c, request in s.waiting), key=lambda w: w[0])),
            tuple(
                sorted(
                    (k, w, number(oplog)) for k, by_worker in s.held.items() for w, oplog in by_worker.items()
                )
            ),
            values[s.pushed].tobytes(),
            (s.pushed == s.current).tobytes() if len(s.pushed) else b"",
            s.replied.tobytes(),
        )

    def thaw(self, state: FrozenShard, message: Callable[[int], Any]) -> None:
        """Put ``state`` into the machine; ``message(number)`` is a request or oplog that it keeps."""
        s, pool = self.machine, self.pool
        n = len(s.rows)
        pool.free[: len(self._free)] = self._free
        pool.n_free = len(self._free) - 2 * n
        s.clock.set(dict(state.received), state.minimum)
        s.applied[:] = state.applied
        s.clock.head[APPLY_INDEX] = state.apply_index
        s.current[:] = np.arange(n)
        pool.values[:n] = matrix(state.values, pool.values.shape[1])
        for name in ("shared", "dirty", "subscribed", "replied"):
            array = getattr(s, name)
            array.ravel()[:] = np.frombuffer(getattr(state, name), np.bool_)
        s.subscriptions = list(state.subscriptions)
        s.owed = {client: np.frombuffer(rows, np.bool_).copy() for client, rows in state.owed}
        s.waiting = [(c, message(request)) for c, request in state.waiting]
        s.held = {}
        for clock, worker, oplog in state.held:
            s.held.setdefault(clock, {})[worker] = message(oplog)
        if len(s.pushed):
            same = np.frombuffer(state.pushed_is_current, np.bool_)
            s.pushed[:] = np.where(same, s.current, np.arange(n, 2 * n))
            pool.values[n : 2 * n] = matrix(state.pushed, pool.values.shape[1])

    def handed_out(self) -> Any:
        """Slots (m,) that the state says others may refer to."""
        s = self.machine
        return np.concatenate([s.current[s.shared], s.pushed])

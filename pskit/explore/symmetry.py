"""States that differ only in the names of clients and shards count once.

Clients whose workers have equal scripts may change places, and so may all shards where the scripts treat
their rows alike: machines look at names for nothing but addressing. (A cache of limited capacity sweeps
over its rows in order, so there the shards stay.)
"""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np

from pskit.explore.clients import FrozenCache, FrozenClient, FrozenLog, FrozenWaiter, FrozenWorker
from pskit.explore.ledger import Counts
from pskit.explore.shards import FrozenShard, Seen
from pskit.explore.system import System
from pskit.explore.wire import (
    Frozen,
    FrozenOplog,
    FrozenReply,
    FrozenRequest,
    FrozenUnsubscribe,
    Label,
    Rows,
    matrix,
)


class Renaming:
    """New names of clients and shards, and so of workers and rows, by old name.

    Parameters
    ----------
    system : System
    clients, shards : tuple of int
    """

    def __init__(self, system: System, clients: tuple[int, ...], shards: tuple[int, ...]) -> None:
        self.clients, self.shards = clients, shards
        threads, n_shards, n_rows = system.threads, system.shards, system.layout.n_rows
        self.workers = tuple(clients[w // threads] * threads + w % threads for w in range(system.workers))
        self.rows = tuple(shards[r % n_shards] + r // n_shards * n_shards for r in range(n_rows))
        self.columns = np.argsort(self.workers)  # old worker of each new one
        self.old_rows = np.argsort(self.rows)
        self.old_shards: list[int] = np.argsort(shards).tolist()
        self.old_clients: list[int] = np.argsort(clients).tolist()

    @classmethod
    def trivial(cls, system: System) -> "Renaming":
        """The one that leaves all names."""
        return cls(system, tuple(range(system.clients)), tuple(range(system.shards)))

    # -- parts ---------------------------------------------------------------------------------------

    def counts(self, counts: Counts) -> Counts:
        """Numbers by worker."""
        return tuple(counts[w] for w in self.columns)

    def matrix(self, values: bytes) -> Any:
        """Row values (n, workers), rows as they were."""
        return matrix(values, len(self.columns))[:, self.columns]

    def values(self, values: bytes) -> bytes:
        """Row values, rows as they were."""
        return bytes(self.matrix(values).tobytes())

    def row_set(self, rows: Rows) -> Rows:
        """Ascending rows."""
        return tuple(sorted(self.rows[r] for r in rows))

    def label(self, label: Label) -> Label:
        """What a request is known by."""
        return Label(self.workers[label.worker], label.need, self.row_set(label.rows), label.number)

    # -- messages: all rows of one belong to one shard, and stay in order ----------------------------

    def message(self, frozen: Frozen) -> Frozen:
        """A message."""
        if isinstance(frozen, FrozenOplog):
            parts = tuple((self.row_set(rows), self.values(delta)) for rows, delta in frozen.parts)
            return frozen._replace(worker=self.workers[frozen.worker], parts=parts)
        if isinstance(frozen, FrozenRequest):
            return FrozenRequest(self.label(frozen.label))
        if isinstance(frozen, FrozenUnsubscribe):
            return FrozenUnsubscribe(self.row_set(frozen.rows))
        rows, values, counts = (
            self.row_set(frozen.rows),
            self.values(frozen.values),
            self.counts(frozen.counts),
        )
        if isinstance(frozen, FrozenReply):
            return frozen._replace(rows=rows, values=values, counts=counts, label=self.label(frozen.label))
        entries = tuple(self._entries(*e) for e in frozen.entries)
        return frozen._replace(rows=rows, values=values, counts=counts, entries=entries)

    def _entries(self, rows: Rows, start: Rows, cols: Rows, values: bytes) -> tuple[Rows, Rows, Rows, bytes]:
        new = np.array([self.workers[c] for c in cols], np.int64)
        owner = np.repeat(np.arange(len(rows)), np.diff(start))
        order = np.lexsort((new, owner))
        return (
            self.row_set(rows),
            start,
            tuple(new[order].tolist()),
            np.frombuffer(values, np.int64)[order].tobytes(),
        )

    # -- machines ------------------------------------------------------------------------------------

    def shard(self, state: FrozenShard, message: Any) -> FrozenShard:
        """A shard's state; ``message(number)`` renames a message that it keeps."""
        workers, clients = self.workers, self.clients
        n = len(state.shared)
        return state._replace(
            shard=self.shards[state.shard],
            seen=Seen(self.counts(state.seen.counts), self.row_set(state.seen.changed)),
            received=tuple(sorted((workers[w], k) for w, k in state.received)),
            applied=self.counts(state.applied),
            values=self.values(state.values),
            subscribed=_rows(state.subscribed, n, self.old_clients),
            subscriptions=tuple(state.subscriptions[c] for c in self.old_clients),
            owed=tuple(sorted((clients[c], rows) for c, rows in state.owed)),
            waiting=tuple(sorted(((clients[c], message(m)) for c, m in state.waiting), key=lambda w: w[0])),
            held=tuple(sorted((k, workers[w], message(m)) for k, w, m in state.held)),
            pushed=self.values(state.pushed),
            replied=_rows(state.replied, n, self.old_clients),
        )

    def client(self, state: FrozenClient) -> FrozenClient:
        """A client's state."""
        outstanding = sorted(
            (self.label(label), need, self.row_set(rows)) for label, need, rows in state.outstanding
        )
        known = sorted(((self.shards[j], version), self.counts(c)) for (j, version), c in state.known)
        return FrozenClient(
            self.clients[state.client],
            tuple(self._worker(w) for w in state.workers),
            self._cache(state.cache, len(state.workers)),
            tuple(outstanding),
            tuple(state.asked[r] for r in self.old_rows),
            tuple(known),
        )

    def _worker(self, state: FrozenWorker) -> FrozenWorker:
        waiter = None if state.waiter is None else self._waiter(state.waiter)
        return state._replace(log=self._log(state.log), waiter=waiter)

    def _log(self, log: FrozenLog) -> FrozenLog:
        start = np.frombuffer(log.start, np.int64)
        rows = np.array([self.rows[r] for r in np.frombuffer(log.rows, np.int32)], np.int32)
        order = np.lexsort((rows, np.repeat(np.arange(len(start) - 1), np.diff(start))))
        return log._replace(rows=rows[order].tobytes(), delta=self.matrix(log.delta)[order].tobytes())

    def _waiter(self, waiter: FrozenWaiter) -> FrozenWaiter:
        rows = np.array([self.rows[r] for r in waiter.rows])
        order = np.argsort(rows)  # old place of each new one
        missing = np.isin(np.arange(len(rows)), waiter.missing)
        had = np.cumsum(~missing) - 1  # place among the served ones, by old place
        served = had[order[~missing[order]]]

        def of_served(values: Rows) -> Rows:
            return tuple(values[i] for i in served)

        return FrozenWaiter(
            tuple(rows[order].tolist()),
            waiter.clock,
            waiter.need,
            tuple(np.flatnonzero(missing[order]).tolist()),
            of_served(waiter.have_clock),
            of_served(waiter.have_version),
            of_served(waiter.have_own),
            self.matrix(waiter.values)[served].tobytes(),
            np.frombuffer(waiter.hit, np.bool_)[order].tobytes(),
        )

    def _cache(self, cache: FrozenCache, threads: int) -> FrozenCache:
        row_clock = np.frombuffer(cache.row_clock, np.int32)
        place = np.cumsum(row_clock >= 0) - 1  # among the cached ones, by old row
        order = place[self.old_rows[row_clock[self.old_rows] >= 0]]
        version = np.frombuffer(cache.row_version, np.int64)
        applied = np.frombuffer(cache.row_applied, np.int32).reshape(-1, threads)
        fetched = np.frombuffer(cache.fetched, np.int32).reshape(threads, -1)
        if fetched.size:
            fetched = fetched[:, self.old_rows]
        return cache._replace(
            row_clock=row_clock[self.old_rows].tobytes(),
            row_version=version[order].tobytes(),
            row_applied=applied[order].tobytes(),
            values=self.matrix(cache.values)[order].tobytes(),
            push_clock=_rows(cache.push_clock, 4, self.old_shards),
            push_version=_rows(cache.push_version, 8, self.old_shards),
            push_applied=_rows(cache.push_applied, 4 * threads, self.old_shards),
            fetched=fetched.tobytes(),
        )


def _rows(values: bytes, width: int, order: Any) -> bytes:
    """Pieces of ``width`` bytes in another order; nothing stays nothing."""
    return b"".join(values[i * width : (i + 1) * width] for i in order) if values else b""


def renamings(system: System) -> Iterator[Renaming]:
    """All renamings but the trivial one that make a state of the system of every state of it."""
    C, S = system.clients, system.shards
    for clients in permutations(range(C)):
        for shards in permutations(range(S)):
            if (clients, shards) == (tuple(range(C)), tuple(range(S))):
                continue
            if system.capacity and shards != tuple(range(S)):
                continue
            renaming = Renaming(system, clients, shards)
            if all(_renamed_script(system, renaming, w) for w in range(system.workers)):
                yield renaming


def _renamed_script(system: System, renaming: Renaming, worker: int) -> bool:
    """Whether the worker's new name has its script, rows renamed."""
    other = system.calls[renaming.workers[worker]]
    return other == tuple(call._replace(rows=renaming.row_set(call.rows)) for call in system.calls[worker])

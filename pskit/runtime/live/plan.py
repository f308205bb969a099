"""What lies where in the arena, and the words that processes show each other.

Process ``c`` is that of client ``c``; the last one, ``clients``, is the server. Every word has one writer
(but STOP and the cards), and words of different writers lie in different cache lines; of a process that has
died the launcher is the writer.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pskit.core.arbiter import Arbiter
from pskit.core.layout import Layout
from pskit.core.policies import policy_class
from pskit.runtime.live.arena import Arena, aligned
from pskit.runtime.live.ring import Ring, ring_bytes
from pskit.runtime.live.tables import Places, SharedTables

if TYPE_CHECKING:
    from pskit.config import Config

Words = npt.NDArray[np.int64]

LINE = 8
"""Words in a cache line."""
START, STOP = 0, LINE
RUNNING, FINISHED, EARLY = 0, 1, 2
"""Values of the word STOP: go on; all workers have left; stop as things are."""
SLEEP, SENT, CONSUMED, DUE, DEAD, AT_GATE, OVER = range(7)
"""Words of a process: it wants to be woken for messages that become visible before this time; messages that
it put into rings; messages that it took in; when it has something to do next; whether it has died, which the
launcher says; workers that wait at the gate; computations that are over."""
CLOCK, WAITING_ROWS, NEED = range(3)
"""Words of a worker: finished clocks; rows that it waits for, or a state below; clock that they need."""
COMPUTING, LEFT, LOST = 0, -1, -2

SMALLEST_RING, LARGEST_RING, ALL_RINGS = 1 << 16, 1 << 24, 1 << 28
"""Bytes: a ring holds four of the largest messages if it can; larger ones go through in pieces, which costs
two more copies on either side."""
BESIDE_ROWS = 1 << 12
"""Bytes of a message beside its rows: at most, for tables of a usual number."""
IN_TRANSIT, MOST_UNITS, SMALLEST_TRANSIT, LARGEST_TRANSIT = 8, 1 << 13, 1 << 18, 1 << 25
"""Room for updates in transit: of so many whole tables for each worker, but at least, and at most."""


def _size(shape: Any, dtype: type) -> int:
    return aligned(math.prod(shape) * np.dtype(dtype).itemsize)


class Plan:
    """Places in the arena of one run; every process derives the same ones.

    Parameters
    ----------
    cfg : Config
    layout : Layout

    Attributes
    ----------
    nbytes : int
        Size of the arena, of which ``committed`` bytes are backed by memory from the start.
    processes : int
    server : int
        Number of the server's process.
    machines : int
        Network cards, at most one per client and shard.
    """

    def __init__(self, cfg: "Config", layout: Layout) -> None:
        self.clients, self.shards, self.workers = cfg.cluster.clients, layout.shards, cfg.workers
        self.server = self.clients
        self.processes = self.clients + 1
        whole = sum(t.rows * (b + 4) for t, b in zip(layout.tables, layout.row_bytes, strict=True))
        fair = min(LARGEST_RING, ALL_RINGS // (2 * self.clients))
        self.ring_capacity = aligned(max(SMALLEST_RING, min(4 * (whole + BESIDE_ROWS), fair)))
        self.ring_stride = ring_bytes(self.ring_capacity)
        self.machines = self.clients + self.shards
        lines = 2 + self.processes + self.machines + self.workers + self.shards
        self.rings_at = aligned(lines * LINE * 8)
        self.gate_at = self.nbytes = self.rings_at + 2 * self.clients * self.ring_stride
        self.gate: dict[str, tuple[Any, type]] = {}
        if policy_class(cfg.ps.policy).gated:
            self.gate = self._gate_shapes(layout)
            self.nbytes += sum(_size(*how) for how in self.gate.values())
        self.tables = Places(layout, self.clients, self.nbytes)
        self.committed, self.nbytes = self.tables.committed, self.tables.end

    def _gate_shapes(self, layout: Layout) -> dict[str, tuple[Any, type]]:
        """Arrays of the arbiter: room for some whole updates of each worker, and for many small ones."""
        rows = sum(t.rows for t in layout.tables)
        values = sum(t.rows * t.cols for t in layout.tables)
        whole = IN_TRANSIT * self.workers
        return Arbiter.shapes(
            self.clients,
            self.workers,
            max(MOST_UNITS, whole * self.shards),
            max(SMALLEST_TRANSIT, min(whole * rows, LARGEST_TRANSIT)),
            max(SMALLEST_TRANSIT, min(whole * values, LARGEST_TRANSIT)),
        )

    def ring_at(self, client: int, upward: bool) -> int:
        """Offset of the ring from a client to the server, or back."""
        return self.rings_at + (client if upward else self.clients + client) * self.ring_stride


class Shared:
    """Views of the arena of one process; see `Plan`.

    Attributes
    ----------
    control : (2 * 8,) int64
        Written by the launcher (``STOP`` also by the server, or by who finds the run diverged).
    processes : (processes * 8,) int64
        The words of process p begin at ``8 p``.
    cards : (machines * 8,) int64
        Until when each network card is busy; written by whoever sends, in one atomic step.
    workers : (workers, 8) int64
    shards : (shards, 8) int64
        The first word is the shard's clock.
    everything : (n,) int64
        The whole arena.
    """

    def __init__(self, arena: Arena, plan: Plan) -> None:
        self._arena, self.plan = arena, plan
        self.everything: Words = arena.view(0, (plan.nbytes // 8,), np.int64)
        at = 0
        lines: list[Any] = []
        for n in (2, plan.processes, plan.machines, plan.workers, plan.shards):
            lines.append(self.everything[at : at + n * LINE])
            at += n * LINE
        self.control, self.processes, self.cards = lines[:3]
        self.workers, self.shards = (words.reshape(-1, LINE) for words in lines[3:])

    def of_all(self, word: int) -> Words:
        """What every process shows in ``word`` now: a (processes,) copy.

        NumPy looks twice at an array to find what is not zero or to pick by a mask, and raises, or reads what
        is not there, when somebody writes in between.
        """
        return self.processes[word::LINE].copy()

    def gate(self) -> dict[str, npt.NDArray[Any]]:
        """The arbiter's arrays, under a policy with a gate; only to be used in `Arena.locked`."""
        at, arrays = self.plan.gate_at, {}
        for name, (shape, dtype) in self.plan.gate.items():
            arrays[name] = self._arena.view(at, shape, dtype)
            at += _size(shape, dtype)
        return arrays

    def tables(self, layout: Layout) -> SharedTables:
        """The parameter tables and the caches."""
        return SharedTables(self._arena, layout, self.plan.tables)

    def ring(self, client: int, upward: bool) -> Ring:
        """The ring from a client to the server, or back."""
        at = self.plan.ring_at(client, upward)
        return Ring(self._arena.view(at, (self.plan.ring_stride,), np.uint8))

    def close(self) -> None:
        """Drop all views, so that the arena can be closed whoever still refers to this object."""
        vars(self).clear()

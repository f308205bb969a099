"""Applications driven by hand: all workers in lockstep, as under BSP, without a runtime."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from pskit.apps.base import Array, Clock, Compute, Get, InitContext, Worker
from pskit.config import Config
from pskit.core.layout import Layout
from pskit.emulation.streams import Stream

MakeConfig = Callable[..., Config]


class Outcome(NamedTuple):
    """What a lockstep run did."""

    initial: dict[str, Array]
    tables: dict[str, Array]
    metrics: list[dict[str, float]]
    """Before the first clock and after each."""
    reads: dict[tuple[int, int], list[tuple[int, ...]]]
    """Global rows of every GET, by (worker, clock)."""
    costs: dict[tuple[int, int], list[float]]


class Lockstep:
    """The port and the loop: a clock's updates are added, in worker order, when all have finished it."""

    def __init__(self, app: Any, cfg: Config) -> None:
        self.seed, self.layout = cfg.run.seed, Layout(app.tables(cfg))
        self.arrays = [np.zeros((t.rows, t.cols), t.dtype) for t in self.layout.tables]
        self.tables = {t.name: a for t, a in zip(self.layout.tables, self.arrays, strict=True)}
        app.init(InitContext(cfg, self.tables, lambda *key: Stream(self.seed, "init", *key)))
        self.initial = {name: table.copy() for name, table in self.tables.items()}
        self.pending: list[list[tuple[int, Array, Array]]] = [[] for _ in range(cfg.workers)]
        self.reads: dict[tuple[int, int], list[tuple[int, ...]]] = {}
        self.costs: dict[tuple[int, int], list[float]] = {}
        works = [
            self._clocks(w, app.work(Worker(w, cfg.workers, cfg, self.layout, self)))
            for w in range(cfg.workers)
        ]
        self.metrics = [app.objective(self.tables)]
        for _ in range(cfg.app.clocks):
            assert [next(work) for work in works] == [True] * len(works)
            with np.errstate(over="ignore", invalid="ignore"):  # a runtime refuses what is not finite
                for own in self.pending:
                    for table, rows, delta in own:
                        self.arrays[table][rows - self.layout.offsets[table]] += delta
                    own.clear()
            self.metrics.append(app.objective(self.tables))
        assert not any(next(work) for work in works)

    def inc(self, worker: int, table: int, rows: Array, delta: Array) -> None:
        self.pending[worker].append((table, rows, delta))

    def stream(self, *key: int | str) -> Stream:
        return Stream(self.seed, *key)

    def _clocks(self, worker: int, work: Any) -> Iterator[bool]:
        """Run a worker; True at each of its clocks, then False."""
        clock, result = 0, None
        while True:
            try:
                command = work.send(result)
            except StopIteration:
                yield False
                return
            result = None
            if isinstance(command, Get):
                self.reads.setdefault((worker, clock), []).append(tuple(command.rows.tolist()))
                result = SimpleNamespace(views=self._views(command.rows))
            elif isinstance(command, Compute):
                self.costs.setdefault((worker, clock), []).append(command.cost)
                given = [a.copy() if isinstance(a, np.ndarray) else a for a in command.arrays]
                result = command.fn(*command.arrays)
                for before, after in zip(given, command.arrays, strict=True):
                    np.testing.assert_array_equal(before, after)  # fn is pure
            else:
                assert isinstance(command, Clock)
                clock += 1
                yield True

    def _views(self, rows: Array) -> list[Array]:
        bounds = np.searchsorted(rows, self.layout.offsets)
        offsets = self.layout.offsets
        pieces = [(a, rows[bounds[i] : bounds[i + 1]] - offsets[i]) for i, a in enumerate(self.arrays)]
        return [array[local] for array, local in pieces if len(local)]


@pytest.fixture(scope="session")
def lockstep() -> Callable[[Any, Config], Outcome]:
    """Run an application in lockstep to its end."""

    def run(app: Any, cfg: Config) -> Outcome:
        done = Lockstep(app, cfg)
        return Outcome(done.initial, done.tables, done.metrics, done.reads, done.costs)

    return run


@pytest.fixture(scope="session")
def config() -> MakeConfig:
    """Make a Config from a number of workers and the keys of [app]."""

    def make(workers: int = 1, seed: int = 0, **app: Any) -> Config:
        return Config(app=app, cluster={"clients": workers}, run={"seed": seed})

    return make

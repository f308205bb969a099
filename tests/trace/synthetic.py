"""Random schedules for recorders: not a protocol, only records of the right shape."""

from typing import Any, NamedTuple

import numpy as np

from pskit.core.layout import Layout, TableSpec
from pskit.trace.manifest import build_manifest
from pskit.trace.recorder import Recorder
from pskit.trace.schema import MESSAGE_KINDS

LAYOUT = Layout([TableSpec("U", 7, 2), TableSpec("V", 5, 3, "f8")], shards=3)


class Get(NamedTuple):
    """Arguments of `Recorder.read`."""

    t: int
    worker: int
    clock: int
    rows: Any
    version: Any
    own_from: Any
    own_upto: int
    age: Any
    hit: Any
    waited: int


class Schedule(NamedTuple):
    """Records in the order in which a runtime would make them."""

    workers: int
    events: list[tuple[str, tuple[Any, ...]]]

    def gets(self) -> list[Get]:
        return [Get(*args) for name, args in self.events if name == "read"]

    def records(self, name: str) -> np.ndarray:
        return np.array([args for n, args in self.events if n == name])

    def record(self, recorder: Recorder) -> Recorder:
        for name, args in self.events:
            getattr(recorder, name)(*args)
        return recorder


def make_schedule(seed: int, workers: int = 3, clocks: int = 6, max_rows: int = 9) -> Schedule:
    """A run of ``workers`` x ``clocks`` with a few GETs, updates and messages per clock."""
    rng = np.random.default_rng(seed)
    events: list[tuple[str, tuple[Any, ...]]] = []
    t = message = 0
    for clock in range(clocks):
        for worker in rng.permutation(workers).tolist():
            for _ in range(rng.integers(0, 3)):
                n = int(rng.integers(0, max_rows + 1))
                events.append(("read", make_get(rng, t, worker, clock, n)))
            for _ in range(rng.integers(0, 5)):
                kind, rows = int(rng.integers(len(MESSAGE_KINDS))), int(rng.integers(0, 50))
                events.append(("message", (message, kind, worker, 9, t, t + 5, 32 + 8 * rows, rows)))
                message += 1
            norms = tuple(rng.random(2).tolist())
            events.append(("update", (worker, clock, clock % 3, clock, t, t, t + 1, t + 6, *norms)))
            compute, wait = rng.integers(0, 1000, 2).tolist()
            events.append(("clock", (worker, clock, t, t + compute + wait + 7, compute, wait)))
            t += int(rng.integers(1, 10**10))
        events.append(("metric", (t, clock + 1, "loss", 1.0 / (clock + 1))))
    return Schedule(workers, events)


def make_get(rng: np.random.Generator, t: int, worker: int, clock: int, n: int) -> Get:
    """A GET of ``n`` rows with large versions and ages, and own updates."""
    return Get(
        t,
        worker,
        clock,
        np.sort(rng.integers(0, LAYOUT.n_rows, n)).astype(np.int32),
        rng.integers(0, 2**40, n),
        rng.integers(0, 2**31 - 1, n).astype(np.int32),
        int(rng.integers(0, 2**31 - 1)),
        rng.integers(0, 40, n).astype(np.int32),
        rng.random(n) < 0.5,
        int(rng.integers(0, 10**9)),
    )


def mix(x: int) -> int:
    """SplitMix64's output function, on Python ints."""
    m = 2**64 - 1
    x = (x + 0x9E3779B97F4A7C15) & m
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & m
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & m
    return x ^ (x >> 31)


def sampled(sizes: dict[int, int], cap: int) -> tuple[int, set[int]]:
    """Level and kept keys of a sample of groups, given as key: rows."""
    for level in range(65):
        kept = {k for k in sizes if k < 2 ** (64 - level)}
        fits = sum(sizes[k] for k in kept) <= cap
        if fits or not any(k < 2 ** (64 - level) // 2 for k in kept):
            return level, kept
    raise AssertionError


def make_run(seed: int = 0, status: str = "finished") -> dict[str, Any]:
    """Arguments of `pskit.trace.store.write_run`, all but the folder."""
    schedule = make_schedule(seed)
    recorder = schedule.record(Recorder(LAYOUT, schedule.workers))
    columns = recorder.finish()
    rng = np.random.default_rng(seed)
    tables = {
        f"{which}:{t.name}": rng.normal(size=(t.rows, t.cols)).astype(t.dtype)
        for which in ("final", "initial", "incs")
        for t in LAYOUT.tables
    }
    manifest = build_manifest(
        config={
            "app": {"name": "mf"},
            "ps": {"policy": "ssp", "slack": 2, "shards": LAYOUT.shards},
            "cluster": {"clients": schedule.workers, "threads": 1, "placement": "separate"},
            "network": {"loss": 0.0, "reorder": False, "links": []},
            "run": {"runtime": "sim", "seed": seed, "trace": "summary", "diverge_factor": 10.0},
        },
        fingerprint="f" * 64,
        seed=seed,
        recorder=recorder,
        columns=columns,
        tables=tables,
        status=status,
        wall_seconds=1.5,
        memory_estimate=1000,
        memory_peak=None,
        command=["pskit", "run", "mf.toml"],
    )
    return {
        "config_toml": "# ein Körper\n[run]\nseed = 0\n",
        "manifest": manifest | {"emulated_ns": max(int(columns["clocks"]["t_end"].max()), 0)},
        "columns": columns,
        "tables": tables,
    }

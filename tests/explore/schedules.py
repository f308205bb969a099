"""Runs in virtual time in which everything goes wrong that may, drawn from a seed.

``python -m tests.explore.schedules 5000`` goes through as many (a second number: from which seed on). Every
read, copy and message is checked while it happens (`pskit.core.invariants`), and the trace afterwards
(`pskit.audit`).
"""

import sys
import time
from collections.abc import Iterable
from random import Random
from typing import Any, NamedTuple
from unittest import mock

import pskit
from pskit.core import invariants
from pskit.runtime.sim import execute, simulation
from tests.runtime.simulate import POLICIES, config, make_watched

LATENCIES: list[dict[str, Any]] = [
    {"model": "constant", "mean": "0s"},
    {"model": "constant", "mean": "50ms"},
    {"model": "exponential", "mean": "200ms"},
    {"model": "uniform", "low": "0s", "high": "2s"},
    {"model": "pareto", "mean": "300ms", "alpha": 1.3},
    {"model": "bimodal", "mean": "10ms", "far": "5s", "p_far": 0.1},
]
COMPUTE: list[dict[str, Any]] = [
    {"model": "constant", "mean": "1s"},
    {"model": "constant", "mean": "0s"},
    {"model": "exponential", "mean": "1s", "per_item": "10ms"},
    {"model": "exponential", "mean": "100ms", "floor": "1s", "reversion": 0.2},
    {"model": "bimodal", "mean": "100ms", "far": "10s", "p_far": 0.1},
]


class Result(NamedTuple):
    """A run that went well: rows of reads, messages, and how many of those were lost."""

    reads: int
    messages: int
    lost: int


def draw(seed: int, policies: Iterable[str] = POLICIES, even: bool | None = None) -> pskit.Config:
    """The schedule number ``seed``; ``even``: every worker has as many clocks."""
    random = Random(f"schedule {seed}")
    name = random.choice(list(policies))
    clients, threads, shards = random.randint(1, 4), random.randint(1, 3), random.randint(1, 4)
    workers = clients * threads
    rows = random.choice([1, 2, 3, 6])
    even = random.random() < 0.3 if even is None else even
    clocks = [random.choice([0, 1, 3, 8, 12]) for _ in range(workers)] if not even else [6] * workers
    slack = {"slack": random.choice([0, 0, 1, 2, 5])} if name not in ("bsp", "asp") else {}
    return config(
        clocks=max(*clocks, 1),
        options={"rows": rows, "clocks": clocks, "tail": random.random() < 0.5},
        ps={**POLICIES[name], **slack, "shards": shards, "cache_rows": random.choice([0, 0, 1, 2])},
        cluster={
            "clients": clients,
            "threads": threads,
            "placement": random.choice(["colocated", "separate"]),
        },
        compute=draw_compute(random, workers),
        network=draw_network(random, clients, shards),
        run={"seed": seed, "trace": "full"},
    )


def draw_compute(random: Random, workers: int) -> dict[str, Any]:
    """Times of computations, with stragglers and pauses."""
    slow = random.sample(range(workers), random.randint(0, min(2, workers)))
    pauses = [
        {"worker": w, "at": f"{random.randint(0, 8)}s", "duration": f"{random.randint(1, 20)}s"}
        for w in random.sample(range(workers), random.randint(0, min(2, workers)))
    ]
    return {
        **random.choice(COMPUTE),
        "stragglers": [
            {"worker": w, "factor": random.choice([0.2, 3.0, 20.0]), "probability": random.choice([0.3, 1.0])}
            for w in slow
        ],
        "pauses": pauses,
    }


def draw_network(random: Random, clients: int, shards: int) -> dict[str, Any]:
    """Latencies, slow cards, and links that lose or reorder: none, all, or one."""
    network: dict[str, Any] = {"latency": random.choice(LATENCIES)}
    if random.random() < 0.2:
        network["bandwidth"] = random.choice(["20kbit/s", "1Mbit/s"])
    bad = {
        "loss": random.choice([0.0, 0.1, 0.4]),
        "reorder": random.random() < 0.5,
    }
    kind = random.random()
    if kind < 0.35:
        network |= bad
    elif kind < 0.6:
        ends = [f"client:{random.randrange(clients)}", f"shard:{random.randrange(shards)}"]
        random.shuffle(ends)
        network["links"] = [{"src": ends[0], "dst": ends[1], **bad, "latency": random.choice(LATENCIES)}]
    network["retransmit"] = random.choice(["100ms", "500ms", "3s"])
    return network


def run(seed: int, policies: Iterable[str] = POLICIES) -> Result:
    """Run a schedule with all checks.

    Raises
    ------
    AssertionError
        When an invariant breaks or the auditor finds something.
    """
    cfg, watches = draw(seed, policies), []

    def make(cfg: Any, app: Any, layout: Any, recorder: Any, pool: Any, progress: Any) -> Any:
        made = make_watched(cfg, app, layout, recorder, pool=pool, progress=progress)
        watches.append(made.clients[0].watch)
        return made

    with (
        mock.patch.object(execute, "Simulation", make),
        mock.patch.object(simulation, "COLLECT_EVERY", 1),
        mock.patch.object(simulation.RowPools, "crowded", True),
    ):
        trace = pskit.run(cfg, threads=1)
    (watch,) = watches
    invariants.not_stuck(watch.clients, watch.shards, able=[])
    invariants.end_state(watch.ledger, {"n": trace.table("n")})
    for client in watch.clients:
        for shard in watch.shards:
            invariants.subscriptions_match(client, shard)
    report = pskit.audit(trace)
    assert report.ok, f"seed {seed}: {report.story}"
    assert report.share == 1.0
    assert watch.reads == report.reads, f"seed {seed}: {watch.reads} reads watched, {report.reads} recorded"
    lost = int((trace.columns("messages")["t_deliver"] < 0).sum())
    return Result(watch.reads, trace.messages()["all"]["messages"], lost)


def run_many(seeds: Iterable[int]) -> None:
    """Run schedules and say what they came to; the first one that fails raises, its number printed."""
    begin, total, runs = time.perf_counter(), Result(0, 0, 0), 0
    for seed in seeds:
        try:
            result = run(seed)
        except BaseException:
            print(f"schedule {seed} of {draw(seed).ps.policy}:", flush=True)
            raise
        total, runs = Result(*(a + b for a, b in zip(total, result, strict=True))), runs + 1
        if runs % 100 == 0:
            seconds = time.perf_counter() - begin
            print(
                f"{runs} schedules, {total.reads:,} rows read, {total.messages:,} messages, "
                f"{total.lost:,} of them lost, {seconds:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    run_many(range(first, first + int(sys.argv[1])))

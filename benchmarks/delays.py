"""Delays of the live runtime: never early, and how late; and how many messages a second go through a ring.

Whole runs on the wall clock, one emulated second to a second, with a latency that is constant and so known
for every message of the trace:

- *idle*: two clients with a clock of 5 ms, so that processes sleep between messages;
- *under load*: six clients that compute for a third of a millisecond and exchange messages all the time, more
  than two processors can do in time.

A message is *early* if it was taken in before its time of sending and the latency; *late* by what passes
after the later of its time and the time at which its receiver was ready for it (see
`docs/explanation/protocol.md`).

The ring is measured between two processes, one record of 64 bytes after another, as the transport uses it,
in turn with a pipe of `multiprocessing`.
"""

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from benchmarks._rounds import REPEATS, interleaved, load, ratio, spread, two_threads_over_one
from pskit.config import Config
from pskit.console.bench import Ratio
from pskit.running import run
from pskit.runtime.children import METHOD, single_threaded
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.ring import Ring, RingReader, RingWriter, ring_bytes

SECONDS = 15
"""About what it takes on two idle cores."""
LATENCY_NS = 1_000_000
MEDIAN_US = 50.0

RECORDS, RECORD_BYTES = 50_000, 64
CAPACITY = 1 << 20
SECONDS_TO_STOP = 10.0


class Delays(NamedTuple):
    """What a run says of its messages; lateness in us."""

    messages: int
    early: int
    p50: float
    p99: float
    latest: float


def delays(clients: int, compute: str, clocks: int) -> Delays:
    """Make a run and look at all of its messages."""
    cfg = Config(
        app={"name": "quadratic", "clocks": clocks, "step": 1e-4},
        ps={"policy": "essp", "slack": 4},
        cluster={"clients": clients, "placement": "separate"},
        compute={"model": "constant", "mean": compute},
        network={"latency": {"model": "constant", "mean": f"{LATENCY_NS}ns"}, "bandwidth": "unlimited"},
        run={"runtime": "live", "time_scale": 1.0, "trace": "full", "eval_every": clocks},
    )
    trace = run(cfg)
    columns, late = trace.columns("messages"), trace.manifest["fidelity"]["lateness_us"]
    early = columns["t_deliver"] < columns["t_send"] + LATENCY_NS
    return Delays(len(early), int(early.sum()), late["p50"], late["p99"], late["max"])


def idle() -> Delays:
    """A run whose processes mostly sleep."""
    return delays(2, "5ms", 100)


def loaded() -> Delays:
    """A run that asks for more than two processors."""
    return delays(6, "300us", 300)


def write_ring(arena: Arena, records: int, go: Connection) -> None:
    """The child at the writing end of a ring."""
    writer = RingWriter(Ring(arena.view(0, (ring_bytes(CAPACITY),), np.uint8)))
    record = np.ones(RECORD_BYTES, np.uint8)

    def fill(place: Any) -> None:
        place[:] = record

    for number in range(records + 1):
        while not writer.has_room(RECORD_BYTES):
            time.sleep(0)
        writer.post(number, RECORD_BYTES, fill)
        if number == 0:
            go.recv_bytes()  # by the first record both ends have compiled everything
    arena.close()


def through_ring(records: int = RECORDS) -> float:
    """Seconds per message from one process to another, through a ring in shared memory."""
    with Arena.create(ring_bytes(CAPACITY)) as arena:
        ring = Ring(arena.view(0, (ring_bytes(CAPACITY),), np.uint8))
        reader, taken = RingReader(ring), [0]

        def use(visible_at: int, data: Any) -> None:
            taken[0] += 1

        def wait_for(number: int) -> None:
            while taken[0] < number:
                if not reader.take(use):
                    time.sleep(0)

        return _with_child(write_ring, arena, records, wait_for)


def write_pipe(line: Connection, records: int, go: Connection) -> None:
    """The child at the writing end of a pipe."""
    record = bytes(RECORD_BYTES)
    for number in range(records + 1):
        line.send_bytes(record)
        if number == 0:
            go.recv_bytes()


def through_pipe(records: int = RECORDS) -> float:
    """Seconds per message from one process to another, through a pipe."""
    own, other = multiprocessing.Pipe(duplex=False)
    taken = 0

    def wait_for(number: int) -> None:
        nonlocal taken
        while taken < number:
            own.recv_bytes()
            taken += 1

    try:
        return _with_child(write_pipe, other, records, wait_for)
    finally:
        own.close()
        other.close()


def _with_child(
    target: Callable[[Any, int, Connection], None], end: Any, records: int, wait_for: Callable[[int], None]
) -> float:
    """Seconds per record that ``target`` writes into ``end`` in a child, from the first to the last."""
    hears, go = multiprocessing.Pipe(duplex=False)
    with single_threaded():
        context = multiprocessing.get_context(METHOD)
        child = context.Process(target=target, args=(end, records, hears), daemon=True)
        child.start()
    try:
        wait_for(1)
        go.send_bytes(b"!")
        begin = time.perf_counter()
        wait_for(records + 1)
        spent = time.perf_counter() - begin
        child.join(SECONDS_TO_STOP)
    finally:
        if child.is_alive():
            child.kill()
            child.join()
        child.close()
        hears.close()
        go.close()
    return spent / records


def measure() -> list[Ratio]:
    """The figures; target 5."""
    results = [load()]
    rounds = [(idle(), loaded()) for _ in range(REPEATS + 1)]
    everything = [one for both in rounds for one in both]  # no message is early in the first round either
    early = sum(one.early for one in everything)
    messages = sum(one.messages for one in everything)
    results.append(Ratio(f"messages visible early, of {messages:,}", early, early, early, "0", early == 0))
    for name, counted in zip(("idle", "under load"), zip(*rounds[1:], strict=True), strict=True):
        p50 = spread([one.p50 for one in counted])
        target = name == "idle"
        results.append(
            Ratio(
                f"lateness {name}, us: median",
                *p50,
                f"<= {MEDIAN_US:g}" if target else "",
                p50[0] <= MEDIAN_US if target else None,
            )
        )
        results.append(Ratio(f"lateness {name}, us: 99%", *spread([one.p99 for one in counted])))
        results.append(Ratio(f"lateness {name}, us: largest", *spread([one.latest for one in counted])))
    results.append(two_threads_over_one())
    ring, pipe = interleaved(through_ring, through_pipe)
    results.append(Ratio("thousand messages/s through a ring", *spread([1e-3 / s for s in ring])))
    results.append(ratio("messages/s: ring / multiprocessing.Pipe", pipe, ring))
    return results

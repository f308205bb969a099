"""Operations of a parameter server: GET and INC of rows of 100 float32, in us and against other ways.

Ours is measured where a user has it, in an application on the live runtime: ``await table.get(ids)`` of rows
that the process cache has, and ``table.inc(ids, delta)``, which adds to the worker's open update. Both are
recorded and checked as always. In turn with them, in the same process, NumPy reads and adds to the same rows
of an array in shared memory: one row by its number and by an array with its number (which is what a GET
takes), and many by their numbers.

Every other way (`benchmarks.peers`) blocks until the operation is done in another process. As in any
parameter server, a hit is local here and is not there: a cache with a bounded staleness is for that.
"""

import contextlib
import mmap
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks._rounds import interleaved, load, ratio, spread
from benchmarks.peers import COLS, GET, INC, MANY, ROWS, Peer, operands
from benchmarks.peers.mpi import MPI
from benchmarks.peers.ray_actor import Ray
from benchmarks.peers.redis_server import Redis
from benchmarks.peers.serving import Pipes, ZeroMQ
from pskit.config import Config
from pskit.console.bench import Ratio
from pskit.core.layout import TableSpec
from pskit.running import run

SECONDS = 30
"""About what it takes on two idle cores, with some peers installed."""
PEERS: tuple[type[Peer], ...] = (MPI, Redis, Pipes, ZeroMQ, Ray)
TIMES = {1: 2000, MANY: 50}
"""Operations in a row, by rows of each."""
BLOCKS = 4
LIMITS = {(MPI.name, GET, MANY): 2.5, (Redis.name, GET, MANY): 25.0, (Ray.name, GET, MANY): 100.0}
NUMPY_LIMIT = 1.5

OURS = [(operation, rows) for operation in (GET, INC) for rows in TIMES]
BY_NUMBER, BY_IDS, ADD = "array[i].copy()", "array[ids]", "array[ids] += delta"
IN_NUMPY = [(BY_NUMBER, 1), (BY_IDS, 1), (BY_IDS, MANY), (ADD, 1), (ADD, MANY)]


class Operations:
    """An application that times its own operations, and leaves the times in the table ``seconds``."""

    def tables(self, cfg: Any) -> list[TableSpec]:
        return [TableSpec("x", ROWS, COLS), TableSpec("seconds", len(OURS) + len(IN_NUMPY), BLOCKS, "f8")]

    def init(self, ctx: Any) -> None:
        pass

    async def work(self, ps: Any) -> None:
        """NumPy's operations, GETs and INCs in blocks; what a block has added comes back before the next."""
        table = ps.table("x")
        shared = np.frombuffer(mmap.mmap(-1, 4 * ROWS * COLS), np.float32).reshape(ROWS, COLS)
        await table.get(np.arange(ROWS, dtype=np.int32))
        seconds = np.zeros((len(OURS) + len(IN_NUMPY), BLOCKS))
        for block in range(-1, BLOCKS):  # the first is not counted
            for i, (what, rows) in enumerate(IN_NUMPY, len(OURS)):
                seconds[i, block] = in_numpy(what, shared, rows)
            for i, (operation, rows) in enumerate(OURS):
                ids, delta = operands(rows)
                begin = time.perf_counter()
                if operation == GET:
                    for _ in range(TIMES[rows]):
                        await table.get(ids)
                else:
                    for _ in range(TIMES[rows]):
                        table.inc(ids, delta)
                seconds[i, block] = (time.perf_counter() - begin) / TIMES[rows]
                await ps.clock()
                await ps.compute(tuple)
        ps.table("seconds").inc(np.arange(len(seconds)), seconds)
        await ps.clock()

    def objective(self, tables: Any) -> dict[str, float]:
        return {"loss": 1.0}


def in_numpy(what: str, array: np.ndarray, rows: int) -> float:
    """Seconds of one operation of NumPy on ``array``."""
    ids, delta = operands(rows)
    row, times = int(ids[0]), TIMES[rows]
    begin = time.perf_counter()
    if what == BY_NUMBER:
        for _ in range(times):
            array[row].copy()
    elif what == BY_IDS:
        for _ in range(times):
            array[ids]
    else:
        for _ in range(times):
            array[ids] += delta
    return (time.perf_counter() - begin) / times


def on_live() -> dict[tuple[str, int], float]:
    """Seconds of each operation in `OURS` and `IN_NUMPY`: medians of the blocks of one run."""
    cfg = Config(
        app={"name": "benchmarks.ops:Operations", "clocks": len(OURS) * (BLOCKS + 1) + 1},
        ps={"policy": "essp", "slack": 100},
        cluster={"clients": 1, "placement": "separate"},
        compute={"model": "constant", "mean": "10ms"},
        network={"latency": {"model": "constant", "mean": "100us"}, "bandwidth": "unlimited"},
        run={"runtime": "live", "time_scale": 1.0},
    )
    medians = np.median(run(cfg).table("seconds"), axis=1)
    return dict(zip([*OURS, *IN_NUMPY], medians.tolist(), strict=True))


def present_peers() -> list[type[Peer]]:
    """Those that are installed; a line for each other one says how to get it."""
    there = [peer for peer in PEERS if peer.present()]
    for peer in PEERS:
        if peer not in there:
            print(f"  {peer.name} is left out: not installed ({peer.how})")
    return there


def of_peer(peer: Peer) -> dict[tuple[str, int], float]:
    """Seconds of each operation; ways that take milliseconds are called less often."""
    result = {}
    for operation, rows in OURS:
        once = peer.seconds(operation, rows, 3)
        times = max(3, min(TIMES[rows], int(0.1 / once)))
        result[operation, rows] = peer.seconds(operation, rows, times)
    return result


def measure() -> list[Ratio]:
    """The ratios; target 4."""
    results = [load()]
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(kind()) for kind in present_peers()]
        measured = interleaved(on_live, *(partial(of_peer, peer) for peer in peers))
    names = [peer.name for peer in peers]
    rounds = dict(zip(["ours", *names], measured, strict=True))

    def column(name: str, key: tuple[str, int]) -> list[float]:
        return [one[key] for one in rounds[name]]

    for key in OURS:
        results.append(Ratio(f"{_named(*key)}: us", *spread([1e6 * s for s in column("ours", key)])))
    against = [
        ((GET, 1), (BY_NUMBER, 1), f"<= {NUMPY_LIMIT}", NUMPY_LIMIT),
        ((GET, 1), (BY_IDS, 1), "", 0.0),
        ((GET, MANY), (BY_IDS, MANY), "", 0.0),
        ((INC, 1), (ADD, 1), "", 0.0),
        ((INC, MANY), (ADD, MANY), "", 0.0),
    ]
    for own, other, target, limit in against:
        what = f"{_named(*own)}: ours / NumPy, {other[0]} in shared memory"
        results.append(ratio(what, column("ours", own), column("ours", other), target, limit))
    for name in names:
        for key in OURS:
            least = LIMITS.get((name, *key), 0.0)
            what = f"{_named(*key)}: {name} / ours"
            target = f">= {least:g}" if least else ""
            results.append(ratio(what, column(name, key), column("ours", key), target, -least))
    return results


def _named(operation: str, rows: int) -> str:
    return f"{operation} of {rows} rows" if rows > 1 else f"{operation} of one row"

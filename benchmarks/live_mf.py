"""Matrix factorization by two workers: through the parameter server on the live runtime, and without one.

Ratings per second of SGD, rank 100, over the same ratings in the same order, ten clocks per epoch:

- the live parameter server (ESSP): two client processes and the server's, messages in shared memory, times
  measured and not padded. A clock reads the rows that its ratings touch, works on copies, adds what changed;
- *two raw kernels*: two threads, each over its own ratings with factors of its own, nothing shared;
- *Hogwild*: the same two threads on one shared pair of factors, without locks;
- *raw kernels and copies*: two raw kernels that, once a clock, pass the rows on as a parameter server with
  messages has to, and do nothing else: cache to view, view to update, update into the server's table, table
  to push, push into the cache. It is the limit of the first one, with a third process' work on two cores;
- one raw kernel alone, so that one sees what a second thread is worth on this machine at this time.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks._rounds import interleaved, load, ratio, seconds_together, spread
from pskit.apps.kernels.mf import KERNELS
from pskit.apps.minibatches import Minibatch, minibatches
from pskit.apps.partition import Partition
from pskit.config import Config
from pskit.console.bench import Ratio
from pskit.core.layout import TableSpec
from pskit.data.ratings import Triples
from pskit.emulation.streams import Stream
from pskit.running import run

SECONDS = 35
"""About what it takes on two idle cores."""
RATINGS, USERS, ITEMS, RANK = 2_000_000, 10_000, 5_000, 100
WORKERS, CLOCKS_PER_EPOCH = 2, 10
WARM_EPOCHS, EPOCHS = 2, 4
STEP, REG = 0.005, 0.05

SHARE_OF_RAW, TIMES_HOGWILD = 0.8, 1.2
BASE = np.float32(3.5)


class Share(NamedTuple):
    """A worker's minibatches of an epoch, and its ratings in their order."""

    batches: list[Minibatch]
    triples: Triples


@lru_cache
def share(worker: int) -> Share:
    """Of ratings at random places of the matrix, no place twice, parted by user."""
    random = np.random.default_rng(11)
    places = np.unique(random.integers(0, USERS * ITEMS, RATINGS + RATINGS // 10))
    places = places[random.random(len(places)) < RATINGS / len(places)]
    user = (places // ITEMS).astype(np.int32)
    here = Partition(user, USERS, WORKERS)[worker]
    own = Triples(
        user[here],
        (places[here] % ITEMS).astype(np.int32),
        random.integers(1, 6, len(here)).astype(np.float32),
    )
    stream = partial(Stream, 0, "bench", worker)
    batches = list(minibatches(own, 1 / CLOCKS_PER_EPOCH, CLOCKS_PER_EPOCH, stream))
    columns = (
        np.concatenate([b.users[b.user] for b in batches]),
        np.concatenate([b.items[b.item] for b in batches]),
        np.concatenate([b.value for b in batches]),
    )
    return Share(batches, Triples(*columns))


def factors() -> tuple[np.ndarray, np.ndarray]:
    """Both factors at the start, (users, rank) and (items, rank) float32."""
    random = np.random.default_rng(12)
    u, v = (random.normal(0, 0.1, (n, RANK)).astype(np.float32) for n in (USERS, ITEMS))
    return u, v


class Factors:
    """The application: as `mf`, but its minibatches are made once, since what is measured is the server."""

    def tables(self, cfg: Any) -> list[TableSpec]:
        ids, values = np.zeros(0, np.int32), np.zeros(0, np.float32)
        KERNELS["numba"].sgd(ids, ids, values, BASE, STEP, REG, *(np.zeros((1, RANK), np.float32),) * 2)
        return [TableSpec("U", USERS, RANK), TableSpec("V", ITEMS, RANK)]

    def init(self, ctx: Any) -> None:
        ctx.tables["U"][:], ctx.tables["V"][:] = factors()

    async def work(self, ps: Any) -> None:
        users, items = ps.table("U"), ps.table("V")
        batches = share(ps.worker).batches
        sgd = KERNELS["numba"].sgd
        own = np.unique(np.concatenate([batch.users for batch in batches]))
        await ps.get((users, own), (items, np.arange(ITEMS)))
        for clock in range(ps.cfg.app.clocks):
            batch = batches[clock % CLOCKS_PER_EPOCH]
            views = await ps.get((users, batch.users), (items, batch.items))
            kernel = partial(sgd, batch.user, batch.item, batch.value, BASE, STEP, REG)
            u, v = await ps.compute(kernel, *views, cost=len(batch.value))
            users.inc(batch.users, u)
            items.inc(batch.items, v)
            await ps.clock()

    def objective(self, tables: Any) -> dict[str, float]:
        return {"loss": float(np.mean(tables["V"] ** 2))}


def live() -> float:
    """Seconds of an epoch through the parameter server, both workers; the first epochs are not counted."""
    clocks = (WARM_EPOCHS + EPOCHS) * CLOCKS_PER_EPOCH
    trace = run(live_config(clocks))
    columns = trace.columns("clocks")
    counted = columns["clock"] >= WARM_EPOCHS * CLOCKS_PER_EPOCH
    span = columns["t_end"][counted].max() - columns["t_begin"][counted].min()
    return float(span) * 1e-9 / EPOCHS


def live_config(clocks: int) -> Config:
    """Two clients whose kernels take the time they take, on links that are as fast as this machine."""
    return Config(
        app={"name": "benchmarks.live_mf:Factors", "clocks": clocks},
        ps={"policy": "essp", "slack": 4},
        cluster={"clients": WORKERS, "placement": "separate"},
        compute={"model": "measured"},
        network={"latency": {"model": "constant", "mean": "1us"}, "bandwidth": "unlimited"},
        run={"runtime": "live", "time_scale": 1.0, "eval_every": clocks},
    )


def raw(workers: int, shared: bool) -> Callable[[], float]:
    """Seconds of an epoch of ``workers`` threads, on factors that are shared (Hogwild) or their own."""

    def epoch() -> float:
        triples = [share(worker).triples for worker in range(workers)]
        first = factors()
        tables = [first if shared else factors() for _ in triples]
        kernel = KERNELS["numba"].run_sgd
        calls = [
            partial(kernel, *own, BASE, STEP, REG, *of_own)
            for own, of_own in zip(triples, tables, strict=True)
        ]
        return seconds_together(*calls)

    return epoch


def copies() -> float:
    """Seconds of an epoch of two threads that only pass the rows of each clock on."""

    def pass_on(batches: list[Minibatch], rows: npt.NDArray[np.float32]) -> None:
        for batch in batches:
            n = len(batch.users) + len(batch.items)
            cache, view, update, table, push = rows[:, :n]
            np.copyto(view, cache)
            np.subtract(view, cache, out=update)
            np.add(table, update, out=table)
            np.copyto(push, table)
            np.copyto(cache, push)

    rows = np.zeros((WORKERS, 5, USERS + ITEMS, RANK), np.float32)
    rows.fill(0)  # memory that is there, so that nothing but copying is timed
    calls = [partial(pass_on, share(worker).batches, rows[worker]) for worker in range(WORKERS)]
    return seconds_together(*calls)


def measure() -> list[Ratio]:
    """The ratios; target 3."""
    results = [load()]
    through, two, hogwild, one, passing = interleaved(
        live, raw(2, False), raw(2, True), raw(1, False), copies
    )
    results.append(ratio("scaling probe: ratings/s, two raw kernels / one", [2 * s for s in one], two))
    million = sum(len(share(worker).triples.value) for worker in range(WORKERS)) / 1e6
    for what, seconds in (("live", through), ("two raw kernels", two), ("Hogwild", hogwild)):
        results.append(Ratio(f"{what}: million ratings/s", *spread([million / s for s in seconds])))
    for name, other, least in (("two raw kernels", two, SHARE_OF_RAW), ("Hogwild", hogwild, TIMES_HOGWILD)):
        what = f"ratings/s, live parameter server / {name}"
        results.append(ratio(what, other, through, f">= {least}", -least))
    both = [a + b for a, b in zip(two, passing, strict=True)]
    results.append(ratio("limit of it: raw kernels and a message's copies / two raw kernels", two, both))
    return results

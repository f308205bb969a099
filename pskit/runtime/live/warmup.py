"""Everything compiled or loaded before time zero: a rehearsal in virtual time, with tables of the same types.

The first call of a compiled function takes hundreds of milliseconds in every process, even from a warm
cache. For the same reason a worker's way to its first wait (its share of the data, a plan of its batches)
lies before time zero: in the emulated cluster it takes no time.
"""

from collections.abc import Coroutine, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

from pskit.apps.calls import FAULTS
from pskit.core.layout import Layout, TableSpec
from pskit.core.policies import policy_class
from pskit.runtime.live.bells import AWAKE, announce, wants_to_know
from pskit.runtime.live.cards import occupy
from pskit.runtime.live.ring import Ring, RingReader, RingWriter, ring_bytes
from pskit.runtime.live.tables import begin_change, end_change, move_on
from pskit.runtime.live.transport import first_filled
from pskit.runtime.sim import Simulation
from pskit.runtime.sim.gated import GatedSimulation
from pskit.trace.recorder import Recorder

CLOCKS = 3


class _Rehearsal:
    """An application that does everything once, on one small table of each type."""

    def __init__(self, dtypes: Iterable[str]) -> None:
        self._dtypes = list(dtypes)

    def tables(self, cfg: Any) -> list[TableSpec]:
        return [TableSpec(dtype, 4, 2, dtype) for dtype in self._dtypes]

    def init(self, ctx: Any) -> None:
        pass

    async def work(self, ps: Any) -> None:
        tables = [ps.table(dtype) for dtype in self._dtypes]
        for _ in range(CLOCKS):
            int32, int64 = np.arange(4, dtype=np.int32), np.arange(4, dtype=np.int64)
            for ids in (int32, int64, int32, [1, 3], [3, 1]):  # twice: the first of a clock may be no hit
                for table, view in zip(tables, await ps.get(*((t, ids) for t in tables)), strict=True):
                    table.inc(ids, np.ones_like(view))
            await ps.compute(tuple, cost=1)
            await ps.clock()

    def objective(self, tables: Any) -> dict[str, float]:
        return {"loss": 1.0}


class Primed:
    """A worker's coroutine that may run up to its first command ahead of time.

    Parameters
    ----------
    work : coroutine
    """

    def __init__(self, work: Coroutine[Any, Any, None]) -> None:
        self._work = work
        self._first: Any = None
        self._failure: BaseException | None = None

    def prime(self) -> None:
        """Run up to the first command, or the end, or a failure: the first `send` gives it."""
        try:
            self._first = self._work.send(None)
        except FAULTS as failure:
            self._failure = failure

    def send(self, value: Any) -> Any:
        """Resume the coroutine; see `coroutine.send`."""
        first, failure, self._first, self._failure = self._first, self._failure, None, None
        if failure is not None:
            raise failure
        if first is not None:
            return first
        return self._work.send(value)

    def throw(self, error: BaseException) -> Any:
        """Raise in the coroutine; see `coroutine.throw`."""
        return self._work.throw(error)

    def close(self) -> None:
        """Give the coroutine up."""
        self._work.close()


def rehearse(policy: str, push: str | None, dtypes: Iterable[str], cache_rows: int = 0) -> None:
    """Run a policy on tables of these types, and put a record through a ring."""
    perform(_Rehearsal(dict.fromkeys(dtypes)), policy, push, cache_rows)

    ring = Ring(np.zeros(ring_bytes(1 << 10), np.uint8))
    RingWriter(ring).post(0, 8, lambda out: None)
    first_filled(ring.words, 0, len(ring.words), 1)
    RingReader(ring).take(lambda visible_at, data: None)
    announce(ring.words, 0, AWAKE)
    wants_to_know(ring.words, 0, 0)
    occupy(ring.words, 0, 0, 0)
    rows = np.zeros(1, np.int32)
    begin_change(ring.words, rows, 1)
    end_change(ring.words, rows, 1)
    move_on(ring.words)


def perform(app: Any, policy: str, push: str | None, cache_rows: int = 0, **app_keys: Any) -> None:
    """Run ``app``, with these keys of the section [app], with two workers and two shards."""
    gated = policy_class(policy).gated
    second = SimpleNamespace(model="constant", mean=10**9, floor=0)
    cfg = SimpleNamespace(
        ps=SimpleNamespace(
            policy=policy,
            slack=1,
            push=push,
            shards=2,
            cache_rows=0 if gated else cache_rows,
            v0=1.0,
            v_schedule="inverse-sqrt",
            vap_variant="aggregate",
        ),
        cluster=SimpleNamespace(clients=2, threads=1, placement="separate"),
        compute=SimpleNamespace(**vars(second), per_item=0, reversion=0.0, stragglers=(), pauses=()),
        network=SimpleNamespace(
            latency=second, bandwidth=None, loss=0.0, reorder=False, retransmit=1, links=(), staleness=None
        ),
        app=SimpleNamespace(**{"name": type(app).__name__} | app_keys),
        run=SimpleNamespace(seed=0, eval_every=1, diverge_factor=10.0),
        workers=2,
    )
    layout = Layout(app.tables(cfg), cfg.ps.shards)
    recorder = Recorder(layout, cfg.workers)
    simulation = GatedSimulation if gated else Simulation
    simulation(cfg, app, layout, recorder).run()
    recorder.finish()

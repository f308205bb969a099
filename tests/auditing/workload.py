"""A small application whose runs are worth auditing: every worker reads, adds and leaves at its own time."""

import os
import signal
import time

import numpy as np

from pskit import TableSpec

ROWS = {"counts": 7, "sums": 5}
LAST = 3
"""The clock that `Dying` worker 2 does not come out of."""


class Tally:
    """Integer and float tables; what a worker does follows from its own stream.

    ``cfg.app.options``: with ``uneven`` every third worker leaves half-way, and another third at once.
    """

    def tables(self, cfg):
        return [TableSpec("counts", ROWS["counts"], 2, "i8"), TableSpec("sums", ROWS["sums"], 3, "f4")]

    def init(self, ctx):
        ctx.tables["counts"][:] = np.arange(14).reshape(7, 2)
        ctx.tables["sums"][:] = 0.5

    async def work(self, ps):
        counts, sums, draw = ps.table("counts"), ps.table("sums"), ps.stream("rows")
        clocks = ps.cfg.app.clocks
        if ps.cfg.app.options.get("uneven"):
            clocks = (clocks, 0, clocks // 2)[ps.worker % 3]
        for _ in range(clocks):
            ids = draw.permutation(ROWS["counts"])[:4]
            await counts.get(ids)
            counts.inc(ids[:2], np.full((2, 2), 1 + ps.worker))
            if ps.clock_index % 2:
                a, b = await ps.get((counts, ids[2:]), (sums, [ps.worker % ROWS["sums"], 0, 3]))
                step = await ps.compute(
                    lambda a, b: b.sum(axis=0, keepdims=True) * np.float32(0.01), a, b, cost=3
                )
                sums.inc([3], step)
            else:
                await ps.compute(lambda: None, cost=1)
            if ps.clock_index % 3 == 2:
                await counts.get(np.arange(ROWS["counts"]))
            await ps.clock()
        if clocks % 2:  # work after the last clock()
            b = await sums.get([1])
            sums.inc([1], await ps.compute(np.full_like, b, 0.25, cost=1))
        elif ps.worker % 2:
            counts.inc([6], [[1, 1]])

    def objective(self, tables):
        return {"loss": 1.0 + float(tables["counts"].sum()) * 1e-9}


class Dying:
    """Every worker adds 1 to all rows; the process of worker 2 is killed in its clock `LAST`."""

    def tables(self, cfg):
        return [TableSpec("counts", 4, 1, "i8")]

    def init(self, ctx):
        pass

    async def work(self, ps):
        counts, ids = ps.table("counts"), np.arange(4)
        for clock in range(ps.cfg.app.clocks):
            await counts.get(ids)
            await ps.compute(die if (ps.worker, clock) == (2, LAST) else nothing, cost=1)
            counts.inc(ids, np.ones((4, 1), np.int64))
            await ps.clock()

    def objective(self, tables):
        return {"loss": 1.0}


def nothing():
    """A kernel."""


def die():
    """A kernel that the process does not survive, when the others have come as far as they can without it."""
    time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGKILL)

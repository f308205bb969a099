"""An application whose gradients are bounded: medians, by steps of one size along the signs."""

import math
import os
import signal

import numpy as np

from pskit.core.layout import TableSpec


class Medians:
    """Minimises the mean of |x_i - y_i| over samples y: every entry of a gradient is -1, 0 or 1.

    ``options``: ``dim``; ``rows`` to read and change some rows only; ``unknown`` to say nothing of its
    gradients; ``twice`` for a second table, changed by a second INC.
    """

    def tables(self, cfg):
        dim = cfg.app.options.get("dim", 5)
        names = ["x", "z"] if cfg.app.options.get("twice") else ["x"]
        return [TableSpec(name, dim, 2, "f8") for name in names]

    def init(self, ctx):
        for table in ctx.tables.values():
            table[:] = 0.25

    async def work(self, ps):
        options = ps.cfg.app.options
        tables = [ps.table(name) for name in (["x", "z"] if options.get("twice") else ["x"])]
        stream, dim = ps.stream("samples"), tables[0].rows
        for clock in range(ps.cfg.app.clocks):
            ids = stream.permutation(dim)[: options.get("rows", dim)]
            views = await ps.get(*((table, ids) for table in tables))
            size = self.step_at(ps.cfg, ps.worker, clock, ps.start_index)
            for table, view in zip(tables, views, strict=True):
                sample = 1 + stream.normal(view.size).reshape(view.shape)
                delta = await ps.compute(along_the_sign, view, sample, size, cost=1)
                table.inc(ids, delta)
            await ps.clock()

    def objective(self, tables):
        return {"loss": float(sum(np.abs(table - 1).mean() for table in tables.values()))}

    def lipschitz_inf(self, cfg):
        return None if cfg.app.options.get("unknown") else 1.0

    def step_at(self, cfg, worker, clock, start):
        return cfg.app.step / math.sqrt(start)


class Doomed(Medians):
    """Worker 2 is killed, with its process, once it has started its second computation."""

    async def work(self, ps):
        x = ps.table("x")
        for clock in range(ps.cfg.app.clocks):
            view = await x.get([0])
            if ps.worker == 2 and clock == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            x.inc([0], await ps.compute(along_the_sign, view, 1.0, 0.01))
            await ps.clock()


def along_the_sign(view, sample, size):
    return -size * np.sign(view - sample)

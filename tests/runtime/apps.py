"""Small applications that show what the runtime does."""

import numpy as np

from pskit.core.layout import TableSpec

MOST_CLOCKS = 20
"""Digits of an entry of `Digits`' table."""


class Digits:
    """Integers that say which updates are in: worker w at clock c adds 8**c to column w of some rows.

    ``options``: ``rows``; ``clocks``, a list with the number of clocks of each worker (0: it leaves at
    once); ``tail`` for updates after the last clock().
    """

    def tables(self, cfg):
        return [TableSpec("n", cfg.app.options.get("rows", 5), cfg.workers, "i8")]

    def init(self, ctx):
        pass

    async def work(self, ps):
        options = ps.cfg.app.options
        clocks = options.get("clocks", [ps.cfg.app.clocks] * ps.workers)[ps.worker]
        assert clocks < MOST_CLOCKS
        table, stream = ps.table("n"), ps.stream("rows")
        for clock in range(clocks):
            assert ps.clock_index == clock
            await table.get(stream.permutation(table.rows)[: 1 + clock % table.rows])
            await ps.compute(tuple, cost=clock % 3)
            self.add(ps, table, stream, clock)
            await table.get(stream.permutation(table.rows)[:2])
            self.add(ps, table, stream, clock)
            await ps.clock()
        if options.get("tail") and clocks:
            self.add(ps, table, stream, clocks)

    def add(self, ps, table, stream, clock):
        rows = stream.permutation(table.rows)[: 1 + (clock + ps.worker) % table.rows]
        delta = np.zeros((len(rows), table.cols), np.int64)
        delta[:, ps.worker] = 8**clock
        table.inc(rows, delta)

    def objective(self, tables):
        return {"loss": 1.0, "sum": float(np.bitwise_xor.reduce(tables["n"], axis=None))}


class Drift:
    """Floats whose last bits depend on the order of additions, and updates that depend on what was read."""

    def tables(self, cfg):
        rows = cfg.app.options.get("rows", 6)
        return [TableSpec("x", rows, 3, "f4"), TableSpec("y", rows + 1, 2, "f8")]

    def init(self, ctx):
        for name, table in ctx.tables.items():
            table[:] = ctx.stream(name).normal(table.size).reshape(table.shape)

    async def work(self, ps):
        x, y = ps.table("x"), ps.table("y")
        stream = ps.stream("work")
        for _ in range(ps.cfg.app.clocks):
            ids = stream.permutation(x.rows)[:3]
            a, b = await ps.get((x, ids), (y, ids + 1))
            noise = stream.normal(3).reshape(3, 1)
            da, db = await ps.compute(drift, a, b, noise, cost=len(ids))
            x.inc(ids, da)
            y.inc(ids + 1, db)
            await ps.clock()

    def objective(self, tables):
        return {"loss": float(np.sum(tables["x"] ** 2, dtype=np.float64))}


def drift(a, b, noise):
    """Updates towards zero with noise, all of them inexact."""
    f4 = noise.astype(np.float32)
    return (f4 - a) / np.float32(3), (noise * a[:, :2] - b) / 7


class Scripted:
    """Runs the coroutine function ``script(ps)``; one integer and one float table of 3 x 1."""

    def __init__(self, script, loss=lambda tables: 1.0):
        self.script, self.loss = script, loss

    def tables(self, cfg):
        return [TableSpec("n", 3, 1, "i8"), TableSpec("x", 3, 1, "f8")]

    def init(self, ctx):
        ctx.tables["x"][:] = 1

    async def work(self, ps):
        await self.script(ps)

    def objective(self, tables):
        return {"loss": self.loss(tables)}

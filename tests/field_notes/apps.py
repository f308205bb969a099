"""Applications that meet the faults: each checks what its own worker sees."""

import os

import numpy as np

from pskit import TableSpec
from pskit.trace.machine import THREAD_VARIABLES


class Records:
    """Handles records, one per clock: worker w takes the records w, w + P, w + 2 P, ...

    Every record is counted once in the table ``seen``. ``options``: ``records``; with ``tail`` the clock of
    a worker's last record is never ended.
    """

    def tables(self, cfg):
        return [TableSpec("seen", max(1, cfg.app.options["records"]), 1, "i8")]

    def init(self, ctx):
        pass

    async def work(self, ps):
        options = ps.cfg.app.options
        seen = ps.table("seen")
        mine = range(ps.worker, options["records"], ps.workers)
        for record in mine:
            await seen.get([0, record])
            await ps.compute(tuple, cost=1)
            seen.inc([record], [[1]])
            if not (options.get("tail") and record == mine[-1]):
                await ps.clock()

    def objective(self, tables):
        return {"loss": 1.0}


class Rounds:
    """Every worker adds 1 to its own column in every clock, and checks what the others' columns hold.

    No worker's column may lack a clock that the slack promises, nor, under BSP, show one that is not over.
    Its own column is always complete.
    """

    def tables(self, cfg):
        return [TableSpec("n", 4, cfg.workers, "i8")]

    def init(self, ctx):
        pass

    async def work(self, ps):
        table, cfg, one = ps.table("n"), ps.cfg.ps, np.zeros((4, ps.workers), np.int64)
        one[:, ps.worker] = 1
        others = np.arange(ps.workers) != ps.worker
        for clock in range(ps.cfg.app.clocks):
            for own in (clock, clock + 1):  # before and after its INC
                seen = await table.get(range(4))
                assert (seen[:, ps.worker] == own).all(), "own updates, each exactly once"
                if cfg.slack is not None:
                    assert (seen[:, others] >= clock - cfg.slack).all(), "the guarantee"
                if cfg.policy == "bsp":
                    assert (seen[:, others] == clock).all(), "no round is passed before its time"
                if own == clock:
                    await ps.compute(tuple)
                    table.inc(range(4), one)
            await ps.clock()

    def objective(self, tables):
        return {"loss": 1.0}


class Single:
    """Reads four rows in every clock; with the option ``single`` maths must have one thread where it runs."""

    def tables(self, cfg):
        return [TableSpec("n", 4, 1, "i8")]

    def init(self, ctx):
        pass

    async def work(self, ps):
        table = ps.table("n")
        for _ in range(ps.cfg.app.clocks):
            await table.get(range(4))
            if ps.cfg.app.options.get("single"):
                asked = {name: os.environ.get(name) for name in THREAD_VARIABLES}
                assert set(asked.values()) == {"1"}, asked
            await ps.compute(tuple)
            table.inc([0], [[1]])
            await ps.clock()

    def objective(self, tables):
        return {"loss": 1.0}


class Favourites:
    """Reads row 0 three times in every clock, and row 1 in every fourth clock only."""

    def tables(self, cfg):
        return [TableSpec("n", 2, 1, "i8")]

    def init(self, ctx):
        pass

    async def work(self, ps):
        table = ps.table("n")
        for clock in range(ps.cfg.app.clocks):
            for _ in range(3):
                await table.get([0])
                await ps.compute(tuple)
            if clock % 4 == 0:
                await table.get([1])
                await ps.compute(tuple)
                table.inc([1], [[1]])
            table.inc([0], [[1]])
            await ps.clock()

    def objective(self, tables):
        return {"loss": 1.0}


class AddsFirst:
    """Adds to rows that nobody ever filled or read, and reads them only afterwards."""

    def tables(self, cfg):
        return [TableSpec("x", 3, 2, "f8"), TableSpec("n", 3, 2, "i8")]

    def init(self, ctx):
        pass

    async def work(self, ps):
        x, n = ps.table("x"), ps.table("n")
        for clock in range(ps.cfg.app.clocks):
            for table in (x, n):
                table.inc([clock % 3], [[1, ps.worker]])
            await ps.compute(tuple)
            await ps.clock()
        seen = await x.get(range(3))
        assert seen[:, 0].sum() >= ps.cfg.app.clocks, "at least its own"

    def objective(self, tables):
        return {"loss": 1.0}


class WideRow:
    """One table of a single row; ``options``: ``columns``."""

    def tables(self, cfg):
        return [TableSpec("x", 1, cfg.app.options["columns"], "f4")]

    def init(self, ctx):
        pass

    async def work(self, ps):
        x = ps.table("x")
        for _ in range(ps.cfg.app.clocks):
            row = await x.get([0])
            x.inc([0], await ps.compute(np.ones_like, row))
            await ps.clock()

    def objective(self, tables):
        return {"loss": 1.0}


class Chances:
    """Draws a number per clock and puts it into its own row; nobody reads."""

    def tables(self, cfg):
        return [TableSpec("x", 8, 1, "f8")]

    def init(self, ctx):
        ctx.tables["x"][:] = ctx.stream("start").normal(8).reshape(8, 1)

    async def work(self, ps):
        x, draw = ps.table("x"), ps.stream("numbers")
        for _ in range(ps.cfg.app.clocks):
            await ps.compute(tuple)
            x.inc([ps.worker], draw.normal(1).reshape(1, 1))
            await ps.clock()

    def objective(self, tables):
        return {"loss": 1.0}

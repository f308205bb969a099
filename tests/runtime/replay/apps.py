"""Applications that are hard to replay, each for one reason."""

import os
import time

import numpy as np

from pskit.core.layout import TableSpec
from tests.runtime.apps import Drift

ROWS, COLS = 64, 64


class Unrepeatable(Drift):
    """Adds what nobody can draw again."""

    async def work(self, ps):
        x = ps.table("x")
        for _ in range(ps.cfg.app.clocks):
            await x.get([0])
            await ps.compute(tuple, cost=1)
            x.inc([0], np.frombuffer(os.urandom(3), np.uint8).reshape(1, 3).astype(np.float32))
            await ps.clock()


class Sleeper:
    """Worker 0 gets ahead, then its process is busy for a while: pushes to it find no room in their ring."""

    def tables(self, cfg):
        return [TableSpec("x", ROWS, COLS, "f8")]

    def init(self, ctx):
        pass

    async def work(self, ps):
        x, ids = ps.table("x"), np.arange(ROWS)
        for clock in range(ps.cfg.app.clocks):
            view = await x.get(ids)
            kernel = sleep if ps.worker == 0 and clock == 20 else np.negative
            step = await ps.compute(kernel, view, cost=1)
            x.inc(ids, 0.01 * step + ps.worker)
            await ps.clock()

    def objective(self, tables):
        return {"loss": float(np.abs(tables["x"]).sum())}


def sleep(x):
    """-x, after a while."""
    time.sleep(0.5)
    return -x

"""Applications that are hard to replay, each for one reason."""

import os
from functools import partial

import numpy as np

from pskit.core.layout import TableSpec
from tests.runtime.apps import Drift
from tests.runtime.live.apps import tell, wait_for

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
    """Worker 0 gets ahead and is busy until the others have come up: pushes to it find no room in their ring.

    ``options``: ``folder``, where they tell each other.
    """

    AHEAD = 20

    def tables(self, cfg):
        return [TableSpec("x", ROWS, COLS, "f8")]

    def init(self, ctx):
        pass

    async def work(self, ps):
        x, ids = ps.table("x"), np.arange(ROWS)
        options = ps.cfg.app.options
        for clock in range(ps.cfg.app.clocks):
            view, awaited = await x.get(ids), []
            if ps.worker == 0 and clock == self.AHEAD:
                tell(options, "ahead")
                awaited = [f"{options['folder']}/over.{worker}" for worker in range(1, ps.workers)]
            elif ps.worker and clock == 0:
                awaited = [f"{options['folder']}/ahead"]
            step = await ps.compute(partial(negative_after, awaited), view, cost=1)
            x.inc(ids, 0.01 * step + ps.worker)
            await ps.clock()
            if clock == self.AHEAD:
                tell(options, f"over.{ps.worker}")

    def objective(self, tables):
        return {"loss": float(np.abs(tables["x"]).sum())}


def negative_after(names, x):
    """-x, once there are files of these names."""
    wait_for(names)
    return -x

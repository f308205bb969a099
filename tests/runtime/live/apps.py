"""Applications that tell where they run, so that a test can do something to that process."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np

from pskit.core.layout import TableSpec
from pskit.core.policies.ssp import SSP
from pskit.errors import InputError


class Told:
    """Adds 1 to every row at every clock.

    ``options``: ``folder``, where a worker leaves its process id under ``worker-N`` at its clock ``tell``
    (default 2), and the server under ``server``; ``fail``, a worker that fails at that clock, and ``how``:
    ``raise``, ``refuse``, ``nan`` or ``exit``; ``slow``, real seconds that every kernel takes.
    """

    def tables(self, cfg):
        return [TableSpec("n", 4, 2, "i8"), TableSpec("x", 4, 2, "f4")]

    def init(self, ctx):
        ctx.tables["x"][:] = 1

    async def work(self, ps):
        options = ps.cfg.app.options
        n, x = ps.table("n"), ps.table("x")
        ids = np.arange(4)
        for clock in range(ps.cfg.app.clocks):
            await ps.get((n, ids), (x, ids))
            if clock == options.get("tell", 2):
                tell(options, f"worker-{ps.worker}")
            await ps.compute(kernel, options.get("slow", 0.0))
            if clock == options.get("tell", 2) and ps.worker == options.get("fail"):
                fail(options["how"], x)
            n.inc(ids, np.ones((4, 2), np.int64))
            x.inc(ids, np.full((4, 2), 0.5, np.float32))
            await ps.clock()

    def objective(self, tables):
        return {"loss": 1.0, "sum": float(tables["n"].sum())}


class TellsServer(Told):
    """Also leaves the server's process id, once an update has come."""

    def init(self, ctx):
        super().init(ctx)
        self._options = ctx.cfg.app.options

    def objective(self, tables):
        if tables["n"].any():
            tell(self._options, "server")
        return {"loss": 1.0}


class OneEndsEarly(Told):
    """The worker ``short`` tells of itself at once, and leaves after its first clock."""

    async def work(self, ps):
        options = ps.cfg.app.options
        if ps.worker != options["short"]:
            await super().work(ps)
            return
        tell(options, f"worker-{ps.worker}")
        ps.table("n").inc(np.arange(4), np.ones((4, 2), np.int64))
        await ps.clock()

    def objective(self, tables):
        return {"loss": 1.0}


class Wide:
    """Adds 1 to every entry of long rows at every clock.

    ``options``: ``rows``, ``cols``; ``at``: worker 0 computes at this clock until the others have finished it
    too, who only begin then; they tell each other in ``folder``;
    ``rush``: no worker reads or computes, so that all its clocks are over at once, and worker 0 stops the
    server for a while, which leaves its process id in ``folder``.
    """

    def tables(self, cfg):
        options = cfg.app.options
        return [TableSpec("n", options["rows"], options["cols"], "i8")]

    def init(self, ctx):
        tell(ctx.cfg.app.options, "server")

    async def work(self, ps):
        options, n = ps.cfg.app.options, ps.table("n")
        ids = np.arange(n.rows)
        ones = np.ones((n.rows, n.cols), np.int64)
        for clock in range(ps.cfg.app.clocks):
            if options.get("rush") and ps.worker == 0 and clock == 1:
                stop_for_a_while(int((Path(options["folder"]) / "server").read_text()))
            if not options.get("rush"):
                await n.get(ids)
                await ps.compute(wait_for, [*self.awaited(ps, clock)])
            n.inc(ids, ones)
            await ps.clock()
            if clock == options.get("at"):
                tell(options, f"over.{ps.worker}")

    def awaited(self, ps, clock):
        """Files without which the computation of ``clock`` is not over."""
        options = ps.cfg.app.options
        folder, at = options.get("folder"), options.get("at")
        if ps.worker and at is not None and clock == 0:
            yield f"{folder}/dozing"
        elif ps.worker == 0 and clock == at:
            tell(options, "dozing")
            yield from (f"{folder}/over.{worker}" for worker in range(1, ps.workers))

    def objective(self, tables):
        return {"loss": 1.0}


class Heavy(Told):
    """Tables that take a while to save, and are never touched."""

    def tables(self, cfg):
        return [*super().tables(cfg), TableSpec("heavy", 200_000, 8, "f8")]


class Explodes(Told):
    """Its loss is not finite after some clocks."""

    def objective(self, tables):
        return {"loss": 1.0 if tables["n"].sum() < 50 else float("inf")}


class Excursion(Told):
    """Its loss is far above the first one for a while."""

    def objective(self, tables):
        return {"loss": 100.0 if 20 < tables["n"].sum() < 120 else 1.0}


class Never(SSP):
    """A policy whose shards answer nobody that waits for clock 3."""

    name = "never"

    def on_rise(self, shard):
        if shard.clock.minimum < 3:
            shard.release()


def tell(options, name):
    if "folder" in options:
        path = Path(options["folder"]) / name
        new = path.with_name(f"{name}.new")
        new.write_text(str(os.getpid()))
        new.rename(path)


def wait_for(names):
    """Compute until there are files of these names."""
    until = time.monotonic() + 60
    while not all(map(os.path.exists, names)):
        if time.monotonic() > until:
            raise TimeoutError(f"not all of {names} have come")
        time.sleep(0.005)


def fail(how, table):
    if how == "raise":
        raise ZeroDivisionError("a kernel went wrong")
    if how == "refuse":
        raise InputError("app.options: this will not do")
    if how == "exit":
        os._exit(7)
    table.inc([0], np.full((1, 2), np.nan))


def stop_for_a_while(pid):
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(0.5, os.kill, (pid, signal.SIGCONT)).start()


def kernel(seconds):
    if seconds:
        time.sleep(seconds)

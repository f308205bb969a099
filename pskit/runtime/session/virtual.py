"""A session in virtual time: the simulation, which goes on only while a call waits for something."""

from collections.abc import Coroutine
from typing import Any

from pskit.core.layout import Layout
from pskit.errors import Blocked, InputError
from pskit.runtime.base import Execution
from pskit.runtime.interrupts import BrokenOff, between_events
from pskit.runtime.recording import attach_logs
from pskit.runtime.session.puppets import SECOND, Hosted
from pskit.runtime.sim.simulation import Simulation
from pskit.runtime.workers import Driver
from pskit.trace.recorder import Recorder

SHOWN = 4
"""Workers that a message names, at most."""


class VirtualCluster:
    """The cluster of a session in virtual time.

    Parameters
    ----------
    cfg : Config
    app : Hosted
    layout : Layout
    """

    def __init__(self, cfg: Any, app: Hosted, layout: Layout) -> None:
        self._app = app
        recorder = Recorder(layout, cfg.workers, cfg.run.trace, cfg.run.seed)
        attach_logs(recorder, cfg, app, layout)
        self._simulation = Simulation(cfg, app, layout, recorder)
        try:
            self._simulation.begin()
            if self._simulation.evaluation.stopped:
                raise InputError("the loss of the initial tables is not finite: there is nothing to do")
        except BaseException:  # Ctrl-C, too, may come while a worker goes on to its first wait
            self.close()
            raise

    def puppet(self, worker: int) -> Any:
        """The `Puppet` of ``worker``."""
        return self._app.puppets[worker]

    @property
    def now(self) -> int:
        """Emulated time, ns."""
        return self._simulation.queue.now

    def clocks(self) -> list[int]:
        """Finished clocks of every worker."""
        return [driver.clock for driver in self._simulation.drivers]

    def call(self, worker: int, call: Coroutine[Any, Any, Any]) -> Any:
        """Let ``worker`` do ``call``, and time go on until it returns.

        Raises
        ------
        Blocked
            When it never would; it is given up.
        KeyboardInterrupt
            Between two events; the call is given up. A second one is a `BrokenOff`: then only `close` works.
        """
        puppet, simulation = self._app.puppets[worker], self._simulation
        puppet.take(call)
        try:
            with between_events(SECOND) as interrupted:
                simulation.drivers[worker].resume()
                while puppet.busy and not interrupted:
                    if not simulation.step():
                        raise Blocked(self._told(worker))
            if interrupted:
                raise KeyboardInterrupt
        except BrokenOff:
            raise  # in the middle of an event: nothing can be given up in order
        except BaseException:
            if puppet.busy:
                puppet.drop()
                simulation.drivers[worker].give_up()
            raise
        return puppet.answer()

    def sleep(self, duration: int) -> None:
        """Let ``duration`` ns go by."""
        queue, over = self._simulation.queue, list[bool]()
        queue.schedule(queue.now + duration, lambda: over.append(True))
        with between_events(SECOND) as interrupted:
            while not over and not interrupted:
                self._simulation.step()
        if interrupted:
            raise KeyboardInterrupt

    def leave(self, worker: int) -> None:
        """The work of ``worker`` is done."""
        self._app.puppets[worker].leave()
        self._simulation.drivers[worker].resume()

    def finish(self, to_the_end: bool) -> Execution:
        """What was recorded, after everything ``to_the_end`` has happened, or as it is now."""
        simulation = self._simulation
        if to_the_end:
            while simulation.step():
                pass
        ended = not any(len(shard.clock) for shard in simulation.shards)
        if ended:
            simulation.conclude()
        outcome = simulation.outcome(None if ended else "interrupted")
        return Execution(simulation.recorder, outcome, simulation.facts())

    def close(self) -> None:
        """Give up all workers."""
        for driver in self._simulation.drivers:
            driver.close()
        self._simulation.close()

    # -- who waits for whom ------------------------------------------------------------------------

    def _told(self, worker: int) -> str:
        simulation = self._simulation
        driver = simulation.drivers[worker]
        need = simulation.clients[worker // simulation.cfg.cluster.threads].policy.need(driver.clock)
        behind = [d for d in simulation.drivers if not d.done and d.clock < need and d is not driver]
        who = "; ".join(self._behind(d) for d in behind[:SHOWN])
        more = f"; and {len(behind) - SHOWN} more" if len(behind) > SHOWN else ""
        what = simulation.waits_for(driver)
        return (
            f"this GET would never return. {what}, and nothing is under way that could bring it: {who}{more}"
        )

    def _behind(self, driver: Driver) -> str:
        if driver.worker in self._app.puppets:
            return (
                f"worker {driver.worker}, in your hands, is at clock {driver.clock} "
                f"(ps.worker({driver.worker}).clock() ends it)"
            )
        return f"of the application {self._simulation.waits_for(driver)}"

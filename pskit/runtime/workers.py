"""Drives the applications' coroutines: what a worker does between two waits takes no emulated time."""

from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any, NamedTuple

from pskit.apps.base import Clock, Compute, Get, Worker
from pskit.apps.calls import FAULTS, fault
from pskit.core.client import Client, NonFiniteUpdate
from pskit.core.gated import Misuse
from pskit.core.messages import Effect, ProtocolViolation, Read
from pskit.emulation.compute import ComputeModel
from pskit.errors import AppError, InputError, WrongCall
from pskit.runtime.events import FINISH, LATEST, EventQueue, too_late
from pskit.runtime.hits import hits
from pskit.runtime.recording import record_unit
from pskit.trace.recorder import Recorder

NO_FAULTS = (InputError, AppError, NonFiniteUpdate, ProtocolViolation)
"""What may come out of user code and says itself what it is."""
OF_THE_CALLER = (WrongCall, Misuse)
"""Of these, what is the application's fault all the same."""
POOL_FROM_COST = 20_000
"""Items of work from which a kernel is worth handing to the thread pool; a matter of speed only."""


class Pause(NamedTuple):
    """Command: nothing, until the worker is resumed from outside; see `pskit.runtime.session`."""


PAUSE = Pause()


class Driver:
    """One worker: its coroutine, its compute model, and the times of its current clock.

    Parameters
    ----------
    worker : Worker
    work : coroutine
        The application's ``work(ps)``.
    client : Client
    compute : ComputeModel
    queue : EventQueue
    recorder : Recorder
    pool : Executor or None
        Where large kernels run; their result enters at the finish event, so this changes no result.
    carry_out : callable
        Takes the effects of a core call of this client.
    """

    __slots__ = (
        "_carry_out",
        "_client",
        "_compute",
        "_first",
        "_pool",
        "_ps",
        "_queue",
        "_recorder",
        "_t_begin",
        "_t_compute",
        "_t_inc",
        "_t_wait",
        "_work",
        "asked_at",
        "clock",
        "done",
        "waiting_for",
        "worker",
    )

    def __init__(
        self,
        worker: Worker,
        work: Coroutine[Any, Any, None],
        client: Client,
        compute: ComputeModel,
        queue: EventQueue,
        recorder: Recorder,
        pool: Executor | None,
        carry_out: Callable[[int, list[Effect]], None],
    ) -> None:
        self.worker, self._work, self._client, self._compute = worker.worker, work, client, compute
        self._ps = worker
        worker.steps = recorder.steps
        worker.serve_at_once(hits(worker.worker, client, queue, recorder))
        self._queue, self._recorder, self._pool, self._carry_out = queue, recorder, pool, carry_out
        self.clock = 0
        self.done = False
        self.waiting_for: Get | None = None
        self._t_begin = self._t_compute = self._t_wait = 0
        self.asked_at = 0
        self._t_inc = -1
        self._first = True

    def inc_made(self) -> None:
        """Remember when the open update unit got its first INC."""
        if self._t_inc < 0:
            self._t_inc = self._queue.now

    def number(self, start: int) -> None:
        """The arbiter has numbered the computation that is about to start."""
        self._ps.start_index = start

    def read_done(self, read: Read) -> None:
        """A GET that had to wait is complete: go on."""
        now = self._queue.now
        self._t_wait += now - self.asked_at
        self.waiting_for = None
        self._record(read, now - self.asked_at)
        self.resume(read)

    def finished(self, payload: "tuple[int, Any]") -> None:
        """A computation reached its finish time: go on with its result."""
        duration, result = payload
        self._t_compute += duration
        if isinstance(result, Future):
            try:
                result = result.result()
            except NO_FAULTS:
                raise
            except FAULTS as error:
                raise self._fault("a compute kernel", error) from error
        self.resume(result)

    def resume(self, value: Any = None) -> None:
        """Run the coroutine until it has to wait for a message or a computation.

        Raises
        ------
        AppError
            On a fault of the application, in ``work`` or in a kernel.
        InputError
            When a computation would end after the end of emulated time.
        """
        while True:
            try:
                command = self._work.send(value)
            except StopIteration:
                self._leave()
                return
            except OF_THE_CALLER as error:
                raise self._fault("work()", error) from error
            except NO_FAULTS:
                raise
            except FAULTS as error:
                raise self._fault("work()", error) from error
            kind = type(command)
            if kind is Get:
                try:
                    effects = self._client.get(self.worker, command.rows)
                except Misuse as error:
                    with suppress(*FAULTS):
                        self._work.throw(error)  # for the line that asks
                    raise self._fault("work()", error) from error
                if effects and type(effects[0]) is Read:
                    value = effects[0]
                    self._record(value, 0)
                    continue
                self.asked_at = self._queue.now
                self.waiting_for = command
                self._carry_out(self._client.client, effects)
                return
            if kind is Compute:
                self._start(command)
                return
            if kind is Clock:
                self._end_clock()
                value = None
                continue
            if kind is Pause:
                return
            raise self._fault("work()", f"it awaited a {kind.__name__}; await only what ps offers")

    def give_up(self) -> None:
        """Give up the GET that the worker waits in; the copies that were asked for come all the same."""
        self.waiting_for = None
        self._client.give_up(self.worker)

    def close(self) -> None:
        """Give up the coroutine, wherever it is; a run may end before it has even started.

        The run's outcome, or the error that ended it, stands whatever the coroutine does in its ``finally``.
        """
        with suppress(*FAULTS):
            self._work.close()

    def _start(self, command: Compute) -> None:
        now = self._queue.now
        try:
            duration = self._compute.duration(now, self.clock, command.cost, self._first)
        except OverflowError:  # a time so long that not even a float holds it
            duration = LATEST + 1
        self._check_end(now + duration)
        self._first = False
        self._queue.add(now + duration, FINISH, self.worker, self.worker, (duration, self._perform(command)))

    def _check_end(self, end: int) -> None:
        if end > LATEST:
            raise too_late(f"a computation of worker {self.worker} at clock {self.clock}", "[compute]")

    def _perform(self, command: Compute) -> Any:
        """Run the kernel: its result, or the future of it."""
        if self._pool is not None and command.cost >= POOL_FROM_COST:
            return self._pool.submit(command.fn, *command.arrays)
        try:
            return command.fn(*command.arrays)
        except NO_FAULTS:
            raise
        except FAULTS as error:
            raise self._fault("a compute kernel", error) from error

    def _end_clock(self) -> None:
        now = self._queue.now
        effects = self._client.clock(self.worker, self._first_inc(), now)
        if self._recorder.rows is not None:
            record_unit(self._recorder.rows, effects)
        self._recorder.clock(self.worker, self.clock, self._t_begin, now, self._t_compute, self._t_wait)
        self.clock += 1
        self._t_begin, self._t_compute, self._t_wait, self._t_inc, self._first = now, 0, 0, -1, True
        self._carry_out(self._client.client, effects)

    def _leave(self) -> None:
        self.done = True
        effects = self._client.leave(self.worker, self._first_inc(), self._queue.now)
        if self._recorder.rows is not None:
            record_unit(self._recorder.rows, effects)
        self._carry_out(self._client.client, effects)

    def _fault(self, what: str, error: BaseException | str) -> AppError:
        return fault(self._ps.cfg.app.name, what, error, self.worker, self.clock)

    def _first_inc(self) -> int:
        """Time of the open unit's first INC, or now when it has none."""
        return self._t_inc if self._t_inc >= 0 else self._queue.now

    def _record(self, read: Read, waited: int) -> None:
        self._recorder.read(
            self._queue.now, read.worker, read.clock, read.rows, read.version, read.own_from, read.own_upto,
            read.age, read.hit, waited,
        )  # fmt: skip
        steps = self._recorder.steps
        if steps is not None:
            steps.view(self._queue.now, read.worker, read.clock, read.rows, read.views)

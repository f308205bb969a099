"""What an application is, and the parameter server as it sees it.

An application is a class with four methods (`Application`). ``work`` is a coroutine that a runtime drives
by hand: it yields `Get`, `Compute` and `Clock` commands and is resumed with their results. No event loop
is involved, and the same class runs on every runtime.
"""

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pskit.core.kernels import ascending_within
from pskit.core.layout import Layout, TableSpec
from pskit.errors import WrongCall

Array = npt.NDArray[Any]


class Get(NamedTuple):
    """Command: wait until every one of these global rows (ascending, distinct) may be read."""

    rows: npt.NDArray[np.int32]

    def __await__(self) -> Generator["Get", Any, Any]:
        return (yield self)


class Compute(NamedTuple):
    """Command: run ``fn(*arrays)``; the emulated time depends on ``cost``."""

    fn: Callable[..., Any]
    arrays: tuple[Any, ...]
    cost: float

    def __await__(self) -> Generator["Compute", Any, Any]:
        return (yield self)


class Clock(NamedTuple):
    """Command: end this worker's clock."""

    def __await__(self) -> Generator["Clock", Any, Any]:
        return (yield self)


class StepLog(Protocol):
    """Where a run that records gradients puts them."""

    def step(self, worker: int, clock: int, size: float, gradient: Array, value: float) -> None:
        """Take down one step of a worker."""


class Port(Protocol):
    """What a runtime hands to its workers for calls that do not wait."""

    def inc(self, worker: int, table: int, rows: npt.NDArray[np.int32], delta: Array) -> None:
        """Add to the worker's open update unit."""

    def stream(self, *key: int | str) -> Any:
        """A seeded stream of its own for ``key``."""


class AtOnce(Protocol):
    """What a runtime may have for GETs that need not wait: it serves and records them within the call."""

    def table(self, index: int, ids: Any, first: int = 0, last: bool = True) -> Array | None:
        """Rows ``ids`` of table number ``index``: a (n, cols) copy, or None if the GET must go its usual way.

        A GET of several tables is a call for each, in ascending order; ``first`` counts the rows of the calls
        before, and with the ``last`` one the GET has happened. Nothing has if one of them gave None.
        """


class Table:
    """A worker's handle on one table.

    Attributes
    ----------
    name : str
    rows, cols : int

    Notes
    -----
    A table of integers is exact as long as no entry, and no sum of updates to it, leaves the range of its
    dtype; beyond that it wraps around as NumPy's integers do, and nothing tells.
    """

    __slots__ = ("_at_once", "_dtype", "_offset", "_port", "_worker", "cols", "index", "name", "rows")

    def __init__(self, port: Port, worker: int, layout: Layout, index: int) -> None:
        spec = layout.tables[index]
        self._port, self._worker, self.index = port, worker, index
        self.name, self.rows, self.cols = spec.name, spec.rows, spec.cols
        self._offset = np.int32(layout.offsets[index])
        self._dtype = layout.dtypes[index]
        self._at_once: AtOnce | None = None

    async def get(self, ids: npt.ArrayLike) -> Array:
        """Read rows ``ids`` (n,) int, in any order: a (n, cols) copy that is the caller's own."""
        if self._at_once is not None:
            view = self._at_once.table(self.index, ids)
            if view is not None:
                return view
        rows, inverse = self.global_rows(ids)
        return self.rows_of(await Get(rows) if len(rows) else None, 0, inverse)

    def inc(self, ids: npt.ArrayLike, delta: npt.ArrayLike) -> None:
        """Add ``delta`` (n, cols) to rows ``ids`` (n,); seen at once by this worker's next GET.

        Sent at clock(); several INCs of a clock to one row are added up first.

        Raises
        ------
        WrongCall
            On ids out of range, or a delta of another shape or with values that the table cannot hold.
        """
        rows, inverse = self.global_rows(ids)
        values = self._values(delta)
        if values.shape != (len(rows) if inverse is None else len(inverse), self.cols):
            raise WrongCall(
                f"table {self.name!r}: INC of {len(rows) if inverse is None else len(inverse)} rows needs a "
                f"delta of shape (n, {self.cols}), got {values.shape}"
            )
        if inverse is not None:
            summed = np.zeros((len(rows), self.cols), self._dtype)
            np.add.at(summed, inverse, values)
            values = summed
        self._port.inc(self._worker, self.index, rows, values)

    def _values(self, delta: npt.ArrayLike) -> Array:
        """``delta`` in the table's dtype; nothing is cut or wrapped in silence."""
        try:
            given = np.asarray(delta)
        except ValueError:  # no such array can be
            given = np.empty(0, object)
        if given.dtype == self._dtype:
            return given
        fits = np.can_cast(given.dtype, self._dtype, "same_kind")
        values: Array = given.astype(self._dtype) if fits else given
        wrapped = values.dtype.kind == "i" and not np.array_equal(values, given)
        if wrapped or not fits:
            if given.dtype == object:
                raise WrongCall(
                    f"table {self.name!r}: an INC adds numbers, got {delta!r:.60}; results of get() and "
                    "compute() come by `await`"
                )
            raise WrongCall(
                f"table {self.name!r} holds {self._dtype}: an INC of {given.dtype} values would be "
                f"{'wrapped' if wrapped else 'cut'}"
            )
        return values

    def rows_of(self, read: Any, index: int, inverse: npt.NDArray[np.intp] | None) -> Array:
        """View number ``index`` of a finished GET (None: no rows of this table), in the order asked for."""
        if read is None:
            return np.empty((0, self.cols), self._dtype)
        view: Array = read.views[index]
        return view if inverse is None else view[inverse]

    def global_rows(self, ids: npt.ArrayLike) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.intp] | None]:
        """Global rows of ``ids``, ascending and distinct, and how to undo that (None when it was so)."""
        local = np.asarray(ids)
        if local.ndim != 1 or (local.dtype.kind not in "iu" and local.size):
            raise WrongCall(f"table {self.name!r}: row ids must be a 1-d array of integers, got {ids!r}")
        if not local.dtype.isnative:  # as read from a file; compiled code takes its own order of bytes only
            local = local.astype(local.dtype.newbyteorder("="))
        order = ascending_within(local, self.rows) if local.size else 1
        if order < 0:
            raise WrongCall(
                f"table {self.name!r}: row ids must lie in 0..{self.rows - 1}, "
                f"got {local.min()}..{local.max()}"
            )
        if order:
            return local.astype(np.int32, copy=False) + self._offset, None
        distinct, inverse = np.unique(local, return_inverse=True)
        return distinct.astype(np.int32) + self._offset, inverse


class Worker:
    """One computation thread's view of the parameter server; ``ps`` in an application.

    Attributes
    ----------
    worker : int
        This worker's id.
    workers : int
        Number of workers, the paper's P.
    cfg : Config
    clock_index : int
        Finished clock() calls.
    """

    def __init__(self, worker: int, workers: int, cfg: Any, layout: Layout, port: Port) -> None:
        self.worker, self.workers, self.cfg, self.port = worker, workers, cfg, port
        self.clock_index = 0
        self._start_index = 0
        self.steps: StepLog | None = None  # set by a runtime that records them
        self._tables = {t.name: Table(port, worker, layout, i) for i, t in enumerate(layout.tables)}
        self._at_once: AtOnce | None = None

    def serve_at_once(self, by: AtOnce | None) -> None:
        """Let GETs first be tried by ``by``, which a runtime has for those that need not wait."""
        self._at_once = by
        for table in self._tables.values():
            table._at_once = by

    @property
    def start_index(self) -> int:
        """Number t of this computation in the reference order of all, from 1; for steps such as eta/sqrt(t).

        Under a policy with a gate the order of the starts, known once the GET has returned. Otherwise
        clock-major, c P + p + 1 of worker p in clock c.
        """
        return self._start_index or self.clock_index * self.workers + self.worker + 1

    @start_index.setter
    def start_index(self, number: int) -> None:
        self._start_index = number

    def table(self, name: str) -> Table:
        """Handle on the table ``name``; WrongCall names the known ones."""
        try:
            return self._tables[name]
        except KeyError:
            raise WrongCall(f"no table {name!r}; this application has {list(self._tables)}") from None

    async def get(self, *wanted: tuple[Table, npt.ArrayLike]) -> tuple[Array, ...]:
        """One GET of several tables: ``u, v = await ps.get((U, u_ids), (V, v_ids))``.

        Every table may be named once. Returns (n_i, cols) copies in the order asked for.
        """
        views = self._views_at_once(wanted)
        if views is not None:
            return views
        asked = [(table, *table.global_rows(ids)) for table, ids in wanted]
        in_order = sorted(range(len(asked)), key=lambda i: asked[i][0].index)
        if len({table.index for table, *_ in asked}) < len(asked):
            raise WrongCall("a GET may name each table once")
        parts = [asked[i][1] for i in in_order if len(asked[i][1])]
        read = await Get(parts[0] if len(parts) == 1 else np.concatenate(parts)) if parts else None
        results: list[Array] = [np.empty(0)] * len(asked)
        number = 0  # of views so far: a table asked for no rows has none
        for i in in_order:
            table, rows, inverse = asked[i]
            results[i] = table.rows_of(read if len(rows) else None, number, inverse)
            number += len(rows) > 0
        return tuple(results)

    def _views_at_once(self, wanted: Sequence[tuple[Table, Any]]) -> tuple[Array, ...] | None:
        """Views of a GET of several tables that need not wait, else None."""
        if self._at_once is None or any(a.index >= b.index for (a, _), (b, _) in pairwise(wanted)):
            return None
        views: list[Array] = []
        first = 0
        for table, ids in wanted:
            view = self._at_once.table(table.index, ids, first, len(views) + 1 == len(wanted))
            if view is None:
                return None
            views.append(view)
            first += len(view)
        return tuple(views)

    def compute(self, fn: Callable[..., Any], *arrays: Any, cost: float = 0.0) -> Compute:
        """Awaitable: ``fn(*arrays)``, pure, on arrays that nobody else touches; ``cost`` in items.

        Raises
        ------
        ValueError
            On a cost that is negative or not finite.
        """
        if not 0 <= cost < math.inf:
            raise ValueError(f"the cost of a compute() must be a number of items, 0 or more, got {cost!r}")
        return Compute(fn, arrays, cost)

    async def clock(self) -> None:
        """End the clock: updates leave, the worker's clock rises by one."""
        await Clock()
        self.clock_index += 1

    @property
    def records(self) -> bool:
        """Whether this run records views and gradients, so that `took_step` is worth its arguments."""
        return self.steps is not None

    def took_step(self, size: float, gradient: Array, value: float) -> None:
        """Tell of the one step of this clock, an INC of ``-size * gradient``; for convex applications.

        Parameters
        ----------
        size : float
            Step size, above 0.
        gradient : array of the size of all tables together
            (Sub)gradient of the clock's term at the view.
        value : float
            The term's value at the view.
        """
        if self.steps is not None:
            self.steps.step(self.worker, self.clock_index, size, gradient, value)

    def stream(self, *key: int | str) -> Any:
        """A seeded, counter-based stream of this worker's own for ``key``."""
        return self.port.stream("worker", self.worker, *key)


class InitContext(NamedTuple):
    """What ``init`` gets: the config, writable tables by name, and ``stream(*key)`` for seeded draws."""

    cfg: Any
    tables: dict[str, Array]
    stream: Callable[..., Any]


class Application(Protocol):
    """A user's application; needs no base class.

    It may also have ``describe(cfg) -> str``, one line for captions, and ``working_bytes(cfg) -> int``, what
    one worker needs beside tables and caches. A convex application has ``terms(cfg)``, the `Terms` that its
    run sums, reads all rows in one GET per clock, makes one INC, and tells of it by ``ps.took_step``.

    Where it cannot run under a policy with a gate (``vap``), as it reads more than once in a computation,
    ``no_gate(cfg) -> str | None`` says why, to follow a colon.

    For the policy ``vap`` it says how large an update can be, if it knows: ``lipschitz_inf(cfg) -> float |
    None``, a bound of the largest entry of every gradient, and ``step_at(cfg, worker, clock, start) ->
    float``, the step of the computation that a worker starts at its clock ``clock`` as number ``start`` of
    all (`Worker.start_index`). No entry of its update may be larger than the product of the two.
    """

    def tables(self, cfg: Any) -> list[TableSpec]:
        """Load the data and name the tables."""

    def init(self, ctx: InitContext) -> None:
        """Fill ``ctx.tables`` (zeros until then)."""

    async def work(self, ps: Worker) -> None:
        """The work of one worker, from its first clock to its last."""

    def objective(self, tables: Mapping[str, Array]) -> dict[str, float]:
        """Metrics of whole tables; ``"loss"`` is the training loss."""

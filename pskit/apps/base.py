"""What an application is, and the parameter server as it sees it.

An application is a class with four methods (`Application`). ``work`` is a coroutine that a runtime drives
by hand: it yields `Get`, `Compute` and `Clock` commands and is resumed with their results. No event loop
is involved, and the same class runs on every runtime.
"""

import math
from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pskit.core.kernels import ascending_within
from pskit.core.layout import Layout, TableSpec
from pskit.errors import InputError

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


class Port(Protocol):
    """What a runtime hands to its workers for calls that do not wait."""

    def inc(self, worker: int, table: int, rows: npt.NDArray[np.int32], delta: Array) -> None:
        """Add to the worker's open update unit."""

    def stream(self, *key: int | str) -> Any:
        """A seeded stream of its own for ``key``."""


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

    __slots__ = ("_dtype", "_offset", "_port", "_worker", "cols", "index", "name", "rows")

    def __init__(self, port: Port, worker: int, layout: Layout, index: int) -> None:
        spec = layout.tables[index]
        self._port, self._worker, self.index = port, worker, index
        self.name, self.rows, self.cols = spec.name, spec.rows, spec.cols
        self._offset = np.int32(layout.offsets[index])
        self._dtype = layout.dtypes[index]

    async def get(self, ids: npt.ArrayLike) -> Array:
        """Read rows ``ids`` (n,) int, in any order: a (n, cols) copy that is the caller's own."""
        rows, inverse = self.global_rows(ids)
        return self.rows_of(await Get(rows) if len(rows) else None, 0, inverse)

    def inc(self, ids: npt.ArrayLike, delta: npt.ArrayLike) -> None:
        """Add ``delta`` (n, cols) to rows ``ids`` (n,); seen at once by this worker's next GET.

        Sent at clock(); several INCs of a clock to one row are added up first.

        Raises
        ------
        InputError
            On ids out of range, or a delta of another shape or with values that the table cannot hold.
        """
        rows, inverse = self.global_rows(ids)
        values = self._values(delta)
        if values.shape != (len(rows) if inverse is None else len(inverse), self.cols):
            raise InputError(
                f"table {self.name!r}: INC of {np.shape(ids)} rows needs a delta of shape (n, {self.cols}), "
                f"got {values.shape}"
            )
        if inverse is not None:
            summed = np.zeros((len(rows), self.cols), self._dtype)
            np.add.at(summed, inverse, values)
            values = summed
        self._port.inc(self._worker, self.index, rows, values)

    def _values(self, delta: npt.ArrayLike) -> Array:
        """``delta`` in the table's dtype; nothing is cut or wrapped in silence."""
        given = np.asarray(delta)
        if given.dtype == self._dtype:
            return given
        fits = np.can_cast(given.dtype, self._dtype, "same_kind")
        values: Array = given.astype(self._dtype) if fits else given
        wrapped = values.dtype.kind == "i" and not np.array_equal(values, given)
        if wrapped or not fits:
            raise InputError(
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
            raise InputError(f"table {self.name!r}: row ids must be a 1-d array of integers, got {ids!r}")
        order = ascending_within(local, self.rows) if local.size else 1
        if order < 0:
            raise InputError(
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
        self._tables = {t.name: Table(port, worker, layout, i) for i, t in enumerate(layout.tables)}

    def table(self, name: str) -> Table:
        """Handle on the table ``name``; InputError names the known ones."""
        try:
            return self._tables[name]
        except KeyError:
            raise InputError(f"no table {name!r}; this application has {list(self._tables)}") from None

    async def get(self, *wanted: tuple[Table, npt.ArrayLike]) -> tuple[Array, ...]:
        """One GET of several tables: ``u, v = await ps.get((U, u_ids), (V, v_ids))``.

        Every table may be named once. Returns (n_i, cols) copies in the order asked for.
        """
        asked = [(table, *table.global_rows(ids)) for table, ids in wanted]
        in_order = sorted(range(len(asked)), key=lambda i: asked[i][0].index)
        if len({table.index for table, *_ in asked}) < len(asked):
            raise InputError("a GET may name each table once")
        parts = [asked[i][1] for i in in_order if len(asked[i][1])]
        read = await Get(parts[0] if len(parts) == 1 else np.concatenate(parts)) if parts else None
        results: list[Array] = [np.empty(0)] * len(asked)
        number = 0  # of views so far: a table asked for no rows has none
        for i in in_order:
            table, rows, inverse = asked[i]
            results[i] = table.rows_of(read if len(rows) else None, number, inverse)
            number += len(rows) > 0
        return tuple(results)

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
    one worker needs beside tables and caches.
    """

    def tables(self, cfg: Any) -> list[TableSpec]:
        """Load the data and name the tables."""

    def init(self, ctx: InitContext) -> None:
        """Fill ``ctx.tables`` (zeros until then)."""

    async def work(self, ps: Worker) -> None:
        """The work of one worker, from its first clock to its last."""

    def objective(self, tables: Mapping[str, Array]) -> dict[str, float]:
        """Metrics of whole tables; ``"loss"`` is the training loss."""

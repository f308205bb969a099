"""A look at a live run from another process: `attach`.

The run does not notice: a viewer has read-only views of its memory, and what it reads is consistent because
the writers number their changes (`pskit.runtime.live.tables`).
"""

from types import SimpleNamespace, TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from pskit.core.layout import Layout, TableSpec
from pskit.errors import InputError
from pskit.runtime.live import names
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.plan import CLOCK, LEFT, RUNNING, START, STOP, WAITING_ROWS, Plan, Shared
from pskit.runtime.live.publishing import about
from pskit.runtime.live.timebase import Timebase

Array = npt.NDArray[Any]


class Cached(NamedTuple):
    """What a client's cache has of a table, all at one moment.

    Attributes
    ----------
    rows : (n,) int64
        The cached rows.
    clock : (n,) int32
        Effective clock of each copy.
    values : (n, cols) array
    """

    rows: npt.NDArray[np.int64]
    clock: npt.NDArray[np.int32]
    values: Array


class Viewer:
    """A published run, seen from outside; made by `attach`.

    Attributes
    ----------
    name : str
    config : dict
        Of the run, as its manifest will have it.
    tables : tuple of TableSpec
    workers : (workers, 8) int64, read-only
        The words that workers show, as they change; see `pskit.runtime.live.plan`.
    shards : (shards, 8) int64, read-only
        Those of the shards.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._arena = Arena.of(names.look_at(name))
        try:
            said = about(self._arena, name)
            self.config: dict[str, Any] = said["config"]
            self._identity = names.identity(name)
            layout = said["layout"]
            self._layout = Layout([TableSpec(**table) for table in layout["tables"]], layout["shards"])
            self._shared = Shared(self._arena, Plan(_sizes(self.config), self._layout))
        except BaseException:  # whatever is wrong with what it says, and Ctrl-C: nobody else could close it
            self._arena.close()
            raise
        self.tables = self._layout.tables
        self.workers, self.shards = self._shared.workers, self._shared.shards
        self._tables = self._shared.tables(self._layout)

    def __repr__(self) -> str:
        status = "viewer closed" if self._arena.is_closed else self.status
        return f"<run {self.name!r}: {status}, {len(self.workers)} workers>"

    @property
    def status(self) -> str:
        """``starting``, ``running``, ``ended`` or ``died``: then everything stays as it was at the end.

        A run has died whose processes were all killed, or whose launcher was, which the others follow.
        """
        control = self._open().control
        if control[STOP] != RUNNING:
            return "ended"
        if not self._arena.is_of_the_living or names.identity(self.name) != self._identity:
            return "died"
        return "running" if control[START] else "starting"

    @property
    def now(self) -> float:
        """Emulated seconds since the start of the run; 0 before it."""
        start = int(self._open().control[START])
        return Timebase(start, float(self.config["run"]["time_scale"])).now() * 1e-9 if start else 0.0

    @property
    def clocks(self) -> npt.NDArray[np.int64]:
        """Finished clocks of every worker (workers,)."""
        return self._open().workers[:, CLOCK].copy()

    @property
    def waiting(self) -> npt.NDArray[np.int64]:
        """Rows that every worker waits for (workers,); -1 when it has left."""
        return np.maximum(self._open().workers[:, WAITING_ROWS], LEFT)

    @property
    def shard_clocks(self) -> npt.NDArray[np.int64]:
        """Clock of every shard (shards,)."""
        return self._open().shards[:, CLOCK].copy()

    def read(self, table: str, ids: npt.ArrayLike | None = None) -> Array:
        """The servers' rows ``ids`` (n,), all by default: a (n, cols) copy.

        Every row is as it was at one moment; two rows perhaps not at the same.

        Raises
        ------
        InputError
            On a table or a row that there is not, or when this viewer is closed.
        RunFailed
            When the rows cannot be read, see `SharedTables.read`.
        """
        index, rows = self._rows(table, ids)
        order = np.argsort(rows, kind="stable")
        values = np.empty((len(rows), self.tables[index].cols), self._layout.dtypes[index])
        values[order] = self._tables.read(index, rows[order])
        return values

    def cached(self, client: int, table: str) -> Cached:
        """What the cache of ``client`` has of ``table``, all at one moment.

        Raises
        ------
        InputError
            On a client or table that there is not.
        RunFailed
            See `read`.
        """
        index, rows = self._rows(table, None)
        clients = self._open().plan.clients
        if client not in range(clients):
            raise InputError(f"no client {client}: this run has {clients}")
        found = self._tables.cached(client, rows)
        there = found.clock >= 0
        return Cached(np.flatnonzero(there), found.clock[there], found.values[index])

    def close(self) -> None:
        """Let go of the run's memory; views that were taken from here keep it."""
        self._arena.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> Shared:
        if self._arena.is_closed:
            raise InputError(
                f"this viewer of the run {self.name!r} is closed: read within its `with`, or before close()"
            )
        return self._shared

    def _rows(self, table: str, ids: npt.ArrayLike | None) -> tuple[int, npt.NDArray[np.int32]]:
        self._open()
        try:
            index = self._layout.table_index(table)
        except KeyError as error:
            raise InputError(str(error.args[0])) from None
        count = self.tables[index].rows
        local = np.arange(count) if ids is None else np.atleast_1d(ids)
        if local.ndim != 1 or local.dtype.kind not in "iu" or (local < 0).any() or (local >= count).any():
            raise InputError(f"table {table!r}: row ids are integers from 0 to {count - 1}, got {ids!r:.60}")
        return index, (local + self._layout.offsets[index]).astype(np.int32)


def attach(name: str) -> Viewer:
    """Look at the live run that is published as ``name`` (its key ``run.publish``).

    Returns
    -------
    Viewer
        To be used in a ``with`` statement, or closed by ``close()``. Neither that, nor the end of this
        process, is anything to the run.

    Raises
    ------
    InputError
        When no run has that name.
    """
    return Viewer(name)


def _sizes(config: dict[str, Any]) -> Any:
    """As much of a config as a plan looks at; a viewer may not have the run's own application or policy."""
    cluster = SimpleNamespace(**config["cluster"])
    workers = cluster.clients * cluster.threads
    return SimpleNamespace(cluster=cluster, workers=workers, ps=SimpleNamespace(**config["ps"]))

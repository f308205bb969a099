"""A parameter server to talk to, one call at a time, from a REPL or a notebook: `session`.

    with pskit.session(cfg) as ps:
        t = ps.table("w")
        t.get(3)
        t.inc(3, d)
        ps.clock()

Every call does what the same call of an application does, through the same core, and returns when it is done.
"""

import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pskit.analysis.trace import Trace
from pskit.apps import make_app
from pskit.apps.base import Table, Worker
from pskit.config import Config
from pskit.config.arguments import as_config, as_list
from pskit.core.client import NonFiniteUpdate
from pskit.core.layout import Layout, TableSpec
from pskit.core.policies import policy_class
from pskit.errors import InputError, wrong_argument
from pskit.running import assembled
from pskit.runtime.base import runtime_named
from pskit.runtime.guard import Guarded
from pskit.runtime.memory import check_memory
from pskit.runtime.session.held import Held
from pskit.runtime.session.puppets import BARE, Hosted
from pskit.runtime.session.real import RealCluster
from pskit.runtime.session.virtual import VirtualCluster
from pskit.trace.store import check_target, write_run
from pskit.units import parse_time

Array = npt.NDArray[Any]


class HandTable:
    """A table, as a worker in your hands sees it.

    Attributes
    ----------
    name : str
    rows, cols : int
    """

    def __init__(self, table: Table, call: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self.table, self._call = table, call
        self.name, self.rows, self.cols = table.name, table.rows, table.cols

    def __repr__(self) -> str:
        return f"<table {self.name!r}: {self.rows} x {self.cols}>"

    def get(self, ids: npt.ArrayLike) -> Array:
        """Read rows, waiting for them if need be.

        Parameters
        ----------
        ids : int, or (n,) int

        Returns
        -------
        (cols,) or (n, cols) array
            A copy of your own.

        Raises
        ------
        Blocked
            When no such copy can ever come; says for whom it would wait.
        InputError
            On ids that are not in the table.
        """
        view: Array = self._call(self.table.get(np.atleast_1d(ids)))
        return view[0] if np.ndim(ids) == 0 else view

    def inc(self, ids: npt.ArrayLike, delta: npt.ArrayLike) -> None:
        """Add to rows; sent at the next ``clock()``, seen by this worker at once.

        Parameters
        ----------
        ids : int, or (n,) int
        delta : (n, cols) array_like, or what can be broadcast to it

        Raises
        ------
        InputError
            On ids that are not in the table, and values that it cannot hold.
        """
        rows, values = np.atleast_1d(ids), np.asarray(delta)
        try:
            values = np.broadcast_to(values, (len(rows), self.cols))
        except ValueError:
            raise InputError(
                f"table {self.name!r}: INC of {len(rows)} rows needs a delta of shape ({len(rows)}, "
                f"{self.cols}), or one that broadcasts to it, got {values.shape}"
            ) from None
        self._call(_now(self.table.inc, rows, values))


class Hand:
    """A worker in your hands.

    Attributes
    ----------
    number : int
        Its id.
    """

    def __init__(self, held: Held, number: int) -> None:
        self._held, self.number = held, number

    def __repr__(self) -> str:
        return f"<worker {self.number}>"

    @property
    def clock_index(self) -> int:
        """Finished ``clock()`` calls of this worker."""
        return self._ps.clock_index

    @property
    def _ps(self) -> Worker:
        ps: Worker = self._held.cluster.puppet(self.number).ps
        return ps

    def table(self, name: str) -> HandTable:
        """Handle on the table ``name``; InputError names the known ones."""
        return HandTable(self._ps.table(name), self._call)

    def get(self, *wanted: tuple[HandTable, npt.ArrayLike]) -> tuple[Array, ...]:
        """One GET of several tables: ``u, v = ps.get((U, u_ids), (V, v_ids))``."""
        views: tuple[Array, ...] = self._call(self._ps.get(*((table.table, ids) for table, ids in wanted)))
        return views

    def compute(self, fn: Callable[..., Any], *arrays: Any, cost: float = 0.0) -> Any:
        """Result of ``fn(*arrays)``, after the emulated time that ``cost`` items of work take."""
        return self._call(_awaited(self._ps.compute(fn, *arrays, cost=cost)))

    def clock(self) -> None:
        """End this worker's clock: its updates leave."""
        self._call(self._ps.clock())

    def _call(self, call: Coroutine[Any, Any, Any]) -> Any:
        try:
            with self._held.turn() as cluster:
                return cluster.call(self.number, call)
        except NonFiniteUpdate as error:
            raise InputError(str(error)) from None
        finally:
            call.close()


class Session(Hand):
    """An open session, and the first of the workers in your hands; made by `session`.

    Attributes
    ----------
    hands : tuple of int
        Workers in your hands.
    """

    def __init__(
        self, cfg: Config, hands: tuple[int, ...], cluster: Any, alone: bool, out: Path | None
    ) -> None:
        super().__init__(Held(cluster), hands[0])
        self.cfg, self.hands = cfg, hands
        self._alone, self._out = alone, out
        self._began = time.perf_counter()

    def __repr__(self) -> str:
        if not self._held.is_open:
            return "<session: closed>"
        return f"<session: {self.now:g} s emulated, workers {list(self.hands)} in your hands>"

    def worker(self, number: int) -> Hand:
        """Return another worker in your hands; InputError where it is not."""
        if number not in self.hands:
            raise InputError(
                f"worker {number} is not in your hands, those are {list(self.hands)}; name it in "
                "session(cfg, workers=...)"
            )
        return Hand(self._held, number)

    @property
    def now(self) -> float:
        """Emulated seconds since the start."""
        return float(self._held.cluster.now * 1e-9)

    @property
    def clocks(self) -> list[int]:
        """Finished clocks of every worker, in your hands or not."""
        clocks: list[int] = self._held.cluster.clocks()
        return clocks

    def sleep(self, duration: str) -> None:
        """Let emulated time go by, such as "500ms", in which the other workers go on."""
        try:
            nanoseconds = parse_time(duration)
        except ValueError as error:
            raise InputError(f"sleep({duration!r}): {error}") from None
        with self._held.turn() as cluster:
            cluster.sleep(nanoseconds)

    def close(self) -> Trace | None:
        """Leave, end everything, and give the trace; a second call does nothing.

        Where no worker runs an application, everything that is under way arrives first. Otherwise the run
        stops as it is, and its trace is marked ``interrupted``.
        """
        if not self._held.is_open:
            return None
        with self._held.turn() as cluster:
            try:
                for worker in self.hands:
                    cluster.leave(worker)
                execution = cluster.finish(self._alone)
                seconds = time.perf_counter() - self._began
                about = {"data": "a session"}
                manifest, columns, tables = assembled(self.cfg, execution, seconds, None, about)
                for name in ("views", "gradients"):  # what your hands do is no step of the application
                    columns.pop(name, None)
            finally:
                self._held.end()
        if self._out is not None:
            write_run(
                self._out, config_toml=self.cfg.to_toml(), manifest=manifest, columns=columns, tables=tables
            )
        return Trace(manifest, columns, tables, self._out)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._held.end_after_call()


def session(
    cfg: Config,
    tables: Iterable[TableSpec] | None = None,
    *,
    workers: Sequence[int] = (0,),
    out: str | Path | None = None,
) -> Session:
    """Open a session: some workers of a config in your hands, one call at a time.

    Parameters
    ----------
    cfg : Config
        The cluster and its policy. On ``run.runtime = "sim"`` emulated time goes on only while a call waits
        for something; on ``"live"`` it goes on all the time, in processes of their own.
    tables : iterable of TableSpec, optional
        Tables of zeros to work with. All other workers then leave at once. Without it the tables are those
        of the config's application, which the other workers run.
    workers : sequence of int
        Ids of the workers in your hands; what is returned is the first of them, and has the others as
        ``ps.worker(number)``. Live, all of them have to be on one client.
    out : path, optional
        Run folder to write when the session is closed without an error.

    Returns
    -------
    Session
        To be used in a ``with`` statement, or closed by ``close()``.

    Raises
    ------
    InputError
        On wrong input; nothing has begun.

    Notes
    -----
    A GET that can never return raises `Blocked`, which says whom it would wait for, and the session goes on.
    So it does after Ctrl-C; a second one while the call has not stopped yet closes the session. It has one
    call at a time, from whatever thread. A session that nobody refers to any more ends by itself.
    """
    as_config("session(cfg)", cfg)
    given = as_list("session(cfg, workers=...)", "ids of workers, such as (0,)", workers)
    if not given or any(w not in range(cfg.workers) for w in given):
        raise InputError(
            f"workers = {given!r:.60}: a session has one or more of the workers 0 to {cfg.workers - 1} "
            "of its config in its hands"
        )
    hands = tuple(dict.fromkeys(given))
    if policy_class(cfg.ps.policy).gated:
        raise InputError(
            f"ps.policy = {cfg.ps.policy!r}: its computations start when an arbiter lets them; a session has "
            "no such gate, choose another policy"
        )
    if cfg.run.record:
        raise InputError(
            "run.record = true: what you will do in a session is not recorded, so it cannot be replayed; "
            "leave run.record out"
        )
    if out is not None:
        check_target(out)
    if tables is not None:
        cfg = _with_tables(cfg, tables)
    hosted = Hosted(make_app(cfg.app.name), hands)
    guarded = Guarded(hosted, cfg.app.name)
    working = cfg.workers * guarded.working_bytes(cfg)
    check_memory(working)  # first, as in `run`
    layout = guarded.layout(cfg)
    check_memory(runtime_named(cfg.run.runtime).estimate_bytes(cfg, layout) + working)
    cluster: Any
    if cfg.run.runtime == "live":
        cluster = RealCluster(cfg, hosted, layout, hands)
    else:
        cluster = VirtualCluster(cfg, hosted, layout)
    alone = tables is not None or len(hands) == cfg.workers
    return Session(cfg, hands, cluster, alone, Path(out) if out is not None else None)


def _with_tables(cfg: Config, tables: Iterable[TableSpec]) -> Config:
    """``cfg`` with an application that has these tables and does nothing."""
    expected = 'TableSpec, such as [TableSpec("w", 10, 4)]'
    if isinstance(tables, TableSpec):
        raise wrong_argument("session(cfg, tables)", f"a list of {expected}", tables)
    try:
        named = Layout(as_list("session(cfg, tables)", expected, tables)).tables
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"tables: {error}") from None
    tree = cfg.to_dict()
    options = {"tables": [list(table) for table in named]}
    tree["app"] = {"name": BARE, "clocks": cfg.app.clocks, "options": options}
    return Config(**tree)


async def _now(function: Callable[..., Any], *arguments: Any) -> None:
    function(*arguments)


async def _awaited(awaitable: Any) -> Any:
    return await awaitable

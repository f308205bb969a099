"""Runtimes by name, what every one of them is asked for and gives back, and what they have in common."""

import importlib
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy.typing as npt

from pskit.apps import apps_with_gate
from pskit.core.kernels import norms
from pskit.core.layout import Layout
from pskit.core.messages import Oplog
from pskit.core.policies import policy_class
from pskit.errors import InputError

if TYPE_CHECKING:
    from pskit.config import Config
    from pskit.runtime.guard import Guarded

Tables = dict[str, npt.NDArray[Any]]
Progress = tuple[int, dict[str, Any]]
"""Clocks that every worker has finished, and facts for a progress line."""
Report = Callable[[Callable[[], Progress]], None]
"""Called often during a run, with a function that tells the progress when it is wanted."""

_RUNTIMES = {"sim": "pskit.runtime.sim.execute", "live": "pskit.runtime.live.execute"}


class Stuck(RuntimeError):
    """Workers wait although nothing can wake them: a fault of the protocol or of an application."""


class Outcome(NamedTuple):
    """End of a run.

    Attributes
    ----------
    status : str
        ``finished``, ``diverged`` or ``interrupted``.
    initial, final, incs : dict of (rows, cols) arrays
        Tables at the start and at the end, and the sum of all INCs in the order they were made.
    emulated : int, ns
    events : int
    """

    status: str
    initial: Tables
    final: Tables
    incs: Tables
    emulated: int
    events: int


class Execution(NamedTuple):
    """What a runtime hands back.

    Attributes
    ----------
    recorder : Recorder
        Or what can be asked like one: ``finish()``, ``sampling``, ``schedule_hash``, ``layout``, ``workers``,
        ``mode``.
    outcome : Outcome
    facts : dict
        More for the manifest, plain JSON values.
    """

    recorder: Any
    outcome: Outcome
    facts: dict[str, Any]


class Runtime(Protocol):
    """What moves messages and time for the core; the modules of `runtime_named` are such."""

    def estimate_bytes(self, cfg: "Config", layout: Layout) -> int:
        """Estimated peak memory of a run."""

    def no_gate(self, cfg: "Config") -> str | None:
        """Why a policy with a gate cannot be had here, to follow a colon; None where it can.

        Such a policy is enforced by global knowledge: something must see all processes at once.
        """

    def execute(
        self, cfg: "Config", app: Any, layout: Layout, threads: int | None, report: Report | None
    ) -> Execution:
        """Run ``app``, whose data is loaded.

        Parameters
        ----------
        threads : int or None
            For large kernels where the runtime has one process; None: all cores.
        """


def check_gate(cfg: "Config", runtime: Runtime, app: "Guarded", layout: Layout) -> None:
    """Refuse a policy with a gate where runtime or application cannot have one, or the cache is too small.

    Raises
    ------
    InputError
        With the reason.
    """
    if not policy_class(cfg.ps.policy).gated:
        return
    without = app.no_gate(cfg)
    if without is not None:
        raise InputError(
            f"ps.policy = {cfg.ps.policy!r}: the application {cfg.app.name!r} does not support a policy with "
            f"a gate: {without}. Built-in applications that do: {', '.join(apps_with_gate())}; or choose "
            "another policy"
        )
    if 0 < cfg.ps.cache_rows < layout.n_rows:
        raise InputError(
            f"ps.cache_rows = {cfg.ps.cache_rows}: under the policy {cfg.ps.policy!r} a computation starts "
            f"with all its rows in the cache, so it must hold all {layout.n_rows} rows of this application; "
            "0 means that"
        )
    reason = runtime.no_gate(cfg)
    if reason is not None:
        raise InputError(
            f"ps.policy = {cfg.ps.policy!r} is not possible with run.runtime = {cfg.run.runtime!r}: {reason}"
        )


def runtime_named(name: str) -> Runtime:
    """The runtime that ``run.runtime`` asks for."""
    return cast(Runtime, importlib.import_module(_RUNTIMES[name]))


def members_of(cfg: "Config") -> list[range]:
    """Workers of every client."""
    threads = cfg.cluster.threads
    return [range(c * threads, (c + 1) * threads) for c in range(cfg.cluster.clients)]


def update_norms(oplog: Oplog) -> tuple[float, float]:
    """Euclidean and largest absolute norm of all of an oplog's updates."""
    squares, largest = 0.0, 0.0
    for part in oplog.parts:
        s, m = norms(part.delta)
        squares += s
        largest = max(largest, m)
    return math.sqrt(squares), largest

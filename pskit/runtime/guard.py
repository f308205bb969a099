"""An application behind a guard: its faults and its wrong answers become one readable error each."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pskit.apps.base import InitContext, TableSpec, Worker
from pskit.apps.calls import calling, fault
from pskit.apps.terms import constants
from pskit.core.kernels import first_non_finite
from pskit.core.layout import Layout, TableError
from pskit.errors import InputError


class Guarded:
    """Calls an application's methods, and looks at what they give back.

    Parameters
    ----------
    app : Application or Guarded
    name : str
        ``app.name``, for messages.

    Notes
    -----
    A fault of user code comes out as `AppError`. An `InputError` passes: by it an application says that its
    data or options are wrong. What happens while the coroutine of ``work`` runs is the driver's to guard.
    """

    def __init__(self, app: Any, name: str) -> None:
        self.app: Any = app.app if isinstance(app, Guarded) else app
        self.name = name

    def layout(self, cfg: Any) -> Layout:
        """The layout of what ``tables(cfg)`` names.

        Raises
        ------
        InputError
            When that is no list of proper tables.
        """
        try:
            return Layout(self.tables(cfg), cfg.ps.shards)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"application {self.name!r}: {error}") from error

    def tables(self, cfg: Any) -> list[TableSpec]:
        """See `Application.tables`."""
        with calling(self.name, "tables()", passing=(TableError,)):
            named = self.app.tables(cfg)
            if not isinstance(named, Iterable) or isinstance(named, str | Mapping | TableSpec):
                raise InputError(
                    f"application {self.name!r}: tables() must give a list of TableSpec, "
                    f"got a {type(named).__name__}"
                )
            return list(named)

    def init(self, ctx: InitContext) -> None:
        """See `Application.init`; refuses initial values that are not finite.

        Raises
        ------
        InputError
            Names table and row.
        """
        before = dict(ctx.tables)
        with calling(self.name, "init()"):
            self.app.init(ctx)
        for name, table in before.items():
            given: Any = ctx.tables.get(name)
            if given is not table:
                if np.shape(given) != table.shape or np.asarray(given).dtype != table.dtype:
                    what = f"it replaced ctx.tables[{name!r}] by {_shown(given)}; fill the table in place"
                    raise fault(self.name, "init()", what)
                table[:] = given
                ctx.tables[name] = table
            bad = first_non_finite(table) if table.dtype.kind == "f" else -1
            if bad >= 0:
                value = table[bad][~np.isfinite(table[bad])][0]
                raise InputError(
                    f"application {self.name!r}: init() gave row {bad} of table {name!r} the value {value}; "
                    "initial values must be finite"
                )

    def work(self, ps: Worker) -> Any:
        """The coroutine of ``work(ps)``."""
        with calling(self.name, "work()", ps.worker, 0):
            coroutine = self.app.work(ps)
        if not all(callable(getattr(coroutine, method, None)) for method in ("send", "close", "__await__")):
            raise fault(
                self.name, "work()", f"it must be a coroutine, `async def work(self, ps)` without yield; "
                f"it gave a {type(coroutine).__name__}", ps.worker,
            )  # fmt: skip
        return coroutine

    def objective(self, tables: Mapping[str, Any]) -> dict[str, float]:
        """See `Application.objective`; all metrics are numbers, one is the loss."""
        with calling(self.name, "objective()"):
            metrics = self.app.objective(tables)
            if not isinstance(metrics, Mapping) or "loss" not in metrics:
                got = f"the keys {list(metrics)}" if isinstance(metrics, Mapping) else _shown(metrics)
                raise fault(self.name, "objective()", f'it must give a dict with the key "loss", got {got}')
            return {self._metric_name(name): self._number(name, value) for name, value in metrics.items()}

    def describe(self, cfg: Any) -> str:
        """The line for captions; the application's name where it has no ``describe``."""
        describe = getattr(self.app, "describe", None)
        with calling(self.name, "describe()"):
            return self.name if describe is None else str(describe(cfg))

    def constants(self, cfg: Any) -> dict[str, Any] | None:
        """Of a convex application what is known of its terms; None of another."""
        terms = getattr(self.app, "terms", None)
        with calling(self.name, "terms()"):
            return None if terms is None else constants(terms(cfg))

    def no_gate(self, cfg: Any) -> str | None:
        """Why the application cannot run under a policy with a gate; None where it says nothing of it."""
        says = getattr(self.app, "no_gate", None)
        with calling(self.name, "no_gate()"):
            reason = None if says is None else says(cfg)
            return None if reason is None else str(reason)

    def lipschitz_inf(self, cfg: Any) -> float | None:
        """Bound of the largest entry of every gradient; None where the application knows of none."""
        says = getattr(self.app, "lipschitz_inf", None)
        with calling(self.name, "lipschitz_inf()"):
            value = None if says is None else says(cfg)
            return None if value is None else self._size("lipschitz_inf()", value)

    def step_at(self, cfg: Any, worker: int, clock: int, start: int) -> float:
        """Step of the computation number ``start``, which ``worker`` starts at ``clock``."""
        with calling(self.name, "step_at()", worker, clock):
            return self._size("step_at()", self.app.step_at(cfg, worker, clock, start))

    def working_bytes(self, cfg: Any) -> int:
        """What the application says that one worker needs of its own, bytes; 0 where it says nothing."""
        says = getattr(self.app, "working_bytes", None)
        with calling(self.name, "working_bytes()"):
            return 0 if says is None else int(says(cfg))

    def _metric_name(self, name: Any) -> str:
        if not isinstance(name, str):
            raise fault(self.name, "objective()", f"names of metrics are text, got {_shown(name)}")
        return name

    def _size(self, what: str, value: Any) -> float:
        if np.ndim(value) == 0 and np.asarray(value).dtype.kind in "fiu" and 0 <= value < np.inf:
            return float(value)
        raise fault(self.name, what, f"it must give a number of 0 or more, got {_shown(value)}")

    def _number(self, name: str, value: Any) -> float:
        if np.ndim(value) == 0 and np.asarray(value).dtype.kind in "fiub":
            return float(value)
        raise fault(self.name, "objective()", f"metric {name!r} must be a number, got {_shown(value)}")


def _shown(value: Any) -> str:
    return f"{value!r:.60} of type {type(value).__name__}"

"""What is explored: a small system, and what may happen in it."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pskit.core.arbiter import SCHEDULES, VARIANTS
from pskit.core.layout import Layout, TableSpec
from pskit.core.policies import Policy, policy_class, policy_names
from pskit.errors import InputError
from pskit.explore.script import (
    Call,
    Computation,
    Move,
    computations_of,
    default_script,
    moves_of,
    parse_script,
)


@dataclass(frozen=True)
class System:
    """Clients, shards, the links between them, and the workers' scripts.

    Parameters
    ----------
    policy : str
        A registered policy.
    slack : int, optional
        Default 1, or 0 where the policy takes none.
    deltas : bool
        Pushes carry changed entries.
    clients, threads, shards : int
        ``threads`` workers at each client.
    rows : int
        Rows of each shard; row ``r`` is at shard ``r % shards``.
    clocks : int
        Clocks of each worker that has no script.
    scripts : dict of int to str
        By worker, see `pskit.explore.script`.
    capacity : int
        Rows that a cache may keep; 0 = all.
    evictions : bool
        Any cached row may be evicted at any moment.
    lossy : bool
        Links lose, repeat and reorder, and `pskit.core.channel` makes them reliable.
    full : bool
        There may be no room for the pushes of a shard to a client, and room again at any later moment.
    trim : bool
        Own updates that no view needs any more are forgotten at each clock, not once they are many.
    fuse : bool
        INCs happen together with the call that follows; False makes them steps of their own, as they always
        are under a policy with a gate, where they send messages.
    v0, schedule, variant : float, str, str, optional
        Of a policy with a gate, see `pskit.core.arbiter.Arbiter`; by default 1, "inverse-sqrt", "aggregate".
    reserve : bool, optional
        Computations reserve the largest entry of their update (a known L_inf); by default they do.

    Raises
    ------
    InputError
        On a size below its minimum, an unknown policy or worker, or a wrong script.
    """

    policy: str = "essp"
    slack: int | None = None
    deltas: bool = False
    clients: int = 2
    threads: int = 1
    shards: int = 2
    rows: int = 1
    clocks: int = 2
    scripts: dict[int, str] = field(default_factory=dict)
    capacity: int = 0
    evictions: bool = False
    lossy: bool = False
    full: bool = False
    trim: bool = False
    fuse: bool = True
    v0: float | None = None
    schedule: str | None = None
    variant: str | None = None
    reserve: bool | None = None

    def __post_init__(self) -> None:
        if self.policy not in policy_names():
            raise InputError(f"no policy {self.policy!r}; known are {', '.join(policy_names())}")
        if self.slack is None:
            object.__setattr__(self, "slack", int(policy_class(self.policy).takes_slack))
        for name in ("clients", "threads", "shards", "rows"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("slack", "clocks", "capacity"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} must be at least 0, not {getattr(self, name)}")
        if self.deltas and not policy_class(self.policy).subscribes:
            raise InputError(f"deltas: policy {self.policy!r} pushes nothing")
        if self.full and (self.gated or self.lossy or not policy_class(self.policy).subscribes):
            raise InputError("full: only for a policy that pushes, has no gate, over links that lose nothing")
        if self.slack and not policy_class(self.policy).takes_slack:
            raise InputError(f"policy {self.policy!r} takes no slack, but slack is {self.slack}")
        if unknown := [w for w in self.scripts if not 0 <= w < self.workers]:
            raise InputError(f"scripts of workers {unknown}: the workers are 0 to {self.workers - 1}")
        self._check_gate()
        self.calls  # noqa: B018  # complains of a wrong script
        if self.gated:
            self.computations  # noqa: B018

    def _check_gate(self) -> None:
        """Refuse what has to do with a gate under a policy without one, and the other way round."""
        defaults = {"v0": 1.0, "schedule": "inverse-sqrt", "variant": "aggregate", "reserve": True}
        if not self.gated:
            if given := [name for name in defaults if getattr(self, name) is not None]:
                raise InputError(f"{given[0]}: policy {self.policy!r} has no gate")
            return
        for name, value in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        assert self.v0 is not None
        if not 0 < self.v0 < math.inf:
            raise InputError(f"v0 must be above 0, not {self.v0}")
        for name, known in (("schedule", tuple(SCHEDULES)), ("variant", VARIANTS)):
            if getattr(self, name) not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}")
        if self.evictions or 0 < self.capacity < self.rows * self.shards:
            raise InputError(f"policy {self.policy!r} keeps all rows in the cache")

    @property
    def gated(self) -> bool:
        """Whether the policy has a gate."""
        return policy_class(self.policy).gated

    @cached_property
    def computations(self) -> tuple[list[Computation], ...]:
        """Under a policy with a gate, those of each worker."""
        return tuple(computations_of(calls, w, self.workers) for w, calls in enumerate(self.calls))

    @property
    def workers(self) -> int:
        """Number of workers."""
        return self.clients * self.threads

    @cached_property
    def layout(self) -> Layout:
        """One int64 table with a column for each worker, and with a gate one for all of them."""
        return Layout([TableSpec("n", self.rows * self.shards, self.columns, "i8")], self.shards)

    @property
    def columns(self) -> int:
        """Columns of the table."""
        return self.workers + self.gated

    @cached_property
    def calls(self) -> tuple[tuple[Call, ...], ...]:
        """Script of each worker."""
        n = self.rows * self.shards
        default = default_script(n, self.clocks)
        return tuple(parse_script(self.scripts.get(w, default), n) for w in range(self.workers))

    @cached_property
    def moves(self) -> tuple[tuple[Move, ...], ...]:
        """Steps of each worker."""
        return tuple(moves_of(calls, self.fuse and not self.gated) for calls in self.calls)

    def members(self, client: int) -> range:
        """Workers of ``client``."""
        return range(client * self.threads, (client + 1) * self.threads)

    def make_policy(self) -> Policy:
        """The policy of the machines."""
        return policy_class(self.policy)(slack=self.slack or 0, deltas=self.deltas)

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `System` takes again; script workers become text, as JSON has them."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return plain | {"scripts": {str(w): text for w, text in self.scripts.items()}}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> "System":
        """Undo `to_dict`."""
        return cls(**plain | {"scripts": {int(w): text for w, text in plain["scripts"].items()}})

"""What is explored: a small system, and what may happen in it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pskit.core.layout import Layout, TableSpec
from pskit.core.policies import Policy, policy_class, policy_names
from pskit.errors import InputError
from pskit.explore.script import Call, Move, default_script, moves_of, parse_script


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
    trim : bool
        Own updates that no view needs any more are forgotten at each clock, not once they are many.
    fuse : bool
        INCs happen together with the call that follows; False makes them steps of their own.

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
    trim: bool = False
    fuse: bool = True

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
        if self.slack and not policy_class(self.policy).takes_slack:
            raise InputError(f"policy {self.policy!r} takes no slack, but slack is {self.slack}")
        if unknown := [w for w in self.scripts if not 0 <= w < self.workers]:
            raise InputError(f"scripts of workers {unknown}: the workers are 0 to {self.workers - 1}")
        self.calls  # noqa: B018  # complains of a wrong script

    @property
    def workers(self) -> int:
        """Number of workers."""
        return self.clients * self.threads

    @cached_property
    def layout(self) -> Layout:
        """One int64 table with a column for each worker."""
        return Layout([TableSpec("n", self.rows * self.shards, self.workers, "i8")], self.shards)

    @cached_property
    def calls(self) -> tuple[tuple[Call, ...], ...]:
        """Script of each worker."""
        n = self.rows * self.shards
        default = default_script(n, self.clocks)
        return tuple(parse_script(self.scripts.get(w, default), n) for w in range(self.workers))

    @cached_property
    def moves(self) -> tuple[tuple[Move, ...], ...]:
        """Steps of each worker."""
        return tuple(moves_of(calls, self.fuse) for calls in self.calls)

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

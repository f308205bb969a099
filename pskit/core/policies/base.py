"""The seam between the protocol and a consistency policy.

A policy answers two questions at the client, *which copy may be returned* and *how a missing row is
got*, and two at the shard, *what happens to an arriving oplog* and *what happens when the clock rises*.
It holds no state of its own: clients, shards and messages hold it all.
"""

import operator
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar

from pskit.core.messages import ProtocolViolation

if TYPE_CHECKING:
    from pskit.core.messages import Oplog
    from pskit.core.server import ServerShard

UNBOUNDED = -(1 << 30)  # a need that every clock satisfies


class Policy:
    """A lazily pulled, clock-bounded policy; the others override what they do differently.

    Parameters
    ----------
    slack : int
        A read at clock ``c`` must contain all updates with tag ``<= c - slack - 1``.
    deltas : bool
        Pushes carry changed entries in place of whole rows.

    Notes
    -----
    What a subclass overrides is checked: a method that raises, and a need that is no integer or above the
    clock, become a `ProtocolViolation` that names the policy.
    """

    name: ClassVar[str]
    subscribes: ClassVar[bool] = False
    """Whether a GET miss registers for pushes."""
    refetches: ClassVar[bool] = False
    """Whether a copy serves only the clock it was fetched in."""
    takes_slack: ClassVar[bool] = True
    """Whether the user may choose the slack."""
    gated: ClassVar[bool] = False
    """Whether an arbiter decides when a computation may start, and updates leave at INC."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, checked in (("need", _checked_need), ("on_oplog", _checked), ("on_rise", _checked)):
            if name in vars(cls):
                setattr(cls, name, checked(name, vars(cls)[name]))

    def __init__(self, slack: int = 0, deltas: bool = False) -> None:
        self.slack = slack
        self.deltas = deltas

    def need(self, clock: int) -> int:
        """Lowest row clock that a GET at worker clock ``clock`` may return."""
        return clock - self.slack

    def on_oplog(self, shard: "ServerShard", oplog: "Oplog") -> None:
        """An oplog arrived in order; by default it is applied before any clock logic."""
        shard.apply(oplog)

    @property
    def applies_at_once(self) -> bool:
        """Whether an oplog that arrives is applied, and nothing else happens before the clock rises."""
        return type(self).on_oplog is Policy.on_oplog

    def on_rise(self, shard: "ServerShard") -> None:
        """The shard's clock rose; by default the waiting requests are answered."""
        shard.release()


def _checked(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """``method``, whose faults name the policy."""

    @wraps(method)
    def call(policy: Policy, *args: Any) -> Any:
        try:
            return method(policy, *args)
        except ProtocolViolation:
            raise
        except (Exception, SystemExit) as error:
            at = f" at clock {args[0]}" if args and isinstance(args[0], int) else ""
            raise ProtocolViolation(
                f"policy {_label(policy)!r}: {name}() failed{at}: {type(error).__name__}: {error}"
            ) from error

    return call


def _checked_need(name: str, method: Callable[..., Any]) -> Callable[..., int]:
    """``need``, of which only integers up to the clock come out; any need below `UNBOUNDED` is that."""
    call = _checked(name, method)

    @wraps(method)
    def need(policy: Policy, clock: int) -> int:
        answer = call(policy, clock)
        try:
            found = operator.index(answer)
        except TypeError:
            raise ProtocolViolation(
                f"policy {_label(policy)!r}: the need at clock {clock} must be an integer, got {answer!r:.60}"
            ) from None
        if found > clock:
            raise ProtocolViolation(
                f"policy {_label(policy)!r}: the need at clock {clock} is {found}, which can never be met: "
                "no row has a clock above that of the worker that asks"
            )
        return max(found, UNBOUNDED)

    return need


def _label(policy: Policy) -> str:
    """The name that the policy's class gives itself, or else the class's."""
    cls = type(policy)
    return str(vars(cls).get("name", cls.__qualname__))

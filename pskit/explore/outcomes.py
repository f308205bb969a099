"""What comes of a call of a real machine, and the numbers that states and messages go by."""

from typing import Any, NamedTuple

from pskit.core.messages import Effect
from pskit.explore.clients import FrozenClient
from pskit.explore.ledger import ledger_of
from pskit.explore.memo import Memo, Numbers
from pskit.explore.shards import FrozenShard
from pskit.explore.system import System
from pskit.explore.wire import Frozen, thaw_to_shard


class Done(NamedTuple):
    """A call went well: the machine's new state, what it sent as (receiver, message), and all effects."""

    state: int
    sends: tuple[tuple[int, int], ...]
    effects: tuple[Effect, ...]


class Failure(NamedTuple):
    """A call broke an invariant or a rule: which, and the effects that showed it, if any."""

    what: str
    effects: tuple[Effect, ...]


Outcome = Done | Failure


class Tables:
    """All states and messages that were met.

    Attributes
    ----------
    states : Numbers of FrozenClient or FrozenShard
    messages : Numbers of (int, Frozen)
        With the client or shard that sent it.
    live : mapping of int to message
        Messages to shards, ready to be taken in.
    calls : int
        Calls of real machines so far.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.ledger = ledger_of(system)
        self.states = Numbers[FrozenClient | FrozenShard]()
        self.messages = Numbers[tuple[int, Frozen]]()
        self.live: Memo[int, Any] = Memo(lambda n: thaw_to_shard(self.messages[n][1], system.columns))
        self.calls = 0


def said(error: Exception) -> str:
    """An exception of the machines or the invariants in a line."""
    return f"{type(error).__name__}: {error}"

"""How the versions that were read reached the reader's client.

A message names no rows in the trace. So what can be told is whether *some* reply or push can have brought the
version, not whether it brought that row.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.auditing import telling
from pskit.auditing.case import SAMPLED, Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.groups import SortedGroups
from pskit.auditing.history import NEVER

Array = npt.NDArray[Any]


class _Copies:
    """Replies and pushes by client and shard, in the order of sending: how versions reach a client."""

    def __init__(self, case: Case) -> None:
        places = case.of_kind("reply", "push")
        arrived = case.messages["t_deliver"][places]
        pairs = case.clients * case.shards
        self.by_sending = SortedGroups(case.pair(places), case.messages["t_send"][places], pairs)
        self.by_arrival = SortedGroups(case.pair(places), np.where(arrived < 0, NEVER, arrived), pairs)
        # Earliest arrival of a message and those sent later: where links repeat, one stands for another.
        self.earliest = np.where(arrived < 0, NEVER, arrived)[self.by_sending.order]
        for a, b in zip(self.by_sending.start, self.by_sending.start[1:], strict=False):
            self.earliest[a:b] = np.minimum.accumulate(self.earliest[a:b][::-1])[::-1]

    def bring(self, case: Case, since: Array) -> Array:
        """Whether a message brought each read its version, and arrived not before ``since`` (n,): (n,) bool.

        A version is sent only while it is the shard's newest: from its last update until the next one.
        """
        r, history = case.reads, case.history
        pair = case.read_pair
        newest_from = history.applied_at(r["shard"], r["version"] - 1)
        newest_until = history.applied_at(r["shard"], r["version"])
        # Where ``since`` is 0 the second of these is the first message of all, and so the first one decides.
        place = np.maximum(self.by_sending.first(pair, newest_from), self.by_arrival.first(pair, since))
        known = place < self.by_sending.start[pair + 1]
        if not len(self.earliest):
            return known
        place = np.where(known, place, 0)
        brought: Array = known & (self.by_sending.value[place] <= newest_until)
        return brought & (self.earliest[place] <= r["t"])


def version_travels(case: Case) -> Finding | str:
    """A reply or push, sent while the version was the shard's newest, reached the client before the read."""
    if not case.is_whole("messages"):
        return SAMPLED
    return _brought(case, np.zeros(len(case.reads["t"]), np.int64))


def refetched(case: Case) -> Finding | str:
    """ASP: the copy that is read reached the client during the worker's clock."""
    if case.policy != "asp":
        return "only under asp"
    if not case.is_whole("messages"):
        return SAMPLED
    # Only on plain links the order of arrival is that of sending, as `_Copies.bring` needs it.
    since = np.where(case.plain_pair(case.read_pair), case.windows.begin[case.read_window], 0)
    return _brought(case, since)


def _brought(case: Case, since: Array) -> Finding:
    brought = _Copies(case).bring(case, since)
    return breaks(
        ~brought,
        lambda i: telling.lines(
            f"{telling.read(case, i)}; no message can have brought it", telling.led_there(case, i)
        ),
        case.reads["t"],
    )


CHECKS = (
    Check("versions travel in messages", version_travels),
    Check("ASP fetches in every clock", refetched),
)

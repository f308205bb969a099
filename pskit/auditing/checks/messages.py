"""Messages: cause before effect, and what links promise."""

import numpy as np

from pskit.auditing import telling
from pskit.auditing.case import SAMPLED, Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.groups import SortedGroups

LOST = -1


def delivery(case: Case) -> Finding | str:
    """Messages are numbered in the order of sending, and none arrives before it was sent."""
    m = case.messages
    wrong = (m["t_deliver"] < m["t_send"]) & (m["t_deliver"] != LOST)
    order = np.argsort(m["id"], kind="stable")
    wrong[order[1:]] |= np.diff(m["t_send"][order]) < 0
    return breaks(wrong, lambda i: telling.message(case, i), m["t_send"])


def within(case: Case) -> Finding | str:
    """Messages are sent within the run; after it, links that repeat may still repeat and acknowledge."""
    m, end = case.messages, case.emulated
    if not case.ended and case.live:
        return "the run was stopped, and its processes noticed that at different times"
    late = m["t_send"] > end
    if case.ended:
        late &= case.links.plain(m["src"], m["dst"])
    if case.live:  # what a client sends there is in before the run ends, a shard's answers may be later
        late &= m["src"] < case.clients
    return breaks(
        late, lambda i: f"{telling.message(case, i)}; the run ended at {telling.at(end)}", m["t_send"]
    )


def losses(case: Case) -> Finding | str:
    """Messages are lost only on links that lose."""
    m = case.messages
    loses, _ = case.links.rules(m["src"], m["dst"])
    wrong = (m["t_deliver"] == LOST) & ~loses
    return breaks(wrong, lambda i: f"{telling.message(case, i)}, on a link that loses nothing", m["t_send"])


def fifo(case: Case) -> Finding | str:
    """Messages of a link arrive in the order of sending, unless it reorders."""
    m = case.messages
    _, reorders = case.links.rules(m["src"], m["dst"])
    link = m["src"].astype(np.int64) * (case.clients + case.shards) + m["dst"]
    arrived = np.flatnonzero((m["t_deliver"] >= 0) & ~reorders)
    order = arrived[np.lexsort((m["id"][arrived], link[arrived]))]
    overtakes = (link[order[1:]] == link[order[:-1]]) & (np.diff(m["t_deliver"][order]) < 0)
    wrong = np.zeros(len(link), np.bool_)
    wrong[order[1:]] = overtakes
    before = np.zeros(len(link), np.int64)
    before[order[1:]] = order[:-1]
    return breaks(
        wrong,
        lambda i: f"{telling.message(case, i)}; sent before it: {telling.message(case, int(before[i]))}",
        m["t_deliver"],
    )


def replies(case: Case) -> Finding | str:
    """A reply answers a request that has arrived; at the end every request is answered, but of the dead."""
    if not case.is_whole("messages"):
        return SAMPLED
    m, pairs = case.messages, case.clients * case.shards
    asked, answered = case.of_kind("request"), case.of_kind("reply")
    asked = asked[case.plain_pair(case.pair(asked))]
    answered = answered[case.plain_pair(case.pair(answered))]
    requests = SortedGroups(case.pair(asked), m["t_deliver"][asked], pairs)
    ordered = SortedGroups(case.pair(answered), m["t_send"][answered], pairs)
    number = np.arange(len(answered)) - ordered.start[ordered.group] + 1
    unasked = requests.count(ordered.group, ordered.value, inclusive=True) < number
    unanswered = (np.diff(requests.start) > np.diff(ordered.start)) & case.finished
    unanswered &= ~np.tile(case.dead[:: case.threads], case.shards)

    def tell(i: int) -> str:
        if i < len(answered):
            said = telling.message(case, int(answered[ordered.order[i]]))
            return f"{said}; it is reply number {number[i]}, and fewer requests had arrived"
        shard, client = divmod(i - len(answered), case.clients)
        return f"a request of client {client} to shard {shard} was never answered"

    return breaks(np.concatenate([unasked, unanswered]), tell)


def pushes(case: Case) -> Finding | str:
    """A shard pushes when its clock rises, so at a moment at which it took in an oplog or lost a worker.

    Live, a push may be sent later, when its client has room for it, in the place of several.
    """
    if not case.is_whole("messages"):
        return SAMPLED
    places = case.of_kind("push")
    places = places[case.plain_pair(case.pair(places))]
    shard = case.messages["src"][places] - case.clients
    sent = case.messages["t_send"][places]
    shards = np.concatenate([case.updates["shard"], case.members["shard"]])
    causes = np.concatenate([case.updates["t_applied"], case.members["t"]])
    taken = SortedGroups(shards, causes, case.shards)
    upto = taken.count(shard, sent, inclusive=True)
    wrong = upto == taken.count(shard, sent)
    if case.live:
        pair = case.pair(places)
        order = np.argsort(pair, kind="stable")
        before = np.zeros(len(places), np.int64)
        same = pair[order[1:]] == pair[order[:-1]]
        before[order[1:]] = np.where(same, upto[order[:-1]], 0)
        wrong &= upto <= before
    return breaks(wrong, lambda i: f"{telling.message(case, int(places[i]))}, when it applied nothing", sent)


CHECKS = (
    Check("delivered after sent", delivery),
    Check("messages within the run", within),
    Check("lost only where links lose", losses),
    Check("links are FIFO", fifo),
    Check("replies follow requests", replies),
    Check("pushes follow oplogs", pushes),
)

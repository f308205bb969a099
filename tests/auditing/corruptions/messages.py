"""What was sent, when, and when it arrived."""

import numpy as np

from tests.auditing.corruptions.planting import Faults

MESSAGES = Faults()


@MESSAGES.fault("a message is delivered before it was sent", "delivered after sent")
def _(draft):
    line = draft.message_where("request")
    draft["messages"]["t_deliver"][line] = draft["messages"]["t_send"][line] - 1


@MESSAGES.fault("a message is lost on a reliable link", "lost only where links lose")
def _(draft):
    draft["messages"]["t_deliver"][draft.message_where("oplog")] = -1


@MESSAGES.fault("a message overtakes another one", "links are FIFO")
def _(draft):
    m = draft["messages"]
    line = draft.message_where("reply")
    link = np.flatnonzero((m["src"] == m["src"][line]) & (m["dst"] == m["dst"][line]))
    before = link[np.searchsorted(link, line) - 1]
    m["t_deliver"][before] = m["t_deliver"][line] + 1


@MESSAGES.fault("an oplog message is removed", "applied on arrival")
def _(draft):
    draft.remove_message(draft.message_where("oplog"))


@MESSAGES.fault("an oplog arrives later than it is applied", "applied on arrival")
def _(draft):
    m = draft["messages"]
    last = np.flatnonzero((m["kind"] == 2) & (m["src"] == 1) & (m["dst"] == 3))[-1]
    m["t_deliver"][last] += 1


@MESSAGES.fault("a reply is removed", "replies follow requests")
def _(draft):
    draft.remove_message(draft.message_where("reply"))


@MESSAGES.fault("a reply arrives later than it is read", "versions travel in messages")
def _(draft):
    m = draft["messages"]
    line = draft.message_where("reply", lambda line: draft.only_it_brought(line))
    link = (m["src"] == m["src"][line]) & (m["dst"] == m["dst"][line])
    m["t_deliver"][link & (m["id"] >= m["id"][line])] += 10**12


@MESSAGES.fault("a push is removed", "versions travel in messages", "essp")
def _(draft):
    draft.remove_message(draft.message_where("push", lambda line: draft.only_it_brought(line)))


@MESSAGES.fault("a push is sent out of nothing", "pushes follow oplogs", "essp")
def _(draft):
    sent = draft["messages"]["t_send"]
    sent[draft.message_where("push", lambda line: sent[line + 1] > sent[line])] += 1


@MESSAGES.fault("two messages have the same number", "ids of messages")
def _(draft):
    draft["messages"]["id"][7] = draft["messages"]["id"][8]


@MESSAGES.fault("a reply goes from a client to a shard", "ids of messages")
def _(draft):
    m = draft["messages"]
    line = draft.message_where("reply")
    m["src"][line], m["dst"][line] = m["dst"][line], m["src"][line]


@MESSAGES.fault("a message is sent at a negative time", "ids of messages")
def _(draft):
    draft["messages"]["t_send"][0] = -5


@MESSAGES.fault("a message has a negative size", "ids of messages")
def _(draft):
    draft["messages"]["bytes"][4] = -1


@MESSAGES.fault("a message is sent after the run", "messages within the run")
def _(draft):
    m = draft["messages"]
    m["t_send"][-1] = draft.manifest["emulated_ns"] + 1
    m["t_deliver"][-1] = m["t_send"][-1] + 10**9

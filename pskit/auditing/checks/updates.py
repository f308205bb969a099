"""Oplogs: which there are, and their times."""

import numpy as np

from pskit.auditing import telling
from pskit.auditing.case import SAMPLED, UNDER_WAY, Array, Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.groups import SortedGroups

ROUNDING = 1e-9
TINY = 1e-140


def one_per_clock(case: Case) -> Finding | str:
    """Every clock() sends one oplog to every shard, and leaving sends one more.

    A client that died may have come to some of the shards only, and over links that lose to any of them. A
    BSP shard holds back what it has of a clock that is not over, also of workers that left.
    """
    units, finished = case.history.ticks, case.windows.finished
    gone = np.ones_like(case.history.left) if case.finished else case.history.left
    if case.policy == "bsp" and not case.finished:
        gone = np.zeros_like(gone)
    wrong = (units > finished + 1) | (gone & (units != finished + 1))
    wrong[:, case.dead] = False
    clients = np.arange(case.workers) // case.threads
    for j in range(1, case.shards):
        plain = case.links.plain(clients, np.full(case.workers, case.clients + j))
        plain &= case.links.plain(clients, np.full(case.workers, case.clients))
        wrong[j] |= case.dead & plain & (np.abs(units[j] - units[0]) > 1)

    def tell(i: int) -> str:
        shard, worker = divmod(i, case.workers)
        last = " and left" if gone[shard, worker] else ""
        if case.dead[worker]:
            return (
                f"worker {worker} died, and sends to all shards at once, but shard {shard} applied "
                f"{units[shard, worker]} updates of it and shard 0 {units[0, worker]}"
            )
        return (
            f"worker {worker} finished {finished[worker]} clocks{last}, but shard {shard} applied "
            f"{units[shard, worker]} updates of it"
        )

    return breaks(wrong.ravel(), tell)


def times(case: Case) -> Finding | str:
    """An update is made during its clock, sent when that ends, and applied later, in the order of numbers."""
    u, windows = case.updates, case.windows
    place = windows.find(u["worker"], u["clock"])
    early = np.where(case.tick, u["t_sent"] != windows.end[place], u["t_sent"] > windows.end[place])
    wrong = (place < 0) | (u["t_inc"] < windows.begin[place]) | early
    wrong &= ~case.dead[u["worker"]]  # its clocks are not in the trace
    wrong |= (u["t_inc"] > u["t_sent"]) | (u["t_sent"] > u["t_applied"])
    order = case.history.order
    same_shard = u["shard"][order[1:]] == u["shard"][order[:-1]]
    wrong[order[1:]] |= same_shard & (np.diff(case.history.t_applied) < 0)

    def tell(i: int) -> str:
        begin, end = (telling.at(int(t[place[i]])) for t in (windows.begin, windows.end))
        made, sent = (telling.at(int(u[name][i])) for name in ("t_inc", "t_sent"))
        span = f"that clock lasted from {begin} to {end}" if place[i] >= 0 else "there is no such clock"
        return f"{telling.update(case, i)}; it was opened at {made} and sent at {sent}, {span}"

    return breaks(wrong, tell, u["t_applied"])


def bsp_order(case: Case) -> Finding | str:
    """BSP: a shard applies clock after clock, in worker order, each once all its updates have been sent."""
    if case.policy != "bsp":
        return "only under bsp"
    u, order = case.updates, case.history.order
    shard, tag, worker = (u[name][order].astype(np.int64) for name in ("shard", "clock", "worker"))
    rank = tag * case.workers + worker
    wrong = np.concatenate([[False], (shard[1:] == shard[:-1]) & (rank[1:] <= rank[:-1])])[: len(order)]
    width = int(tag.max(initial=0)) + 1
    all_sent = np.zeros(case.shards * width, np.int64)
    np.maximum.at(all_sent, shard * width + tag, u["t_sent"][order])
    wrong |= case.history.t_applied < all_sent[shard * width + tag]

    def tell(i: int) -> str:
        sent = telling.at(int(all_sent[shard[i] * width + tag[i]]))
        before = f"; before it {telling.update(case, int(order[i - 1]))}" if i else ""
        return f"{telling.update(case, int(order[i]))}, the last of that clock was sent at {sent}{before}"

    return breaks(wrong, tell, case.history.t_applied)


def arrival(case: Case) -> Finding | str:
    """An oplog is applied when its message arrives, or later where BSP or a lossy link holds it back."""
    if not case.is_whole("messages"):
        return SAMPLED
    u = case.updates
    pair = u["shard"].astype(np.int64) * case.clients + u["worker"] // case.threads
    # The n-th oplog of a link arrives before the n-th is applied, as links are in order.
    order = np.lexsort((u["t_applied"], u["t_sent"], pair))
    pair, sent, applied = pair[order], u["t_sent"][order], u["t_applied"][order]
    number = np.arange(len(pair)) - np.searchsorted(pair, pair) + 1
    places = case.of_kind("oplog")
    arrived = places[case.messages["t_deliver"][places] >= 0]
    pairs = case.clients * case.shards
    sendings = SortedGroups(case.pair(places), case.messages["t_send"][places], pairs)
    arrivals = SortedGroups(case.pair(arrived), case.messages["t_deliver"][arrived], pairs)
    wrong = sendings.count(pair, sent, inclusive=True) == sendings.count(pair, sent)
    wrong &= ~_losses_unknown(case)[order]
    wrong |= arrivals.count(pair, applied, inclusive=True) < number
    if case.policy != "bsp":
        at_once = np.flatnonzero(~wrong & case.plain_pair(pair))
        nth = arrivals.start[pair[at_once]] + number[at_once] - 1
        wrong[at_once] = arrivals.value[nth] != applied[at_once]

    def tell(i: int) -> str:
        client = pair[i] % case.clients
        ours = places[case.pair(places) == pair[i]]
        near = ours[np.argsort(np.abs(case.messages["t_send"][ours] - sent[i]), kind="stable")][:2]
        said = f"{telling.update(case, int(order[i]))}, sent at {telling.at(int(sent[i]))}"
        return telling.lines(
            f"{said} from client {client}, the oplog number {number[i]} of that link; "
            "oplog messages of about that time:",
            (telling.message(case, int(place)) for place in near),
        )

    return breaks(wrong, tell, applied)


def norms(case: Case) -> Finding | str:
    """The norms of an update are finite, l2 >= linf >= 0, and zero where it had no rows.

    Squares of magnitudes below `TINY` or above its inverse leave the range of floats: there l2 may be 0, or
    infinite. The other way round l2 is at most linf times the root of the entries of the shard.
    """
    u = case.updates
    l2, linf = u["l2"], u["linf"]
    usual = (linf > TINY) & (linf < 1 / TINY)
    entries = np.zeros(case.shards)
    for spec, offset in zip(case.layout.tables, case.layout.offsets, strict=False):
        rows = np.bincount((offset + np.arange(spec.rows)) % case.shards, minlength=case.shards)
        entries += rows * spec.cols
    most = linf * np.sqrt(entries[u["shard"]])
    wrong = ~((l2 >= 0) & (linf >= 0) & np.isfinite(linf)) | ((linf == 0) & (l2 != 0))
    if not all(np.isfinite(case.tables[f"final:{t.name}"]).all() for t in case.layout.tables):
        wrong &= np.isfinite(l2) & np.isfinite(linf)  # tables that are not finite come of such updates
    wrong |= usual & ~((l2 >= linf * (1 - ROUNDING)) & (l2 <= most * (1 + ROUNDING)))
    if case.is_whole("messages"):
        wrong |= (linf > 0) & ~_had_rows(case) & ~_losses_unknown(case)

    def tell(i: int) -> str:
        return (
            f"{telling.update(case, i)}; its Euclidean norm is {l2[i]:.6g}, its largest entry {linf[i]:.6g}, "
            f"and the rows of the shard have {entries[u['shard'][i]]:.0f} entries"
        )

    return breaks(wrong, tell, u["t_applied"])


def _losses_unknown(case: Case) -> Array:
    """Whether an update is of a client that died, over a link whose losses its sender alone saw."""
    u = case.updates
    plain = case.links.plain(u["worker"] // case.threads, case.clients + u["shard"])
    unknown: Array = case.dead[u["worker"]] & ~plain
    return unknown


def _had_rows(case: Case) -> Array:
    """Whether an oplog message with rows was sent when each update was: (n,) bool."""
    u, m, places = case.updates, case.messages, case.of_kind("oplog")
    full = places[m["rows"][places] > 0]
    sent = SortedGroups(case.pair(full), m["t_send"][full], case.clients * case.shards)
    pair = u["shard"].astype(np.int64) * case.clients + u["worker"] // case.threads
    had: Array = sent.count(pair, u["t_sent"], inclusive=True) > sent.count(pair, u["t_sent"])
    return had


def increments(case: Case) -> Finding | str:
    """No entry was changed by more than the largest entries of all updates of its shard add up to."""
    if not case.ended:
        return UNDER_WAY
    most = np.bincount(case.updates["shard"], case.updates["linf"], minlength=case.shards)
    number = case.history.count
    names, said = [t.name for t in case.layout.tables], []
    wrong = np.zeros(len(names), np.bool_)
    for i, (spec, offset) in enumerate(zip(case.layout.tables, case.layout.offsets, strict=False)):
        incs = np.abs(case.tables[f"incs:{spec.name}"].astype(np.float64)).max(axis=1)
        shard = (offset + np.arange(spec.rows)) % case.shards
        eps = np.finfo(spec.dtype).eps if spec.dtype.startswith("f") else ROUNDING
        # INCs are coalesced before they are sent, and summed as they are; 4 leaves room as in `end state`.
        over = incs > most[shard] * (1 + 4 * (number[shard] + 1) * eps)
        wrong[i] = over.any()
        row = int(np.argmax(over))
        said.append((row, incs[row], most[shard[row]]))
    return breaks(
        wrong,
        lambda i: (
            f"all INCs to a column of row {said[i][0]} of table {names[i]!r} add up to {said[i][1]:.6g}, "
            f"the largest entries of all updates that its shard applied to {said[i][2]:.6g}"
        ),
    )


CHECKS = (
    Check("one oplog per clock and shard", one_per_clock),
    Check("times of an update", times),
    Check("BSP order", bsp_order),
    Check("applied on arrival", arrival),
    Check("norms of an update", norms),
    Check("norms bound the INCs", increments),
)

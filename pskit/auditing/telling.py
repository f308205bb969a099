"""Words for a story: reads, updates and messages as sentences, and the messages that led to a read."""

from collections.abc import Iterable

import numpy as np

from pskit.auditing.case import Case
from pskit.trace.schema import MESSAGE_KINDS

SHOWN = 4
"""Messages, or missing updates, that a story names at most."""


def at(t: int) -> str:
    """A time in seconds, to the nanosecond."""
    return f"{t // 10**9}.{t % 10**9:09d} s"


def span(first: int, upto: int) -> str:
    """The numbers from ``first`` up to, but excluding, ``upto``."""
    if upto <= first:
        return "none"
    return f"number {first}" if upto == first + 1 else f"numbers {first} to {upto - 1}"


def lines(first: str, more: Iterable[str]) -> str:
    """Put ``more`` below the first line."""
    return "\n".join([first, *(f"  {line}" for line in more)])


def read(case: Case, i: int) -> str:
    """Who read what: the read in line ``i``."""
    r = case.reads
    table = case.layout.tables[r["table"][i]].name
    return (
        f"worker {r['worker'][i]} at clock {r['clock'][i]} read row {r['row'][i]} of table {table!r} "
        f"(shard {r['shard'][i]}) at {at(int(r['t'][i]))}, as of version {r['version'][i]}"
    )


def update(case: Case, i: int) -> str:
    """What the shard did in line ``i`` of the updates."""
    u = case.updates
    return (
        f"shard {u['shard'][i]} applied the update of worker {u['worker'][i]}, clock {u['clock'][i]}, "
        f"as its number {u['apply_index'][i]} at {at(int(u['t_applied'][i]))}"
    )


def end_point(case: Case, end: int) -> str:
    """Name of an end point."""
    return f"client {end}" if end < case.clients else f"shard {end - case.clients}"


def message(case: Case, i: int) -> str:
    """The message in line ``i``."""
    m = case.messages
    kind = MESSAGE_KINDS[m["kind"][i]]
    ends = f"from {end_point(case, m['src'][i])} to {end_point(case, m['dst'][i])}"
    t = int(m["t_deliver"][i])
    fate = "lost" if t < 0 else f"arrived {at(t)}"
    return f"{kind} {m['id'][i]} {ends}: sent {at(int(m['t_send'][i]))}, {fate}"


def led_there(case: Case, i: int) -> list[str]:
    """The last messages between the reader's client and the row's shard before the read in line ``i``."""
    worker, shard, t = (int(case.reads[name][i]) for name in ("worker", "shard", "t"))
    client = worker // case.threads
    places = case.of_kind("request", "reply", "push", "unsubscribe")
    ours = places[case.pair(places) == shard * case.clients + client]
    m = case.messages
    seen = np.where(m["dst"][ours] == client, m["t_deliver"][ours], m["t_send"][ours])
    ours = ours[(seen <= t) & (seen >= 0)]
    last = ours[np.argsort(seen[(seen <= t) & (seen >= 0)], kind="stable")][-SHOWN:]
    said = [message(case, int(place)) for place in last]
    if not said:
        kept = "was recorded" if case.is_whole("messages") else "is among the recorded ones"
        return [f"no message between client {client} and shard {shard} before the read {kept}"]
    return ["messages that led there:", *(f"  {line}" for line in said)]


def lacking(case: Case, i: int, k: int) -> list[str]:
    """Updates with a tag below ``k`` that the read in line ``i`` lacks, and where they were meanwhile."""
    shard, version = int(case.reads["shard"][i]), int(case.reads["version"][i])
    workers = np.arange(case.workers)
    of_shard = np.full(case.workers, shard)
    inside = case.history.included(of_shard, np.full(case.workers, version), workers)
    wanted = np.where(
        case.history.left[shard], np.minimum(k, case.history.units[shard]), np.full(case.workers, k)
    )
    said = []
    behind = np.flatnonzero(inside < wanted).tolist()
    for w in behind[:SHOWN]:
        clock = int(inside[w])
        said.append(f"missing: the update of worker {w}, clock {clock}{_fate(case, shard, w, clock)}")
    if len(behind) > SHOWN:
        said.append(f"and updates of {len(behind) - SHOWN} more workers")
    return said


def _fate(case: Case, shard: int, worker: int, unit: int) -> str:
    line = case.history.line_of_unit(shard, worker, unit)
    if line is None:
        return ", which this shard never applied"
    u = case.updates
    sent, applied = at(int(u["t_sent"][line])), at(int(u["t_applied"][line]))
    return f", sent at {sent}, applied as number {u['apply_index'][line]} at {applied}"

"""Who is where, and who waits for what: read from the words that every process shows."""

from pskit.runtime.base import Progress
from pskit.runtime.live.plan import CLOCK, CONSUMED, LEFT, LINE, NEED, SENT, SLEEP, WAITING_ROWS, Shared
from pskit.runtime.live.timebase import NEVER

SHOWN = 8
"""Workers that a message names, at most."""


def clock_of(shared: Shared, worker: int) -> int:
    """Finished clocks of a worker."""
    return int(shared.workers[worker, CLOCK])


def who_waits(shared: Shared) -> str:
    """One sentence about the workers that wait, and the clocks of the shards."""
    lines = []
    states = shared.workers.copy()
    waiting = [w for w in range(len(states)) if states[w, WAITING_ROWS] > 0]
    for w in waiting[:SHOWN]:
        clock, rows, need = (int(states[w, i]) for i in (CLOCK, WAITING_ROWS, NEED))
        for_clock = f" of clock {need}" if need > 0 else ""
        lines.append(f"worker {w} at clock {clock} waited for {rows} rows{for_clock}")
    if len(waiting) > SHOWN:
        lines.append(f"{len(waiting) - SHOWN} more workers waited")
    if not lines:
        lines = ["no worker waited"]
    clocks = ", ".join(str(int(c)) for c in shared.shards[:SHOWN, CLOCK])
    more = ", ..." if len(shared.shards) > SHOWN else ""
    return f"{'; '.join(lines)}; clocks of the shards: {clocks}{more}"


def nothing_moves(shared: Shared) -> bool:
    """Whether nothing can ever happen again: no message is on its way, and every process waits for one.

    Only sure when it is so for a while: processes are looked at one after the other.
    """
    plan = shared.plan
    left = shared.workers[:, WAITING_ROWS].reshape(plan.clients, -1) == LEFT
    if left.all():
        return False
    asleep = shared.processes[SLEEP::LINE] == NEVER
    asleep[: plan.clients] |= left.all(axis=1)
    return bool(asleep.all()) and all(
        shared.ring(client, upward).is_empty for client in range(plan.clients) for upward in (True, False)
    )


def progress(shared: Shared) -> Progress:
    """Clocks that every worker has finished, and facts for a progress line."""
    clocks, rows = shared.workers[:, CLOCK].copy(), shared.workers[:, WAITING_ROWS].copy()
    low, high = int(clocks.min()), int(clocks.max())
    sent, consumed = (int(shared.processes[word::LINE].sum()) for word in (SENT, CONSUMED))
    return low, {
        "clock_min": low,
        "clock_max": high,
        "waiting_share": float((rows > 0).mean()),
        "messages": sent,
        "in_flight": max(0, sent - consumed),
    }

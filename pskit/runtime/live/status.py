"""Who is where, and who waits for what: read from the words that every process shows."""

from pathlib import Path

import numpy as np

from pskit.runtime.base import Progress
from pskit.runtime.live.plan import (
    CLOCK,
    COMPUTING,
    CONSUMED,
    DEAD,
    DUE,
    LEFT,
    LINE,
    LOST,
    NEED,
    SENT,
    SLEEP,
    WAITING_ROWS,
    Shared,
)
from pskit.runtime.live.timebase import NEVER

SHOWN = 8
"""Workers that a message names, at most."""
STILL_SECONDS = 3.0
"""Real time without any movement after which a watchdog says who waits for whom."""


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
    gone = shared.workers[:, WAITING_ROWS].reshape(plan.clients, -1) <= LEFT
    if gone.all():
        return False
    asleep = shared.of_all(SLEEP) == NEVER
    asleep[: plan.clients] |= gone.all(axis=1)
    alive = np.flatnonzero(shared.of_all(DEAD)[: plan.clients] == 0).tolist()
    return bool(asleep.all()) and all(
        shared.ring(client, upward).is_empty for client in alive for upward in (True, False)
    )


def mark_dead(shared: Shared, client: int) -> list[tuple[int, int]]:
    """Show all processes that ``client`` has died: its workers that were at work, and their clocks."""
    threads = len(shared.workers) // shared.plan.clients
    workers = range(client * threads, (client + 1) * threads)
    at_work = [(w, clock_of(shared, w)) for w in workers if shared.workers[w, WAITING_ROWS] != LEFT]
    for worker, _ in at_work:
        shared.workers[worker, WAITING_ROWS] = LOST
    shared.processes[client * LINE + DEAD] = 1
    return at_work


class Watchdog:
    """Notices that nothing moves although something should, once for each time that it happens.

    Parameters
    ----------
    shared : Shared
    pids : list of int
        Of all processes, the server's last.
    """

    def __init__(self, shared: Shared, pids: list[int]) -> None:
        self._shared, self._pids = shared, pids
        self._words = self._look()
        self._since: float | None = None  # looked at for the first time
        self._told = False

    def look(self, seconds: float, emulated: int) -> str | None:
        """Look at the time ``seconds`` (real) and ``emulated`` (ns): what to say, if it is time to say it."""
        words = self._look()
        if not np.array_equal(words, self._words):
            self._words, self._since, self._told = words, seconds, False
            return None
        if self._since is None:
            self._since = seconds
        due = self._shared.of_all(DUE)
        planned = bool(((due > emulated) & (due < NEVER)).any())  # somebody sleeps until then, as it should
        if planned or self._told or seconds - self._since < STILL_SECONDS:
            return None
        self._told = True
        return f"nothing has moved for {STILL_SECONDS:g} s: {self._who()}"

    def _look(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        shared = self._shared
        return np.concatenate([shared.processes, shared.workers.ravel(), shared.shards.ravel()])

    def _who(self) -> str:
        shared, lines = self._shared, []
        stopped = [p for p, pid in enumerate(self._pids) if _state(pid) == "T"]
        for p in stopped[:SHOWN]:
            name = "the server" if p == shared.plan.server else f"client {p}"
            lines.append(f"{name} (process {self._pids[p]}) is stopped")
        computing = np.flatnonzero(shared.workers[:, WAITING_ROWS] == COMPUTING).tolist()
        for w in computing[:SHOWN]:
            lines.append(f"worker {w} at clock {clock_of(shared, w)} computes")
        if len(computing) > SHOWN:
            lines.append(f"{len(computing) - SHOWN} more workers compute")
        return "; ".join([*lines, who_waits(shared)])


def _state(pid: int) -> str:
    """State of a process as the kernel calls it, empty where it does not say."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def progress(shared: Shared) -> Progress:
    """Clocks that every worker has finished, and facts for a progress line."""
    alive = shared.workers[:, WAITING_ROWS] != LOST
    clocks, rows = shared.workers[alive, CLOCK], shared.workers[alive, WAITING_ROWS]
    low, high = int(clocks.min()), int(clocks.max())
    sent, consumed = (int(shared.of_all(word).sum()) for word in (SENT, CONSUMED))
    return low, {
        "clock_min": low,
        "clock_max": high,
        "waiting_share": float((rows > 0).mean()),
        "messages": sent,
        "in_flight": max(0, sent - consumed),
    }

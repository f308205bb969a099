"""How much memory a run will need, said before it starts, and what it took."""

import resource
import sys
from typing import Any

from pskit.core.layout import Layout
from pskit.core.policies import policy_class
from pskit.core.rows import first_slots
from pskit.errors import InputError
from pskit.trace.recorder import MESSAGE_CAP, READ_CAP
from pskit.trace.starts import VALUE_CAP

BASE_BYTES = 160 << 20
"""Interpreter, NumPy, numba and the compiled kernels."""
MESSAGE_BYTES = 64  # one recorded message
READ_BYTES = 64  # one recorded row of a read
VALUE_BYTES = 60  # one recorded entry of a view and an update, while the columns are put together
ROW_BYTES = 20  # what layout and shard keep of a row beside its values
SLOT_BYTES = 5  # what a pool keeps of a row version beside its values


def estimate_bytes(cfg: Any, layout: Layout) -> int:
    """Estimated peak of a run in virtual time, bytes.

    Counted: the initial, final and summed tables, row versions (a copy that differs per clock within the
    slack, at most one per client), caches and subscriptions per client, and the bounded trace. Only sizes
    are added up: nothing is allocated.
    """
    rows, clients, threads = layout.n_rows, cfg.cluster.clients, cfg.cluster.threads
    table_bytes = int(sum(t.rows * b for t, b in zip(layout.tables, layout.row_bytes, strict=True)))
    policy = policy_class(cfg.ps.policy)
    spread = 2 if policy.subscribes else min(clients, 2 + (cfg.ps.slack or 0))
    if policy.gated:  # every INC makes versions, and clients take them in at their own pace
        spread = clients + 1
    versions = 3 * (1 + spread)  # of every row: while a pool doubles, old and new exist
    pools = sum(
        max(versions * t.rows, first_slots(t.rows)) * (b + SLOT_BYTES)
        for t, b in zip(layout.tables, layout.row_bytes, strict=True)
    )
    caches = clients * rows * (4 + 4 + 8 + 4 * threads + 2 + (4 * threads if policy.refetches else 0))
    subscriptions = clients * rows * (2 if cfg.ps.push == "deltas" else 1) if policy.subscribes else 0
    recorded = READ_CAP * READ_BYTES + MESSAGE_CAP * MESSAGE_BYTES
    recorded += VALUE_CAP * VALUE_BYTES if policy.gated else 0
    return BASE_BYTES + 4 * table_bytes + rows * ROW_BYTES + pools + caches + subscriptions + recorded


def available_bytes() -> int | None:
    """Memory that can still be had, or None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def check_memory(needed: int) -> None:
    """Refuse a run that cannot fit.

    Raises
    ------
    InputError
        Names what is needed and what there is.
    """
    available = available_bytes()
    if available is not None and needed > available:
        raise InputError(
            f"this run needs about {needed / 2**30:.1f} GiB, and {available / 2**30:.1f} GiB are free: "
            f"use fewer clients, smaller tables or data (app.rank, app.dim, app.samples, app.data) or a "
            "smaller slack"
        )


def peak_bytes() -> int:
    """Largest resident size of this process so far, bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024

"""Loops over row ids, compiled. Each is plain Python under ``.py_func``, which the tests use as its twin.

No reassociation and no fused multiply-add (numba's default, ``fastmath=False``): updates are added one
by one in a fixed order, so values are equal wherever IEEE addition is.

Rows that were computed are unsigned in the inner loops: then no index can count from the end, and LLVM
vectorises over the columns.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np


def compiled(f: Callable[..., Any]) -> Any:
    """Compile a loop when it is first called, and keep the code for other processes."""
    return numba.njit(cache=True, nogil=True)(f)


@compiled
def ascending_within(ids: Any, n: int) -> int:
    """1 when ``ids`` is strictly ascending in ``0..n-1``, 0 when in range only, -1 when out of range."""
    ok = 1
    last = -1
    for i in range(len(ids)):
        r = ids[i]
        if r < 0 or r >= n:
            return -1
        if r <= last:
            ok = 0
        last = r
    return ok


@compiled
def first_non_finite(delta: Any) -> int:
    """Index of the first row of ``delta`` (n, cols) with a NaN or an infinity, or -1."""
    for i in range(delta.shape[0]):
        bad = False
        for j in range(delta.shape[1]):
            bad |= not np.isfinite(delta[i, j])
        if bad:
            return i
    return -1


@compiled
def norms(delta: Any) -> Any:
    """Sum of squares and largest magnitude of the entries of ``delta`` (n, cols), by columns first."""
    cols = delta.shape[1]
    squares = np.zeros(cols)
    largest = np.zeros(cols)
    for i in range(delta.shape[0]):
        for j in range(cols):
            x = np.float64(delta[i, j])  # not float(): that keeps float32 when compiled
            squares[j] += x * x
            largest[j] = max(largest[j], abs(x))
    total = 0.0
    most = 0.0
    for j in range(cols):
        total += squares[j]
        most = max(most, largest[j])
    return total, most


@compiled
def add_rows(total: Any, rows: Any, offset: int, delta: Any) -> None:
    """Add ``delta[i]`` to row ``rows[i] - offset`` of ``total`` (rows, cols)."""
    for i in range(len(rows)):
        r = np.uint64(rows[i] - offset)
        for j in range(delta.shape[1]):
            total[r, j] += delta[i, j]


@compiled
def add_coalesced(rows: Any, delta: Any, ids: Any, more: Any) -> int:
    """Add ``more[i]`` to the row ``ids[i]`` of ``rows``, both ascending; the number of ids not found.

    Nothing is added unless every id is found.
    """
    n = len(rows)
    first = np.searchsorted(rows, ids[0]) if len(ids) else 0
    absent = 0
    a = first
    for i in range(len(ids)):
        while a < n and rows[a] < ids[i]:
            a += 1
        absent += a == n or rows[a] != ids[i]
    if absent == 0:
        a = first
        for i in range(len(ids)):
            while rows[a] < ids[i]:
                a += 1
            r = np.uint64(a)
            for j in range(more.shape[1]):
                delta[r, j] += more[i, j]
    return absent


@compiled
def apply_delta(
    local: Any, delta: Any, current: Any, shared: Any, dirty: Any, values: Any, free: Any, n_free: int
) -> int:
    """Add ``delta`` (n, cols) to the rows at local index ``local`` (n,); what is left of ``n_free``.

    A row whose version was handed out (``shared``) moves to a fresh slot first.
    """
    cols = delta.shape[1]
    for i in range(len(local)):
        r = local[i]
        slot = current[r]
        if shared[r]:
            n_free -= 1
            fresh = free[n_free]
            old, new = np.uint64(slot), np.uint64(fresh)
            for j in range(cols):
                values[new, j] = values[old, j] + delta[i, j]
            current[r] = fresh
            shared[r] = False
        else:
            at = np.uint64(slot)
            for j in range(cols):
                values[at, j] += delta[i, j]
        dirty[r] = True
    return n_free


@compiled
def lookup(
    where: Any,
    rows: Any,
    need: int,
    me: int,
    shards: int,
    slot: Any,
    row_clock: Any,
    row_version: Any,
    row_applied: Any,
    push_clock: Any,
    push_version: Any,
    push_applied: Any,
    fetched: Any,
    fetched_need: int,
    out_slot: Any,
    out_clock: Any,
    out_version: Any,
    out_own: Any,
) -> int:
    """Serve the positions ``where`` of ``rows`` from the cache; those not served move to its front.

    A copy counts when its effective clock, the later of the clock it came with and the last clock pushed
    by its shard, is at least ``need``, and it was fetched for this worker at ``fetched_need`` or later.
    Returns how many positions are still missing.
    """
    missing = 0
    per_clock = len(fetched) > 0
    for i in range(len(where)):
        p = where[i]
        r = rows[p]
        clock = row_clock[r]
        if clock >= 0:
            j = r % shards
            clock = max(clock, push_clock[j])
            if clock >= need and (not per_clock or fetched[r] >= fetched_need):
                out_slot[p] = slot[r]
                out_clock[p] = clock
                out_version[p] = max(row_version[r], push_version[j])
                out_own[p] = max(row_applied[r, me], push_applied[j, me])
                continue
        where[missing] = p
        missing += 1
    return missing


@compiled
def install_reply(
    rows: Any,
    slots: Any,
    clock: int,
    version: int,
    applied: Any,
    slot: Any,
    row_clock: Any,
    row_version: Any,
    row_applied: Any,
    used: Any,
) -> int:
    """Put replied rows into the cache; returns how many were not cached before."""
    fresh = 0
    mark = len(used) > 0
    for i in range(len(rows)):
        r = rows[i]
        if row_clock[r] < 0:
            fresh += 1
        slot[r] = slots[i]
        row_clock[r] = clock
        row_version[r] = version
        for w in range(len(applied)):
            row_applied[r, w] = applied[w]
        if mark:
            used[r] = True
    return fresh


@compiled
def install_push(rows: Any, slots: Any, slot: Any, row_clock: Any) -> int:
    """Replace the cached ones of ``rows``; returns how many were no longer cached (dropped)."""
    dropped = 0
    for i in range(len(rows)):
        if row_clock[rows[i]] < 0:
            dropped += 1
        else:
            slot[rows[i]] = slots[i]
    return dropped


@compiled
def subscribed_rows(
    subscribed: Any, changed: Any, skip: Any, clients: Any, shard: int, shards: int, current: Any
) -> Any:
    """For each of ``clients``, which of the ``changed`` local rows it subscribes to, minus ``skip``.

    Returns ``(start, rows, slots)``: client ``i`` gets the slice ``start[i]:start[i + 1]``, global rows
    ascending. ``skip`` (n_clients, changed) may be empty.
    """
    n = len(changed)
    start = np.zeros(len(clients) + 1, np.int64)
    any_skip = skip.shape[0] > 0
    for i in range(len(clients)):
        total = 0
        for q in range(n):
            if subscribed[clients[i], changed[q]] and not (any_skip and skip[i, q]):
                total += 1
        start[i + 1] = start[i] + total
    rows = np.empty(start[-1], np.int32)
    slots = np.empty(start[-1], np.int32)
    k = 0
    for i in range(len(clients)):
        for q in range(n):
            if subscribed[clients[i], changed[q]] and not (any_skip and skip[i, q]):
                rows[k] = changed[q] * shards + shard
                slots[k] = current[changed[q]]
                k += 1
    return start, rows, slots


@compiled
def add_own(
    view: Any,
    view_rows: Any,
    own_from: Any,
    unit_start: Any,
    unit_seq: Any,
    n_units: int,
    rows: Any,
    delta: Any,
) -> None:
    """Re-add own update units to ``view`` (n, cols), one by one in order of their sequence number.

    Unit ``u`` holds the ascending ``rows[unit_start[u]:unit_start[u + 1]]``; it is added to a row unless
    the row's copy already contains it (``unit_seq[u] < own_from``).
    """
    n = len(view_rows)
    if n == 0:
        return
    oldest = own_from.min()
    for u in range(n_units):
        if unit_seq[u] < oldest:  # in all copies
            continue
        end = unit_start[u + 1]
        a = unit_start[u] + np.searchsorted(rows[unit_start[u] : end], view_rows[0])
        i = 0
        while a < end and i < n:
            if rows[a] < view_rows[i]:
                a += 1
            elif rows[a] > view_rows[i]:
                i += 1
            else:
                if unit_seq[u] >= own_from[i]:
                    for j in range(view.shape[1]):
                        view[i, j] += delta[a, j]
                a += 1
                i += 1


@compiled
def changed_entries(old: Any, new: Any, old_slots: Any, new_slots: Any) -> Any:
    """Columns whose bits differ between the rows ``old[old_slots[i]]`` and ``new[new_slots[i]]``.

    ``old`` and ``new`` are unsigned views of the values. Returns ``(start, cols)`` in row order.
    """
    n = len(old_slots)
    start = np.zeros(n + 1, np.int32)
    cols = np.empty(n * old.shape[1], np.int32)
    k = 0
    for i in range(n):
        for j in range(old.shape[1]):
            if old[old_slots[i], j] != new[new_slots[i], j]:
                cols[k] = j
                k += 1
        start[i + 1] = k
    return start, cols[:k].copy()


@compiled
def second_chance(row_clock: Any, used: Any, hand: int, count: int, out: Any) -> int:
    """Choose ``count`` cached rows to evict (approximate LRU); fills ``out``, returns the new hand.

    The hand sweeps over the rows: one used since the last sweep gets a second chance.
    """
    n = len(row_clock)
    found = 0
    while found < count:
        if row_clock[hand] >= 0:
            if used[hand]:
                used[hand] = False
            else:
                out[found] = hand
                found += 1
                row_clock[hand] = -1
        hand = hand + 1 if hand + 1 < n else 0
    return hand

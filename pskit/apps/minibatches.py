"""A worker's ratings, clock by clock.

The worker goes through its ratings in one random order per epoch, and clock c takes the positions from n c f
up to n (c + 1) f of all epochs in a row (n ratings, f the share of one clock, rounded down). When 1 / f is a
whole number, each epoch is cut exactly into that many clocks.

Which rows a clock touches decides what is fetched and so the schedule of a run, so all of this is integer
arithmetic on keyed random words, equal on every platform.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pskit.apps.kernels.grouping import group_rows
from pskit.data.ratings import Triples

_LONGEST_PLAN = 4096
"""Clocks planned at once at most, for very small clocks."""


class Minibatch(NamedTuple):
    """The ratings of one clock, and the table rows they touch.

    Parameters
    ----------
    users, items : (n_users,), (n_items,) int32
        Distinct ids, ascending.
    user, item : (n,) int32
        Place of each rating's user in ``users``, of its item in ``items``.
    value : (n,) float32
    """

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    user: NDArray[np.int32]
    item: NDArray[np.int32]
    value: NDArray[np.float32]


def minibatches(
    own: Triples, fraction: float, clocks: int, stream: Callable[..., Any]
) -> Iterator[Minibatch]:
    """One minibatch per clock; empty ones where the share of a clock is below one rating.

    About an epoch is planned at a time, so that a clock costs a few slices.

    Parameters
    ----------
    own : Triples
        One worker's n ratings; n may be 0.
    fraction : float
        Share of the ratings that one clock covers, above 0 and at most 1.
    clocks : int
    stream : callable
        ``stream("epoch", e).permutation(n)`` is the order of epoch e.
    """
    user, item, value = own
    n = len(value)
    share = Fraction(fraction).limit_denominator(10**9)
    n_users, n_items = (int(ids.max(initial=-1)) + 1 for ids in (user, item))
    plan = min(ceil(1 / share), _LONGEST_PLAN) if share else _LONGEST_PLAN
    for first in range(0, clocks, plan):
        ends = [
            n * c * share.numerator // share.denominator for c in range(first, min(first + plan, clocks) + 1)
        ]
        order = _positions(ends[0], ends[-1], n, stream)
        bounds = np.array(ends) - ends[0]
        users, user_bounds, local_user = group_rows(user[order], bounds, n_users)
        items, item_bounds, local_item = group_rows(item[order], bounds, n_items)
        values = value[order]
        u, i, r = user_bounds.tolist(), item_bounds.tolist(), bounds.tolist()
        for c in range(len(bounds) - 1):
            here = slice(r[c], r[c + 1])
            yield Minibatch(
                users[u[c] : u[c + 1]],
                items[i[c] : i[c + 1]],
                local_user[here],
                local_item[here],
                values[here],
            )


def _positions(begin: int, end: int, n: int, stream: Callable[..., Any]) -> NDArray[np.int64]:
    """Ratings at the places begin..end-1 of all epochs' orders in a row."""
    if begin == end:
        return np.empty(0, np.int64)
    parts = []
    for epoch in range(begin // n, (end - 1) // n + 1):
        order = stream("epoch", epoch).permutation(n)
        parts.append(order[max(begin - epoch * n, 0) : end - epoch * n])
    return np.concatenate(parts)

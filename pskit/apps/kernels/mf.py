"""Inner loops of matrix factorization: SGD through a minibatch, and the squared error.

A rating r of user a and item b is predicted as mean + p_a . q_b, with biases as mean + c_a + d_b + p_a . q_b. One SGD
step descends along the gradient of that rating's l2-penalised squared error

    (r - prediction)^2 / 2 + reg (|p_a|^2 + |q_b|^2 + c_a^2 + d_b^2) / 2

at the old values of all of them: q uses the old p. Everything is float32, but sums of squares are float64.

`sgd` and `squared_error` are compiled; they may reassociate and fuse multiply-adds, so their last bits depend on the
machine, but NaN and infinity keep their meaning. The twins `sgd_numpy` and `squared_error_numpy` use single IEEE
operations in a fixed order, so their values are equal on every platform.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Rows = NDArray[np.float32]

# Not `True`: that would also promise the absence of NaN and infinity, which a diverging run produces.
_FAST = {"reassoc", "contract", "nsz"}


@numba.njit(fastmath=_FAST, cache=True, nogil=True)
def sgd(
    user: Any,
    item: Any,
    value: Any,
    mean: float,
    step: float,
    reg: float,
    users: Any,
    items: Any,
    user_bias: Any = None,
    item_bias: Any = None,
) -> Any:
    """Run SGD through ratings in the order given, on copies; return what changed.

    Parameters
    ----------
    user, item : (n,) int32
        Row of ``users`` and of ``items`` that each rating belongs to.
    value : (n,) float32
    mean, step, reg : float
    users, items : (n_users, K), (n_items, K) float32
        Factors; not changed.
    user_bias, item_bias : (n_users, 1), (n_items, 1) float32, optional
        Both or none; not changed.

    Returns
    -------
    tuple of float32 arrays
        New minus old, for users, items and then the biases if given.
    """
    p = users.copy()
    q = items.copy()
    if user_bias is not None:
        c = user_bias.copy()
        d = item_bias.copy()
    rank = p.shape[1]
    eta = np.float32(step)
    decay = np.float32(step * reg)
    base = np.float32(mean)
    # Whole arrays indexed by row and factor, not slices of rows: LLVM then vectorises both loops over the factors.
    for n in range(len(value)):
        a = user[n]
        b = item[n]
        product = np.float32(0.0)
        for k in range(rank):
            product += p[a, k] * q[b, k]
        error = value[n] - base - product
        if user_bias is not None:
            error -= c[a, 0] + d[b, 0]
        error *= eta
        for k in range(rank):
            x = p[a, k]
            y = q[b, k]
            p[a, k] = x + (error * y - decay * x)
            q[b, k] = y + (error * x - decay * y)
        if user_bias is not None:
            c[a, 0] += error - decay * c[a, 0]
            d[b, 0] += error - decay * d[b, 0]
    if user_bias is not None:
        return p - users, q - items, c - user_bias, d - item_bias
    return p - users, q - items


def sgd_numpy(
    user: Ids,
    item: Ids,
    value: NDArray[np.float32],
    mean: float,
    step: float,
    reg: float,
    users: Rows,
    items: Rows,
    user_bias: Rows | None = None,
    item_bias: Rows | None = None,
) -> tuple[Rows, ...]:
    """Plain twin of `sgd`."""
    old = [users, items] if user_bias is None or item_bias is None else [users, items, user_bias, item_bias]
    new = [table.copy() for table in old]
    eta, decay, base = np.float32(step), np.float32(step * reg), np.float32(mean)
    with np.errstate(over="ignore", invalid="ignore"):
        for a, b, r in zip(user.tolist(), item.tolist(), value, strict=True):
            x, y = new[0][a].copy(), new[1][b].copy()
            # Not np.dot: the order of its sum depends on the BLAS library.
            error = r - base - np.add.reduce(x * y)
            for bias, row in zip(new[2:], (a, b), strict=False):
                error -= bias[row, 0]
            error *= eta
            new[0][a] = x + (error * y - decay * x)
            new[1][b] = y + (error * x - decay * y)
            for bias, row in zip(new[2:], (a, b), strict=False):
                bias[row, 0] += error - decay * bias[row, 0]
        return tuple(after - before for after, before in zip(new, old, strict=True))


@numba.njit(fastmath=_FAST, cache=True, nogil=True)
def squared_error(
    user: Any, item: Any, value: Any, mean: float, users: Any, items: Any, user_bias: Any = None, item_bias: Any = None
) -> float:
    """Sum of the squared errors of all ratings, without the penalty.

    Parameters as in `sgd`. Products are summed in float32, squares in float64.
    """
    rank = users.shape[1]
    total = 0.0
    for n in range(len(value)):
        a = user[n]
        b = item[n]
        product = np.float32(0.0)
        for k in range(rank):
            product += users[a, k] * items[b, k]
        error = float(value[n]) - mean - float(product)
        if user_bias is not None:
            error -= float(user_bias[a, 0]) + float(item_bias[b, 0])
        total += error * error
    return total


def squared_error_numpy(
    user: Ids,
    item: Ids,
    value: NDArray[np.float32],
    mean: float,
    users: Rows,
    items: Rows,
    user_bias: Rows | None = None,
    item_bias: Rows | None = None,
) -> float:
    """Plain twin of `squared_error`."""
    total = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for begin in range(0, len(value), 1 << 16):
            a, b, r = (column[begin : begin + (1 << 16)] for column in (user, item, value))
            error = r - mean - np.add.reduce(users[a] * items[b], axis=1).astype(np.float64)
            if user_bias is not None and item_bias is not None:
                error -= user_bias[a, 0].astype(np.float64) + item_bias[b, 0]
            total += float(np.add.reduce(error * error))
    return total


class Kernels(NamedTuple):
    """One implementation of both loops."""

    sgd: Callable[..., tuple[Rows, ...]]
    squared_error: Callable[..., float]


KERNELS = {
    "numba": Kernels(sgd, squared_error),
    "numpy": Kernels(sgd_numpy, squared_error_numpy),
}
"""Implementations by the name that ``app.kernel`` has."""

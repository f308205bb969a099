"""Inner loops of matrix factorization: SGD through a minibatch, and the squared error.

A rating r of user a and item b is predicted as mean + p_a . q_b, with biases as mean + c_a + d_b + p_a . q_b.
One SGD step descends along the gradient of that rating's l2-penalised squared error

    (r - prediction)^2 / 2 + reg (|p_a|^2 + |q_b|^2 + c_a^2 + d_b^2) / 2

at the old values of all of them: q uses the old p. Tables are float32; sums of squares are float64.

The loops exist twice. Compiled, they may reassociate and fuse multiply-adds, so their last bits depend on the
machine, but NaN and infinity keep their meaning. The plain twins use single IEEE operations in a fixed order,
so their values are equal on every platform.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Values = NDArray[np.float32]

# Not `True`: that would also promise the absence of NaN and infinity, which a diverging run produces.
_FAST = {"reassoc", "contract", "nsz"}
_ERRORS_AT_ONCE = 1 << 14


@numba.njit(fastmath=_FAST, cache=True, nogil=True)
def run_sgd(
    user: Any,
    item: Any,
    value: Any,
    mean: float,
    step: float,
    reg: float,
    p: Any,
    q: Any,
    c: Any = None,
    d: Any = None,
) -> None:
    """Run SGD through ratings in the order given, in place.

    Parameters
    ----------
    user, item : (n,) int32
        Row of ``p`` and of ``q`` that each rating belongs to; not checked.
    value : (n,) float32
    mean, step, reg : float
    p, q : (n_users, K), (n_items, K) float32
        Factors.
    c, d : (n_users, 1), (n_items, 1) float32, optional
        Biases; both or none.
    """
    rank = p.shape[1]
    eta = np.float32(step)
    decay = np.float32(step * reg)
    base = np.float32(mean)
    # Whole arrays indexed by row and factor, not slices of rows: LLVM then vectorises over the factors.
    for n in range(len(value)):
        a = np.uint32(user[n])  # unsigned: no test for an index below 0
        b = np.uint32(item[n])
        product = np.float32(0.0)
        for k in range(rank):
            product += p[a, k] * q[b, k]
        error = value[n] - base - product
        if c is not None:
            error -= c[a, 0] + d[b, 0]
        error *= eta
        for k in range(rank):
            x = p[a, k]
            y = q[b, k]
            p[a, k] = x + (error * y - decay * x)
            q[b, k] = y + (error * x - decay * y)
        if c is not None:
            c[a, 0] += error - decay * c[a, 0]
            d[b, 0] += error - decay * d[b, 0]


def run_sgd_numpy(
    user: Ids,
    item: Ids,
    value: Values,
    mean: float,
    step: float,
    reg: float,
    p: Values,
    q: Values,
    c: Values | None = None,
    d: Values | None = None,
) -> None:
    """Plain twin of `run_sgd`."""
    eta, decay, base = np.float32(step), np.float32(step * reg), np.float32(mean)
    with np.errstate(over="ignore", invalid="ignore"):
        for a, b, r in zip(user.tolist(), item.tolist(), value, strict=True):
            x, y = p[a].copy(), q[b].copy()
            # Not np.dot: the order of its sum depends on the BLAS library.
            error = r - base - np.add.reduce(x * y)
            if c is not None and d is not None:
                error -= c[a, 0] + d[b, 0]
            error *= eta
            p[a] = x + (error * y - decay * x)
            q[b] = y + (error * x - decay * y)
            if c is not None and d is not None:
                c[a, 0] += error - decay * c[a, 0]
                d[b, 0] += error - decay * d[b, 0]


@numba.njit(fastmath=_FAST, cache=True, nogil=True)
def squared_error(
    user: Any, item: Any, value: Any, mean: float, p: Any, q: Any, c: Any = None, d: Any = None
) -> float:
    """Sum of the squared errors of all ratings, without the penalty.

    Parameters as in `run_sgd`. Products are summed in float32, squares in float64.
    """
    rank = p.shape[1]
    total = 0.0
    for n in range(len(value)):
        a = np.uint32(user[n])  # unsigned: no test for an index below 0
        b = np.uint32(item[n])
        product = np.float32(0.0)
        for k in range(rank):
            product += p[a, k] * q[b, k]
        error = float(value[n]) - mean - float(product)
        if c is not None:
            error -= float(c[a, 0]) + float(d[b, 0])
        total += error * error
    return total


def squared_error_numpy(
    user: Ids,
    item: Ids,
    value: Values,
    mean: float,
    p: Values,
    q: Values,
    c: Values | None = None,
    d: Values | None = None,
) -> float:
    """Plain twin of `squared_error`."""
    total = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for begin in range(0, len(value), _ERRORS_AT_ONCE):
            a, b, r = (column[begin : begin + _ERRORS_AT_ONCE] for column in (user, item, value))
            error = r - mean - np.add.reduce(p[a] * q[b], axis=1).astype(np.float64)
            if c is not None and d is not None:
                error -= c[a, 0].astype(np.float64) + d[b, 0]
            total += float(np.add.reduce(error * error))
    return total


class Kernels(NamedTuple):
    """One implementation of both loops."""

    run_sgd: Callable[..., None]
    squared_error: Callable[..., float]

    def sgd(
        self, user: Ids, item: Ids, value: Values, mean: float, step: float, reg: float, *tables: Values
    ) -> tuple[Values, ...]:
        """Run SGD on copies of the tables and return what changed, new minus old, for each of them.

        Parameters as in `run_sgd`; ``tables`` are p, q and perhaps c, d, and stay as they are.
        """
        new = [table.copy() for table in tables]
        self.run_sgd(user, item, value, mean, step, reg, *new)
        # inf - inf: a diverging run is reported where its update is taken in, not here.
        with np.errstate(over="ignore", invalid="ignore"):
            return tuple([np.subtract(n, o, out=n) for n, o in zip(new, tables, strict=True)])


KERNELS = {
    "numba": Kernels(run_sgd, squared_error),
    "numpy": Kernels(run_sgd_numpy, squared_error_numpy),
}
"""Implementations by the name that ``app.kernel`` has."""

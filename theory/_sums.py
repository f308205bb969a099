"""Sums over t = 1..T of functions of 1/sqrt(t), for any T: closed forms, and a rule exact to rounding."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, Values, unwrap, whole

_ZETA_HALF = -1.4603545088095868129
_EULER_GAMMA = 0.57721566490153286061
_TABLE = 64  # up to here the sums are added up; above, Euler-Maclaurin is exact to rounding
_ORDER = 20  # points of one block rule: exact for polynomials of degree 39 in t


def _table() -> FloatArray:
    t = np.arange(1, _TABLE + 1, dtype=np.longdouble)
    return np.concatenate([[[0, 0]], np.cumsum([t**-0.5, 1 / t], axis=1).T]).astype(np.float64)


_FIRST = _table()


def harmonic_sums(T: ArrayLike) -> tuple[Values, Values]:
    """Exact sums h_T = sum_{t<=T} t^(-1/2) and H_T = sum_{t<=T} 1/t.

    Parameters
    ----------
    T : whole number >= 1 or array of them
        Number of reads, T = P * clocks.

    Returns
    -------
    h_T, H_T : float or arrays of the shape of `T`
        h_T <= 2 sqrt(T) - 1 and H_T <= ln T + 1, the values the paper puts in their place.

    Raises
    ------
    ValueError
        If T is not a whole number >= 1.

    Notes
    -----
    [1410.8043, eq. 10] bounds the first sum; here both are exact (Euler-Maclaurin beyond T = 64).
    """
    count = whole("T", T, 1)
    h, total = _harmonic(count)
    return unwrap(h), unwrap(total)


def _harmonic(count: FloatArray) -> tuple[FloatArray, FloatArray]:
    """`harmonic_sums` of checked values, 0 allowed."""
    small = _FIRST[np.minimum(count, _TABLE).astype(np.int64)]
    n = np.maximum(count, _TABLE)
    i = 1 / n
    root = np.sqrt(n)
    h = 2 * root + _ZETA_HALF + (0.5 - i / 24 + i**3 / 384 - i**5 / 1024) / root
    total = np.log(n) + _EULER_GAMMA + i / 2 - i**2 * (1 / 12 - i**2 * (1 / 120 - i**2 / 252))
    return np.where(count <= _TABLE, small[..., 0], h), np.where(count <= _TABLE, small[..., 1], total)


@lru_cache(maxsize=16)
def clock_nodes(T: int, level: int) -> tuple[FloatArray, FloatArray]:
    """Points t and weights so that sum_{t<=T} f(theta / sqrt(t)) = sum(weight * f(theta / sqrt(t points))).

    Early t are taken one by one. Later ones are cut into blocks so short that t at most doubles and x = theta
    / sqrt(t) moves by at most pi / spread within one, where spread is the range of the law whose log-moment
    function f is (its nearest complex singularity lies at least pi / spread off the real axis). On a block of
    n consecutive integers the Gauss rule of the discrete Chebyshev polynomials converges faster than 4^-40.

    Parameters
    ----------
    T : int
        Number of terms.
    level : int
        theta * spread <= 2**level.
    """
    reach = 2.0**level
    direct = min(T, int(np.ceil(max(2.0 * _ORDER, (_ORDER * reach / (2 * np.pi)) ** (2 / 3)))))
    starts, lengths = [], []
    start = direct + 1
    while start <= T:
        end = 2 * start
        left = start**-0.5 - np.pi / reach
        if left > 0:
            end = min(end, max(start + _ORDER, int(left**-2)))
        end = min(end, T + 1)
        starts.append(start)
        lengths.append(end - start)
        start = end
    points = [np.arange(1, direct + 1, dtype=np.float64)]
    weights = [np.ones(direct)]
    if starts:
        nodes, shares = _block_rules(np.array(lengths, dtype=np.float64))
        points.append((np.array(starts, dtype=np.float64)[:, None] + nodes).ravel())
        weights.append(shares.ravel())
    return np.concatenate(points), np.concatenate(weights)


def _block_rules(lengths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gauss rules of the counting measure on 0..n-1, n in `lengths`: nodes and weights (blocks, order).

    Recurrence of the discrete Chebyshev (Gram) polynomials: a_k = (n-1)/2, b_k = k^2 (n^2-k^2)/(4 (4k^2-1)).
    b_k <= 0 from k = n on, so a block of n < order points gets its n points back, with weight 1.
    """
    k = np.arange(1, _ORDER, dtype=np.float64)
    squares = k**2 * np.maximum(lengths[:, None] ** 2 - k**2, 0) / (4 * (4 * k**2 - 1))
    jacobi = np.zeros((lengths.size, _ORDER, _ORDER))
    index = np.arange(_ORDER - 1)
    jacobi[:, index, index + 1] = jacobi[:, index + 1, index] = np.sqrt(squares)
    offsets, vectors = np.linalg.eigh(jacobi)
    return offsets + (lengths[:, None] - 1) / 2, lengths[:, None] * vectors[:, 0, :] ** 2

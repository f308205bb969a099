"""The loops over the rows of a GET, compiled, and the integer mixing they share with NumPy code."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)
_S1, _S32 = np.uint64(1), np.uint64(32)

# What record_get returns when it refuses a GET; it has then changed nothing.
AGE_BEYOND_TABLE, MISALIGNED, NEGATIVE = -1, -2, -3

# Columns of a head line, and of a packed row line.
HEAD_WIDTH, HEAD_HASHED, ROW_WIDTH = 8, 7, 3


def mix64(x: Any) -> Any:
    """Mix 64-bit words so that every output bit depends on every input bit (a bijection).

    Parameters
    ----------
    x : (n,) uint64

    Returns
    -------
    (n,) uint64

    Notes
    -----
    The output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), integers modulo 2**64.
    """
    x = x + GOLDEN
    x = (x ^ (x >> _S30)) * _M1
    x = (x ^ (x >> _S27)) * _M2
    return x ^ (x >> _S31)


def _jit(f: Callable[..., Any]) -> Any:
    return numba.njit(cache=True, nogil=True)(f)


_mix = _jit(mix64)


@_jit
def record_get(
    counts: Any,
    totals: Any,
    heads: Any,
    at: int,
    packed: Any,
    pos: int,
    sampling: Any,
    t: int,
    worker: int,
    clock: int,
    rows: Any,
    version: Any,
    own_from: Any,
    own_upto: int,
    age: Any,
    hit: Any,
    waited: int,
) -> int:
    """Count one GET, fold its rows into one word, and keep them when the worker's clock is sampled.

    Parameters
    ----------
    counts : (clocks, ages) int64
        Histogram; row ``clock`` is added to.
    totals : (clocks, 4) int64
        Sums per clock of GETs, rows, hits and waited ns.
    heads : (n, 8) int64
        Line ``at`` receives t, worker, clock, own_upto, waited, number of rows, fold of the rows, key.
    packed : (m, 3) uint64
        Lines ``pos, pos + 1, ...`` receive version | row, own_from | age, hit, if the GET is kept.
    sampling : (2,) uint64
        Base of the key, and the largest key that is kept.
    rows, version, own_from, age, hit : (k,) int32, int64, int32, int32, bool

    Returns
    -------
    int
        Number of lines written to ``packed``, or one of the negative codes above.
    """
    n = rows.size
    if version.size != n or own_from.size != n or age.size != n or hit.size != n:
        return MISALIGNED
    youngest, oldest = 0, 0
    for i in range(n):
        youngest = min(youngest, age[i])
        oldest = max(oldest, age[i])
    if youngest < 0 or clock < 0:
        return NEGATIVE
    if oldest >= counts.shape[1]:
        return AGE_BEYOND_TABLE

    hits = 0
    fold = np.uint64(0)
    place = np.uint64(0)
    for i in range(n):
        place += GOLDEN
        w1 = (np.uint64(rows[i]) << _S32) | (np.uint64(own_from[i]) & np.uint64(0xFFFFFFFF))
        w2 = (np.uint64(age[i]) << _S1) | np.uint64(hit[i])
        fold += _mix(_mix(_mix(np.uint64(version[i]) + place) ^ w1) ^ w2)
        hits += hit[i]
    for i in range(n):
        counts[clock, age[i]] += 1
    totals[clock, 0] += 1
    totals[clock, 1] += n
    totals[clock, 2] += hits
    totals[clock, 3] += waited

    key = _mix(_mix(sampling[0] + np.uint64(worker)) + np.uint64(clock))
    heads[at, 0] = t
    heads[at, 1] = worker
    heads[at, 2] = clock
    heads[at, 3] = own_upto
    heads[at, 4] = waited
    heads[at, 5] = n
    heads[at, 6] = np.int64(fold)
    heads[at, 7] = np.int64(key)
    if key > sampling[1]:
        return 0
    for i in range(n):
        packed[pos + i, 0] = np.uint64(version[i])
        packed[pos + i, 1] = (np.uint64(rows[i]) << _S32) | (np.uint64(own_from[i]) & np.uint64(0xFFFFFFFF))
        packed[pos + i, 2] = (np.uint64(age[i]) << _S1) | np.uint64(hit[i])
    return int(n)


def unpack_rows(packed: npt.NDArray[np.uint64]) -> dict[str, npt.NDArray[Any]]:
    """Undo the packing of `record_get`: version, row, own_from, age and hit of (m, 3) packed lines."""
    ids, rest = packed[:, 1], packed[:, 2]
    return {
        "version": packed[:, 0].astype(np.int64),
        "row": (ids >> _S32).astype(np.int32),
        "own_from": (ids & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.int32),
        "age": (rest >> _S1).astype(np.int32),
        "hit": (rest & _S1).astype(np.bool_),
    }

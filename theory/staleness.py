"""Measured staleness: gamma_t, and the counts of missing and extra updates, from what a run recorded.

Indexing is clock-major: read t = (c-1) P + p + 1 is worker p = 0..P-1 in clock c = 1, 2, ...; x_t is the
reference BEFORE update t, x_{t+1} = x_t + u_t. A view x~_t = x_t + (extra updates) - (missing updates).

    gamma_t = b_t/ubar_t,  b_t = |x~_t - x_t|,                                [1410.8043, Thm 5]
        ubar_t = (1/(P(2s+1))) sum over clocks c-s..c+s of |u_t'|
    gamma^eta_t = b_t/(eta_t L)                                               new
    A_t = {t' < t not in view} (missing),  B_t = {t' > t in view} (extra)     new
    n_t = |A_t| + |B_t|,  k_t' = #{t : t' in A_t or B_t}; sum n_t = sum k_t
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory._check import FloatArray, IntArray, numbers, one_whole, positive, shape, sweep, whole
from theory.lemma4 import window_means

_ROUNDING = 1e-12  # of the largest coordinate: what a view may differ by when nothing moved


class Gamma(NamedTuple):
    """Arrays (..., T): mean update and displacement (parameter units), staleness, the same per step."""

    ubar: FloatArray
    b: FloatArray
    gamma: FloatArray
    gamma_eta: FloatArray | None


class Counts(NamedTuple):
    """Counts (T,) int64: disagreements of a view, views that disagree on an update, the two parts of n."""

    n: IntArray
    k: IntArray
    missing: IntArray
    extra: IntArray


def gamma(
    x: ArrayLike,
    views: ArrayLike,
    u: ArrayLike,
    P: int,
    s: int,
    L: float | None = None,
    eta: ArrayLike | None = None,
) -> Gamma:
    """The paper's staleness gamma_t of every read.

    Parameters
    ----------
    x : (..., T, d) or (..., T+1, d)
        References x_1, x_2, ...; a last row after all updates is not used. For d = 1 also (T,) or (T+1,).
    views, u : (..., T, d)
        Views and updates u_t = -eta_t g_t. For d = 1 also (T,).
    P, s : int
        Workers >= 1 and slack >= 0.
    L, eta : float; float or (T,)
        Lipschitz constant and steps, for gamma^eta: a number means eta_t = eta/sqrt(t), an array is eta_t.
        Both or none.

    Returns
    -------
    Gamma
        ubar, b, gamma, gamma_eta, each (..., T); gamma_eta is None without L and eta. gamma = 0 where nothing
        moved.

    Raises
    ------
    ValueError
        On wrong shapes, seeds of unequal length, or a view that differs although no update of its window
        moves.
    """
    reference, seen, update = _runs(x, views, u)
    workers, slack = one_whole("P", P, 1), one_whole("s", s, 0)
    b = np.linalg.norm(seen - reference, axis=-1)
    ubar = window_means(np.linalg.norm(update, axis=-1), workers, slack)
    still = ubar == 0
    if np.any(b[still] > _ROUNDING * max(1.0, float(np.abs(reference).max()))):
        at = tuple(int(i) for i in np.argwhere(still & (b > 0))[0])
        raise ValueError(
            f"views: got |view - x| = {b[at]:g} at {at}, but must be 0 where no update of the window moves"
        )
    ratio = np.divide(b, ubar, out=np.zeros_like(b), where=~still)
    if (L is None) != (eta is None):
        raise ValueError(f"L, eta: got {L!r} and {eta!r}, but gamma_eta needs both or neither")
    if L is None or eta is None:
        return Gamma(ubar, b, ratio, None)
    step = positive("eta", eta)
    eta_t = (
        step / np.sqrt(np.arange(1, b.shape[-1] + 1))
        if step.ndim == 0
        else shape("eta", step, (b.shape[-1],))
    )
    return Gamma(ubar, b, ratio, b / (eta_t * positive("L", L)))


def gamma_vectors(x: ArrayLike, views: ArrayLike, u: ArrayLike, P: int, s: int) -> FloatArray:
    """Vectors gamma_t = (x~_t - x_t)/ubar_t of Theorem 6; arguments and errors as `gamma`.

    Returns
    -------
    (..., T, d) float64
        0 where nothing moved.
    """
    ubar = gamma(x, views, u, P, s).ubar[..., None]
    reference, seen, _ = _runs(x, views, u)
    return np.divide(seen - reference, ubar, out=np.zeros_like(seen), where=ubar > 0)


def counts(vc: ArrayLike) -> Counts:
    """Missing and extra updates of every view under the clock-major reference.

    Parameters
    ----------
    vc : (C, P, P) or (C, P, R, P)
        vc[c-1, p, q]: clocks of worker q contained in the view of worker p in clock c (a prefix). With rows
        of different age, vc[c-1, p, r, q]; a view's sets are then the unions over its R rows. The entry q = p
        is not read.

    Returns
    -------
    Counts
        n, k, missing, extra, each (T,) int64 with T = C P.

    Raises
    ------
    ValueError
        On wrong shapes or entries that are no whole number in 0..C.
    """
    low, high = _row_range(vc)
    clocks, workers = low.shape[:2]
    base = base_clocks(clocks, workers)
    other = ~np.eye(workers, dtype=np.bool_)
    low = np.where(other, np.minimum(low, base), base)
    high = np.where(other, np.maximum(high, base), base)
    edges = np.zeros((clocks + 1, workers), dtype=np.int64)
    q = np.broadcast_to(np.arange(workers), low.shape)
    np.add.at(edges, (low, q), 1)
    np.add.at(edges, (high, q), -1)
    missing, extra = (base - low).sum(-1).ravel(), (high - base).sum(-1).ravel()
    return Counts(missing + extra, np.cumsum(edges[:-1], axis=0).ravel(), missing, extra)


def read_start_counts(vc: ArrayLike, order: ArrayLike) -> IntArray:
    """n_read_t: updates started before read t that its view lacks; in this order nothing is extra.

    Parameters
    ----------
    vc : (C, P, P) or (C, P, R, P)
        As in `counts`.
    order : (T,)
        Clock-major indices 0..T-1 of the reads in the order of their starts.

    Returns
    -------
    (T,) int64
        Clock-major; sum over q != p of started_q - vc_q.

    Raises
    ------
    ValueError
        As `counts`, and when `order` is no such order or a view holds an update that starts after it.
    """
    low, _ = _row_range(vc)
    started = started_clocks(order, *low.shape[:2])
    other = ~np.eye(low.shape[1], dtype=np.bool_)
    lag = np.where(other, started - low, 0)
    if np.any(lag < 0):
        at = tuple(int(i) for i in np.argwhere(lag < 0)[0])
        raise ValueError(
            f"vc: got {low[at]} at (clock, worker, of) {at}, but only {started[at]} updates have started"
        )
    return np.asarray(lag.sum(-1).ravel(), dtype=np.int64)


def visibility(included: ArrayLike, count: int | None = None) -> NDArray[np.bool_]:
    """Check a visibility matrix: included[t, t'] is true when the view of read t holds update t'.

    Parameters
    ----------
    included : (T, T) bool, or 0 and 1
        Clock-major.
    count : int, optional
        T, when it is known.

    Returns
    -------
    (T, T) bool

    Raises
    ------
    ValueError
        On a wrong shape, other values, or two reads each of which holds the update of the other (or its own).
    """
    matrix = np.asarray(included)
    size = matrix.shape[0] if matrix.ndim else 0
    if matrix.shape != (size, size) or (count is not None and size != count):
        wanted = "T" if count is None else str(count)
        raise ValueError(f"included: got shape {matrix.shape}, but must be ({wanted}, {wanted})")
    if matrix.dtype != np.bool_ and not np.isin(matrix, (0, 1)).all():
        raise ValueError(f"included: got values of type {matrix.dtype}, but must be true or false (1 or 0)")
    flags = matrix.astype(np.bool_)
    if np.any(flags & flags.T):
        t, other = (int(i) for i in np.argwhere(flags & flags.T)[0])
        raise ValueError(
            f"included: got reads {t} and {other} that hold each other's update, but must hold earlier ones"
        )
    return flags


def prefix_visibility(vc: ArrayLike) -> NDArray[np.bool_]:
    """Visibility matrix (T, T) of prefix views vc (C, P, P); errors as `counts`."""
    low, high = _row_range(vc)
    if np.any(low != high):
        raise ValueError("vc: got rows of different age, but a visibility matrix needs views of one age")
    clocks, workers = low.shape[:2]
    clock = np.arange(clocks)[:, None]
    return (clock < low.reshape(-1, 1, workers)).reshape(clocks * workers, clocks * workers)


def base_clocks(clocks: int, workers: int) -> IntArray:
    """Clocks of q contained in x_t, t = (c, p): c for q < p, else c - 1; shape (C, P, P)."""
    before = np.tri(workers, k=-1, dtype=np.int64)
    return np.arange(clocks)[:, None, None] + before


def started_clocks(order: ArrayLike, clocks: int, workers: int) -> IntArray:
    """Reads of q started before read (c, p), (C, P, P); checks that `order` is an order of read starts."""
    ranks = np.asarray(order)
    count = clocks * workers
    if ranks.shape != (count,) or not np.array_equal(np.sort(ranks), np.arange(count)):
        raise ValueError(
            f"order: got shape {ranks.shape}, but must be a permutation of the {count} reads 0..{count - 1}"
        )
    position = np.argsort(ranks).reshape(clocks, workers)
    if np.any(np.diff(position, axis=0) < 0):
        worker = int(np.argwhere(np.diff(position, axis=0) < 0)[0, 1])
        raise ValueError(
            f"order: got the reads of worker {worker} out of turn, but each worker's must be in clock order"
        )
    return np.stack([np.searchsorted(position[:, q], position) for q in range(workers)], axis=-1)


def _row_range(vc: ArrayLike) -> tuple[IntArray, IntArray]:
    """Smallest and largest count over the rows of each view, (C, P, P) each."""
    table = whole("vc", vc, 0)
    square = table.ndim in (3, 4) and table.shape[1] == table.shape[-1]
    if not square:
        raise ValueError(f"vc: got shape {table.shape}, but must be (C, P, P) or (C, P, R, P)")
    if table.max() > table.shape[0]:
        raise ValueError(
            f"vc: got {table.max():g}, but must be at most the {table.shape[0]} clocks of the run"
        )
    rows = table.astype(np.int64)
    return (rows, rows) if rows.ndim == 3 else (rows.min(axis=2), rows.max(axis=2))


def _runs(x: ArrayLike, views: ArrayLike, u: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """References, views and updates as equal shapes (..., T, d)."""
    arrays = {"x": numbers("x", x), "views": numbers("views", views), "u": numbers("u", u)}
    arrays = {name: a[:, None] if a.ndim == 1 else a for name, a in arrays.items()}
    for name, array in arrays.items():
        shape(name, array, (None, None))
    count, dim = arrays["u"].shape[-2:]
    reference = arrays["x"]
    if reference.shape[-2] == count + 1:
        reference = reference[..., :-1, :]
    for name, array in {"x": reference, "views": arrays["views"]}.items():
        shape(name, array, (count, dim))
    sweep(x=reference, views=arrays["views"], u=arrays["u"])
    first, second, third = np.broadcast_arrays(reference, arrays["views"], arrays["u"])
    return first, second, third

"""Form B of the linear recursion: prefix views, with the covariance of a ring of prefix sums.

S_q[j] is the sum of the first j updates of worker q. A view is x_0 + sum_q S_q[vc_q] and a reference x_t is
x_0 + sum_q S_q[base_q], so it is enough to carry, in the order of the read starts, the covariance of the last
few S_q of every worker: a ring of some 2s+4 of them under slack s (the length is taken from the schedule).
O(T P^2 (2s+4)) for a pair of modes. Neighbours in that order of which none sees another are taken in at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, IntArray, whole
from theory._linear_matrix import Parts
from theory.staleness import base_clocks, started_clocks

_NUMBERS = 1 << 21
"""About so many entries of covariances are gathered at once."""


def moments(vc: ArrayLike, order: ArrayLike, eta: FloatArray, modes: FloatArray, noise: FloatArray) -> Parts:
    """As `_linear_matrix.moments`."""
    seen = whole("vc", vc, 0).astype(np.int64)
    if seen.ndim != 3 or seen.shape[1] != seen.shape[2] or seen.shape[0] * seen.shape[1] != eta.size:
        raise ValueError(f"vc: got shape {seen.shape}, but must be (C, P, P) with C P = {eta.size} reads")
    clocks, workers, _ = seen.shape
    started = started_clocks(order, clocks, workers)
    _causal(seen, started)
    ranks = np.asarray(order, dtype=np.int64)
    position = np.argsort(ranks)
    base = base_clocks(clocks, workers).reshape(-1, workers)
    views = seen.reshape(-1, workers)
    edges = _edges(views, position, ranks)
    # x_t is complete once all t' <= t have been taken in, and is read at the end of a group.
    ready = edges[np.searchsorted(edges, np.maximum.accumulate(position), side="right")]
    taken = np.stack([np.searchsorted(position[q::workers], ready) for q in range(workers)], axis=1)
    length = int((taken - np.minimum(base, views)).max()) + 1
    first = np.arange(workers) * length
    ring = _Ring(workers * length, modes, noise)
    parts = _empty(eta.size, modes.size)
    most = max(1, _NUMBERS // (workers * ring.cov.shape[0] * ring.size)) if ring.noisy.size else eta.size
    done = 0
    for begin, end in pairwise(edges.tolist()):
        for piece in _pieces(begin, end, most):
            t = ranks[piece]
            c, p = np.divmod(t, workers)
            own = p * length
            ring.add(eta[t], first + views[t] % length, own + c % length, own + (c + 1) % length)
        until = int(np.searchsorted(ready, end, side="right"))
        for piece in _pieces(done, until, most):
            c, p = np.divmod(np.arange(piece.start, piece.stop), workers)
            own = p * length + (c + 1) % length
            ring.read(parts, piece, first + base[piece] % length, first + views[piece] % length, own)
        done = until
    ring.finish(parts, first + clocks % length)
    return parts


def _edges(views: IntArray, position: IntArray, ranks: IntArray) -> IntArray:
    """Where groups begin, and the end: reads in start order of which none sees an update of its group."""
    workers = views.shape[1]
    last = (views - 1) * workers + np.arange(workers)  # the latest update of each worker in the view
    latest = np.where(views > 0, position[last], -1).max(axis=1)[ranks].tolist()
    edges = [0]
    for at, seen in enumerate(latest):
        if seen >= edges[-1]:
            edges.append(at)
    return np.array([*edges, len(latest)])


def _pieces(begin: int, end: int, most: int) -> Iterator[slice]:
    for at in range(begin, end, most):
        yield slice(at, min(at + most, end))


class _Ring:
    """Response to the start, covariance and noise response of the prefix sums in the ring, all modes at once.

    Arguments: m reads at once, (m,) arrays, and (m, P) slots of the sums that their views or references add.
    """

    def __init__(self, size: int, modes: FloatArray, noise: FloatArray) -> None:
        self.size, self.modes, self.noise = size, modes, noise
        own = np.maximum(np.diag(noise), 0)
        self.i, self.j = np.nonzero(np.triu(np.abs(noise) > 1e-16 * np.sqrt(np.outer(own, own))))
        self.lam_i, self.lam_j, self.pair_noise = modes[self.i], modes[self.j], noise[self.i, self.j]
        self.diagonal = bool(np.all(self.i == self.j))
        self.noisy = np.flatnonzero(own)
        self.start = np.zeros((modes.size, size))  # d S / d (x_0 - x*)
        self.cov = np.zeros((self.i.size, size, size))  # Cov(S of mode i, S of mode j)
        self.response = np.zeros(
            (self.noisy.size, size, size)
        )  # d S / d zeta, by slot of the sum zeta enters

    def add(self, eta: FloatArray, view: IntArray, previous: IntArray, new: IntArray) -> None:
        """Take in reads: their views, and the slots of their workers' last and new prefix sums."""
        slope = 1 + self.start[:, view].sum(axis=2)
        self.start[:, new] = self.start[:, previous] - eta * self.modes[:, None] * slope
        if not self.noisy.size:
            return
        step_i, step_j = self.lam_i[:, None] * eta, self.lam_j[:, None] * eta
        row = self.cov[:, previous] - step_i[:, :, None] * self.cov[:, view].sum(axis=2)
        if self.diagonal:
            column = row.swapaxes(1, 2)
        else:
            seen = self.cov[:, :, view].sum(axis=3)
            column = self.cov[:, :, previous] - step_j[:, None, :] * seen
        corner = row[:, :, previous] - step_j[:, None, :] * row[:, :, view].sum(axis=3)
        each = np.arange(eta.size)
        corner[:, each, each] += eta**2 * self.pair_noise[:, None]
        self.cov[:, new] = row
        self.cov[:, :, new] = column
        self.cov[:, new[:, None], new] = corner
        reply = self.response[:, view].sum(axis=2) * (-eta * self.modes[self.noisy, None])[:, :, None]
        reply += self.response[:, previous]
        reply[:, :, new] = 0.0
        reply[:, each, new] = -eta
        self.response[:, :, new] = 0.0
        self.response[:, new] = reply

    def read(self, parts: Parts, at: slice, base: IntArray, view: IntArray, own: IntArray) -> None:
        """Moments of references and of their views."""
        start, start_view, cov, cov_x_view, cov_x_noise, cov_view = parts
        start[at] = 1 + self.start[:, base].sum(axis=2).T
        start_view[at] = 1 + self.start[:, view].sum(axis=2).T
        if not self.noisy.size:
            return
        rows, view_rows = self.cov[:, base].sum(axis=2), self.cov[:, view].sum(axis=2)
        each = np.arange(len(own))[:, None]
        cov[at, self.i, self.j] = cov[at, self.j, self.i] = rows[:, each, base].sum(axis=2).T
        cov_view[at, self.i, self.j] = cov_view[at, self.j, self.i] = view_rows[:, each, view].sum(axis=2).T
        cov_x_view[at, self.j, self.i] = view_rows[:, each, base].sum(axis=2).T
        cov_x_view[at, self.i, self.j] = rows[:, each, view].sum(axis=2).T
        reply = self.response[:, base, own[:, None]].sum(axis=2).T
        cov_x_noise[at, self.noisy] = reply[:, :, None] * self.noise[self.noisy]

    def finish(self, parts: Parts, last: IntArray) -> None:
        """Moments of the state after all updates."""
        parts[0][-1] = 1 + self.start[:, last].sum(axis=1)
        value = self.cov[:, last][:, :, last].sum(axis=(1, 2))
        parts[2][-1, self.i, self.j] = parts[2][-1, self.j, self.i] = value


def _empty(count: int, dim: int) -> Parts:
    square = (count, dim, dim)
    return (
        np.zeros((count + 1, dim)),
        np.zeros((count, dim)),
        np.zeros((count + 1, dim, dim)),
        np.zeros(square),
        np.zeros(square),
        np.zeros(square),
    )


def _causal(seen: IntArray, started: IntArray) -> None:
    """Views hold all own updates and no update that starts after them."""
    workers = seen.shape[1]
    own = np.einsum("cpp->cp", seen)
    wanted = np.arange(seen.shape[0])[:, None]
    if np.any(own != wanted):
        c, p = (int(i) for i in np.argwhere(own != wanted)[0])
        raise ValueError(
            f"vc: got vc[{c}, {p}, {p}] = {own[c, p]}, but a view must hold exactly its {c} own updates"
        )
    late = (seen > started) & ~np.eye(workers, dtype=np.bool_)
    if np.any(late):
        c, p, q = (int(i) for i in np.argwhere(late)[0])
        raise ValueError(
            f"vc: got vc[{c}, {p}, {q}] = {seen[c, p, q]}, but must be at most {started[c, p, q]}, "
            "the updates that have started by then"
        )

"""Form B of the linear recursion: prefix views, with the covariance of a ring of prefix sums.

S_q[j] is the sum of the first j updates of worker q. A view is x_0 + sum_q S_q[vc_q] and a reference x_t is
x_0 + sum_q S_q[base_q], so it is enough to carry, in the order of the read starts, the covariance of the last
few S_q of every worker: a ring of 2s+4 of them under slack s (the length is taken from the schedule). O(T P^2
(2s+4)) for a pair of modes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory._check import FloatArray, IntArray, whole
from theory._linear_matrix import Parts
from theory.staleness import base_clocks, started_clocks


def moments(
    vc: ArrayLike, order: ArrayLike, eta: FloatArray, modes: FloatArray, noise: FloatArray, offset: FloatArray
) -> Parts:
    """As `_linear_matrix.moments`."""
    seen = whole("vc", vc, 0).astype(np.int64)
    if seen.ndim != 3 or seen.shape[1] != seen.shape[2] or seen.shape[0] * seen.shape[1] != eta.size:
        raise ValueError(f"vc: got shape {seen.shape}, but must be (C, P, P) with C P = {eta.size} reads")
    clocks, workers, _ = seen.shape
    started = started_clocks(order, clocks, workers)
    _causal(seen, started)
    ranks = np.asarray(order, dtype=np.int64)
    position = np.argsort(ranks)
    ready = np.maximum.accumulate(position)  # x_t is complete once all t' <= t have been taken in
    base = base_clocks(clocks, workers).reshape(-1, workers)
    views = seen.reshape(-1, workers)
    taken = np.stack(
        [np.searchsorted(position[q::workers], ready, side="right") for q in range(workers)], axis=1
    )
    length = int((taken - np.minimum(base, views)).max()) + 1
    first = np.arange(workers) * length
    ring = _Ring(workers * length, modes, noise, offset)
    parts = _empty(eta.size, modes.size)
    done = 0
    for at, t in enumerate(ranks):
        c, p = divmod(int(t), workers)
        ring.add(
            float(eta[t]), first + views[t] % length, p * length + c % length, p * length + (c + 1) % length
        )
        while done < eta.size and ready[done] <= at:
            own = (done % workers) * length + (done // workers + 1) % length
            ring.read(parts, done, first + base[done] % length, first + views[done] % length, own)
            done += 1
    ring.finish(parts, first + clocks % length)
    return parts


class _Ring:
    """Mean, covariance and noise response of the prefix sums in the ring, all modes at once."""

    def __init__(self, size: int, modes: FloatArray, noise: FloatArray, offset: FloatArray) -> None:
        self.modes, self.offset, self.noise = modes, offset, noise
        own = np.maximum(np.diag(noise), 0)
        self.i, self.j = np.nonzero(np.triu(np.abs(noise) > 1e-16 * np.sqrt(np.outer(own, own))))
        self.lam_i, self.lam_j, self.pair_noise = modes[self.i], modes[self.j], noise[self.i, self.j]
        self.diagonal = bool(np.all(self.i == self.j))
        self.noisy = np.flatnonzero(own)
        self.mean = np.zeros((modes.size, size))
        self.cov = np.zeros((self.i.size, size, size))  # Cov(S of mode i, S of mode j)
        self.response = np.zeros(
            (self.noisy.size, size, size)
        )  # d S / d zeta, by slot of the sum zeta enters

    def add(self, eta: float, view: IntArray, previous: int, new: int) -> None:
        """Take in one read: its view, and the slots of its worker's last and new prefix sum."""
        drift = self.modes * (self.offset + self.mean[:, view].sum(axis=1))
        self.mean[:, new] = self.mean[:, previous] - eta * drift
        if not self.noisy.size:
            return
        step_i, step_j = eta * self.lam_i, eta * self.lam_j
        rows = self.cov[:, view].sum(axis=1)
        columns = rows if self.diagonal else self.cov[:, :, view].sum(axis=2)
        row = self.cov[:, previous] - step_i[:, None] * rows
        column = row if self.diagonal else self.cov[:, :, previous] - step_j[:, None] * columns
        corner = self.cov[:, previous, previous] + eta**2 * self.pair_noise
        corner += step_i * step_j * rows[:, view].sum(axis=1)
        corner -= step_i * rows[:, previous] + step_j * columns[:, previous]
        self.cov[:, new] = row
        self.cov[:, :, new] = column
        self.cov[:, new, new] = corner
        reply = self.response[:, view].sum(axis=1) * (-eta * self.modes[self.noisy, None])
        reply += self.response[:, previous]
        reply[:, new] = -eta
        self.response[:, :, new] = 0.0
        self.response[:, new] = reply

    def read(self, parts: Parts, t: int, base: IntArray, view: IntArray, own: int) -> None:
        """Moments of x_t and of its view."""
        mean, cov, cov_x_view, cov_x_noise, cov_view = parts
        mean[t] = self.offset + self.mean[:, base].sum(axis=1)
        if not self.noisy.size:
            return
        rows, view_rows = self.cov[:, base].sum(axis=1), self.cov[:, view].sum(axis=1)
        cov[t, self.i, self.j] = cov[t, self.j, self.i] = rows[:, base].sum(axis=1)
        cov_view[t, self.i, self.j] = cov_view[t, self.j, self.i] = view_rows[:, view].sum(axis=1)
        cov_x_view[t, self.j, self.i] = view_rows[:, base].sum(axis=1)
        cov_x_view[t, self.i, self.j] = rows[:, view].sum(axis=1)
        cov_x_noise[t, self.noisy] = self.response[:, base, own].sum(axis=1)[:, None] * self.noise[self.noisy]

    def finish(self, parts: Parts, last: IntArray) -> None:
        """Moments of the state after all updates."""
        parts[0][-1] = self.offset + self.mean[:, last].sum(axis=1)
        value = self.cov[:, last][:, :, last].sum(axis=(1, 2))
        parts[1][-1, self.i, self.j] = parts[1][-1, self.j, self.i] = value


def _empty(count: int, dim: int) -> Parts:
    square = (count, dim, dim)
    return (
        np.zeros((count + 1, dim)),
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

"""Form A of the linear recursion: any visibility matrix M (T, T).

Per eigenmode lam, with e0 = x_0 - x* and zeta the noises of that mode:

    u = -(I + lam diag(eta) M)^-1 diag(eta) (lam e0 + zeta),  x~ = x_0 + M u,  x_t = x_0 + sum_{t' < t} u_t'

O(T^3) per mode: T = 800 takes about 0.1 s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theory._check import FloatArray

Parts = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


def moments(included: NDArray[np.bool_], eta: FloatArray, modes: FloatArray, noise: FloatArray) -> Parts:
    """Moments in the eigenbasis; axis 0 is t.

    d x_t / d (x_0 - x*) and d x~_t / d (x_0 - x*) of every mode; and, for a start that is not random,
    Cov(x_t), Cov(x_t, x~_t), Cov(x_t, zeta_t), Cov(x~_t).
    """
    count, dim = eta.size, modes.size
    seen = included.astype(np.float64)
    start, start_view = np.empty((count + 1, dim)), np.empty((count, dim))
    in_x = np.empty((dim, count + 1, count))  # d x_t / d zeta_t'
    in_view = np.empty((dim, count, count))
    for i, lam in enumerate(modes):
        response = -np.linalg.solve(np.eye(count) + lam * eta[:, None] * seen, np.diag(eta))
        in_x[i, 0] = 0.0
        np.cumsum(response, axis=0, out=in_x[i, 1:])
        in_view[i] = seen @ response
        start[:, i] = 1 + in_x[i].sum(axis=1) * lam
        start_view[:, i] = 1 + in_view[i].sum(axis=1) * lam
    own = np.einsum("itt->ti", in_x[:, :-1])
    return (
        start,
        start_view,
        noise * np.einsum("itk,jtk->tij", in_x, in_x),
        noise * np.einsum("itk,jtk->tij", in_x[:, :-1], in_view),
        noise * own[:, :, None],
        noise * np.einsum("itk,jtk->tij", in_view, in_view),
    )

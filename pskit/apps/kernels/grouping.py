"""Which table rows each minibatch touches."""

from typing import Any

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def group_rows(rows: Any, bounds: Any, n_rows: int) -> Any:
    """Distinct rows of each batch, ascending, and the place of every entry among them.

    All batches at once in O(n + n_rows): the entries are taken in the order of a counting sort by row.

    Parameters
    ----------
    rows : (n,) int32, from 0 to below ``n_rows``
    bounds : (m + 1,) int64
        Batch i is ``rows[bounds[i] : bounds[i + 1]]``; the batches cover ``rows``.

    Returns
    -------
    distinct : (d,) int32
        The distinct rows, batch after batch.
    distinct_bounds : (m + 1,) int64
        Those of batch i are ``distinct[distinct_bounds[i] : distinct_bounds[i + 1]]``.
    local : (n,) int32
        Place of each entry's row among the distinct rows of its batch.
    """
    n, m = len(rows), len(bounds) - 1
    batch = np.empty(n, np.int32)
    for i in range(m):
        batch[bounds[i] : bounds[i + 1]] = i
    begin = np.zeros(n_rows + 1, np.int64)
    for j in range(n):
        begin[rows[j] + 1] += 1
    begin = np.cumsum(begin)
    order = np.empty(n, np.int32)
    for j in range(n):
        order[begin[rows[j]]] = j
        begin[rows[j]] += 1
    local = np.empty(n, np.int32)
    last = np.full(m, -1, np.int32)
    count = np.zeros(m + 1, np.int64)
    for place in range(n):
        j = order[place]
        mine = batch[j]
        if last[mine] != rows[j]:
            last[mine] = rows[j]
            count[mine + 1] += 1
        local[j] = count[mine + 1] - 1
    distinct_bounds = np.cumsum(count)
    distinct = np.empty(distinct_bounds[m], np.int32)
    for j in range(n):
        distinct[distinct_bounds[batch[j]] + local[j]] = rows[j]
    return distinct, distinct_bounds, local

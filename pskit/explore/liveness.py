"""Whether every state can still come to the end of the scripts."""

from array import array

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order


class Edges:
    """The transitions of a search.

    States are numbered in the order in which they are found, which is that in which they are expanded.
    """

    def __init__(self) -> None:
        self._to = array("I")
        self._first = array("Q", [0])
        self._ends = array("I")

    def add(self, state: int) -> None:
        """Add a transition to ``state`` from the one that is being expanded."""
        self._to.append(state)

    def close(self, is_end: bool) -> None:
        """All transitions of a state were added; ``is_end``: nothing is bound to happen in it."""
        if is_end:
            self._ends.append(len(self._first) - 1)
        self._first.append(len(self._to))

    def first_dead(self) -> int | None:
        """The first state from which no end can be reached, if any."""
        to, first = np.frombuffer(self._to, np.uint32), np.frombuffer(self._first, np.uint64)
        n = len(first) - 1
        source = np.repeat(np.arange(n, dtype=np.int32), np.diff(first).astype(np.int64))
        ends = np.array(self._ends, np.int32)
        # Backwards from one more state, which all ends lead to.
        rows = np.concatenate([to.astype(np.int32), np.full(len(ends), n, np.int32)])
        columns = np.concatenate([source, ends])
        back = csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(n + 1, n + 1))
        alive = np.zeros(n + 1, np.bool_)
        alive[breadth_first_order(back, n, return_predecessors=False)] = True
        return None if alive.all() else int(np.argmin(alive))

"""What is recorded of a run so that gamma can be measured: values, beside the integers of the other tables.

Of a convex application every view and every gradient. Of another, whose tables are too large for that, the
updates of a keyed sample of rows: with the recorded reads of these rows they give what a view lacks.
"""

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.core.layout import Layout
from pskit.trace.kernels import mix64

SAMPLED_ROWS = 64
"""Rows of all tables together whose updates are recorded, at most."""


class StepLog:
    """Views and gradients of a convex run.

    Parameters
    ----------
    layout : Layout
    """

    def __init__(self, layout: Layout) -> None:
        self._width = sum(table.rows * table.cols for table in layout.tables)
        self._rows = layout.n_rows
        self._reads, self._views = array("q"), array("d")
        self._steps, self._sizes, self._gradients = array("q"), array("d"), array("d")

    def view(
        self, t: int, worker: int, clock: int, rows: npt.NDArray[np.int32], views: Sequence[npt.NDArray[Any]]
    ) -> None:
        """Take down a GET that returned at ``t`` (ns); one that did not ask for all rows is passed over."""
        if len(rows) == self._rows:
            self._reads.extend((t, worker, clock))
            for view in views:
                self._views.frombytes(np.asarray(view, np.float64).tobytes())

    def step(self, worker: int, clock: int, size: float, gradient: npt.NDArray[Any], value: float) -> None:
        """Take down the one update of a clock, ``-size * gradient``, and the value of its term at the view.

        Raises
        ------
        ValueError
            On a gradient of another size than all tables together.
        """
        if gradient.size != self._width:
            raise ValueError(f"a gradient of {gradient.size} numbers, the tables hold {self._width}")
        self._steps.extend((worker, clock))
        self._sizes.extend((size, value))
        self._gradients.frombytes(np.asarray(gradient, np.float64).tobytes())

    def columns(self) -> dict[str, dict[str, npt.NDArray[Any]]]:
        """Return the tables ``views`` and ``gradients``."""
        reads = np.array(self._reads, np.int64).reshape(-1, 3)
        steps = np.array(self._steps, np.int64).reshape(-1, 2)
        sizes = np.array(self._sizes, np.float64).reshape(-1, 2)
        views, gradients = (
            np.array(values, np.float64).reshape(-1, self._width) for values in (self._views, self._gradients)
        )
        return {
            "views": {"t": reads[:, 0], "worker": reads[:, 1], "clock": reads[:, 2], "x": views},
            "gradients": {
                "worker": steps[:, 0],
                "clock": steps[:, 1],
                "eta": sizes[:, 0],
                "f": sizes[:, 1],
                "g": gradients,
            },
        }


def sampled_rows(n_rows: int, seed: int) -> npt.NDArray[np.int64]:
    """The rows of a `RowLog`: (m,) int64, ascending, m <= `SAMPLED_ROWS`."""
    words = mix64(np.arange(SAMPLED_ROWS, dtype=np.uint64) + mix64(np.array([seed % 2**64], np.uint64)))
    rows: npt.NDArray[np.int64] = np.unique(words % np.uint64(n_rows)).astype(np.int64)
    return rows


class RowLog:
    """The updates of some rows.

    Parameters
    ----------
    layout : Layout
    seed : int
        Keys the choice of the rows.

    Attributes
    ----------
    rows : (m,) int64
        Global rows, ascending; m <= `SAMPLED_ROWS`.
    """

    def __init__(self, layout: Layout, seed: int) -> None:
        self._layout = layout
        self._width = max(table.cols for table in layout.tables)
        self.rows = sampled_rows(layout.n_rows, seed)
        self._taken = np.zeros(layout.n_rows, np.bool_)
        self._taken[self.rows] = True
        self._units, self._rows, self._values = array("q"), array("q"), array("d")

    def unit(self, worker: int, clock: int, parts: Iterable[Any]) -> None:
        """Take down what the parts of an oplog (`pskit.core.messages`) add to the rows."""
        for part in parts:
            here = self._taken[part.rows].nonzero()[0]
            if len(here):
                delta = np.zeros((len(here), self._width))
                delta[:, : part.delta.shape[1]] = part.delta[here]
                self._units.extend((worker, clock, len(here)))
                self._rows.frombytes(part.rows[here].astype(np.int64).tobytes())
                self._values.frombytes(delta.tobytes())

    def columns(self) -> dict[str, dict[str, npt.NDArray[Any]]]:
        """Return the table ``row_updates``."""
        worker, clock, lengths = np.array(self._units, np.int64).reshape(-1, 3).T
        rows = np.array(self._rows, np.int64)
        table = self._layout.table_of_row[rows]
        return {
            "row_updates": {
                "worker": np.repeat(worker, lengths),
                "clock": np.repeat(clock, lengths),
                "table": table,
                "row": rows - self._layout.offsets[table],
                "u": np.array(self._values, np.float64).reshape(-1, self._width),
            }
        }

"""Takes down the starts of computations under a policy with a gate: what they read, what they added."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.core.layout import Layout, RowIds
from pskit.trace.schema import OPTIONAL, as_columns

VALUE_CAP = 4_000_000
"""Entries of views and updates that are kept, those of the first starts: 30 bytes each."""

Columns = dict[str, npt.NDArray[Any]]
Floats = npt.NDArray[np.float64]
NEVER = -1


class _Computation:
    """Of one start: its line, and the entries that it read or added to, by table."""

    __slots__ = ("line", "parts")

    def __init__(self, line: list[Any]) -> None:
        self.line = line
        self.parts: list[tuple[int, RowIds, Floats, bool]] = []


class StartLog:
    """Starts of computations, while a run runs.

    Parameters
    ----------
    layout : Layout
    value_cap : int
        Entries to keep; a start is kept whole or not at all, and no later one when one is not.
    initial : dict of (rows, cols) arrays, optional
        Tables at the start, by name; without them the distances are left for `merged` to say.
    """

    def __init__(
        self,
        layout: Layout,
        value_cap: int = VALUE_CAP,
        initial: dict[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        self._layout, self._left, self._initial = layout, value_cap, initial
        self._all: list[_Computation] = []
        self._of_worker: dict[int, _Computation] = {}
        self._kept: list[_Computation] = []

    def start(
        self,
        t: int,
        t_start: int,
        worker: int,
        clock: int,
        seq: int,
        waited: int,
        stalled: int,
        facts: tuple[float, float, float, float],
        rows: RowIds,
        views: tuple[npt.NDArray[Any], ...],
    ) -> None:
        """``worker`` started computation ``t`` on ascending global ``rows`` (n,), of which it read ``views``.

        ``facts`` are v, unseen, others and reservation; ``views`` is one (n_i, cols) array per table, in
        order.
        """
        now = _Computation([t, t_start, NEVER, worker, clock, seq, len(rows), waited, stalled, *facts])
        self._all.append(now)
        self._of_worker[worker] = now
        self._left -= sum(view.size for view in views)
        if self._left >= 0:
            self._kept.append(now)
            at = 0
            for view in views:
                part = rows[at : at + len(view)]
                now.parts.append(
                    (int(self._layout.table_of_row[part[0]]), part, view.astype(np.float64), True)
                )
                at += len(view)

    def add(self, worker: int, table: int, rows: RowIds, delta: npt.NDArray[Any]) -> None:
        """``worker`` added ``delta`` (n, cols) to ascending global ``rows`` (n,) of ``table``."""
        now = self._of_worker[worker]
        if now.parts:
            now.parts.append((table, rows, delta.astype(np.float64), False))

    def over(self, worker: int, t: int) -> None:
        """The computation of ``worker`` was over at time ``t``."""
        self._of_worker[worker].line[2] = t

    def columns(self) -> dict[str, Columns]:
        """The tables ``starts`` and ``start_values``, as columns."""
        columns = {"starts": self._starts(), "start_values": self._values()}
        return columns if self._initial is None else merged([columns], self._layout, self._initial)

    def _starts(self) -> Columns:
        """The table ``starts``, without the distances."""
        if not self._all:
            return _no_lines("starts")
        unknown = np.nan, np.nan  # distance and overshoot
        lines = zip(*((*one.line, *unknown) for one in self._all), strict=True)
        return as_columns("starts", dict(zip(OPTIONAL["starts"], map(np.array, lines), strict=True)))

    def _values(self) -> Columns:
        """The table ``start_values``, each entry of a start once."""
        parts = [(one.line[0], *part) for one in self._kept for part in one.parts]
        if not parts:
            return _no_lines("start_values")
        number, table, rows, values, is_view = zip(*parts, strict=True)
        shapes = np.array([part.shape for part in values])
        size = shapes.prod(axis=1)
        of_row = np.repeat(np.arange(len(parts)), shapes[:, 0])
        cols = shapes[of_row, 1]
        local = np.concatenate(rows).astype(np.int64) - self._layout.offsets[np.array(table)[of_row]]
        # Places within each row: a count that starts again at each.
        col = np.arange(size.sum()) - np.repeat(np.cumsum(cols) - cols, cols)
        t, of_table, read = (np.repeat(np.array(column), size) for column in (number, table, is_view))
        keys = np.stack([t, of_table, np.repeat(local, cols), col])
        value = np.concatenate([part.ravel() for part in values])
        order = np.lexsort(keys[::-1])
        keys, value, read = keys[:, order], value[order], read[order]
        first = np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)])
        place = np.cumsum(first) - 1
        view, update = np.full(place[-1] + 1, np.nan), np.zeros(place[-1] + 1)
        view[place[read]] = value[read]
        np.add.at(update, place[~read], value[~read])
        columns = (*keys[:, first], view, update)
        return as_columns("start_values", dict(zip(OPTIONAL["start_values"], columns, strict=True)))


def _no_lines(table: str) -> Columns:
    return as_columns(table, dict.fromkeys(OPTIONAL[table], np.empty(0, np.int64)))


def merged(
    logs: list[dict[str, Columns]], layout: Layout, initial: dict[str, npt.NDArray[Any]]
) -> dict[str, Columns]:
    """The logs of several processes as one, in the order of t, with distances from the reference state.

    Values are kept up to the first start of which some process has kept none.

    Parameters
    ----------
    logs : list
        What `StartLog.columns` gave.
    layout : Layout
    initial : dict of (rows, cols) arrays
        Tables at the start, by name.
    """
    starts, values = (
        {key: np.concatenate([log[name][key] for log in logs]) for key in OPTIONAL[name]}
        for name in ("starts", "start_values")
    )
    order = np.argsort(starts["t"], kind="stable")
    starts = {key: column[order] for key, column in starts.items()}
    kept = np.isin(starts["t"], values["t"])
    first = int(np.argmin(kept)) if not kept.all() else len(kept)
    limit = starts["t"][first] if first < len(kept) else np.iinfo(np.int64).max
    keep = values["t"] < limit
    keys = [values[name][keep] for name in ("col", "row", "table", "t")]
    order = np.flatnonzero(keep)[np.lexsort(keys)]
    values = {key: column[order] for key, column in values.items()}
    largest = distances(values, layout, initial)
    starts["distance"] = np.full(len(kept), np.nan)
    starts["distance"][:first] = [largest.get(t, 0.0) for t in starts["t"][:first].tolist()]
    with np.errstate(invalid="ignore"):
        starts["overshoot"] = np.maximum(starts["distance"] - starts["v"], 0.0)
    return {"starts": as_columns("starts", starts), "start_values": as_columns("start_values", values)}


def distances(values: Columns, layout: Layout, initial: dict[str, npt.NDArray[Any]]) -> dict[int, float]:
    """|view - x^_t|_inf on the entries read, by t: x^_t is the initial state with the updates before t."""
    t, place = np.unique(values["t"], return_inverse=True)
    largest = np.zeros(len(t))
    with np.errstate(invalid="ignore"):  # views and references of a run that diverges
        off = np.abs(values["view"] - references(values, layout, initial))
        np.maximum.at(largest, place, np.where(np.isnan(values["view"]), 0.0, off))
    return dict(zip(t.tolist(), largest.tolist(), strict=True))


def entries(values: Columns, layout: Layout) -> npt.NDArray[np.int64]:
    """Number of the entry of each line of ``start_values`` among all entries of all tables: (n,) int64."""
    base = np.cumsum([0, *(t.rows * t.cols for t in layout.tables)])
    cols = np.array([t.cols for t in layout.tables])
    table = values["table"]
    return np.asarray(base[table] + values["row"].astype(np.int64) * cols[table] + values["col"])


def references(values: Columns, layout: Layout, initial: dict[str, npt.NDArray[Any]]) -> Floats:
    """x^_t at the entry of each line of ``start_values``, t its start: (n,) float64."""
    start = np.concatenate([np.asarray(initial[t.name], np.float64).ravel() for t in layout.tables])
    entry = entries(values, layout)
    order = np.lexsort((values["t"], entry))
    entry, update = entry[order], values["update"][order]
    # Sums by entry, without the line's own update, one after the other as the run adds them.
    before = np.empty(len(entry))
    at = np.flatnonzero(np.diff(entry, prepend=-1) != 0)
    upto = np.append(at, len(entry))[1:]
    with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges may come to that
        for a, b in zip(at.tolist(), upto.tolist(), strict=True):
            run = np.cumsum(np.concatenate([[start[entry[a]]], update[a:b]]))
            before[order[a:b]] = run[:-1]
    return before

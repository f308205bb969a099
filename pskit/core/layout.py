"""Where every row lives: tables, global row ids, shards.

The rows of all tables are numbered through, table after table, so that clocks, versions,
subscriptions and eviction are plain arrays over *global row ids*. Row ``r`` is kept by shard
``r % shards`` at local index ``r // shards``.
"""

import operator
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

RowIds = npt.NDArray[np.int32]

ALLOWED_DTYPES = ("f4", "f8", "i4", "i8")
MOST_ROWS = MOST_ROW_BYTES = 2**31 - 1
"""Row ids and the sizes of single rows are int32."""


class TableError(ValueError):
    """A table that cannot be: says what is wrong with it."""


class _Fields(NamedTuple):
    name: str
    rows: int
    cols: int
    dtype: str = "f4"


class TableSpec(_Fields):
    """Shape of one dense parameter table.

    Parameters
    ----------
    name : str
    rows, cols : int
        At least 1 each.
    dtype : str
        One of ``f4``, ``f8``, ``i4``, ``i8``.

    Raises
    ------
    TableError
        On anything else.
    """

    __slots__ = ()

    def __new__(cls, name: str, rows: int, cols: int, dtype: str = "f4") -> Self:
        given: tuple[Any, Any] = name, dtype
        if not isinstance(given[0], str) or not name:
            raise TableError(f"the name of a table is text, got {name!r:.80}")
        try:
            rows, cols = operator.index(rows), operator.index(cols)
        except TypeError:
            raise TableError(
                f"table {name!r}: rows and cols are whole numbers, got {rows!r:.40} x {cols!r:.40}"
            ) from None
        if rows < 1 or cols < 1:
            raise TableError(f"table {name!r} needs at least one row and column, got {rows} x {cols}")
        if not isinstance(given[1], str) or dtype not in ALLOWED_DTYPES:
            raise TableError(f"table {name!r}: dtype {dtype!r} is not one of {ALLOWED_DTYPES}")
        return super().__new__(cls, name, rows, cols, dtype)


class Layout:
    """Global numbering of the rows of all tables, and their shards.

    Parameters
    ----------
    tables : iterable of TableSpec
    shards : int
        Number of server shards. A shard may own no row; it still acknowledges clocks.

    Attributes
    ----------
    offsets : (n_tables + 1,) int64
        Table ``i`` owns the global rows ``offsets[i] .. offsets[i + 1] - 1``.
    n_rows : int
        Rows of all tables together.
    row_bytes : tuple of int
        Payload bytes of one row of each table.

    Raises
    ------
    ValueError
        On what is no table, an empty or repeated one, an unknown dtype, more than 255 tables, more than
        `MOST_ROWS` rows or `MOST_ROW_BYTES` bytes per row, or no shard.

    Notes
    -----
    Made of sizes alone: nothing of the size of a table is allocated before it is asked for.
    """

    def __init__(self, tables: Iterable[TableSpec], shards: int = 1) -> None:
        self.tables = tuple(_checked(t) for t in tables)
        self.shards = int(shards)
        names = [t.name for t in self.tables]
        if not self.tables or len(self.tables) > 255:
            raise ValueError(f"an application needs 1 to 255 tables, got {len(self.tables)}")
        if len(set(names)) != len(names):
            raise ValueError(f"table names must differ, got {names}")
        for t in self.tables:
            row_bytes = t.cols * int(t.dtype[1])
            if row_bytes > MOST_ROW_BYTES:
                raise ValueError(
                    f"table {t.name!r}: a row of {t.cols} columns takes {row_bytes} bytes; at most "
                    f"{MOST_ROW_BYTES} are allowed"
                )
        rows = sum(t.rows for t in self.tables)
        if rows > MOST_ROWS:
            largest = max(self.tables, key=lambda t: t.rows)
            raise ValueError(
                f"all tables together may have at most {MOST_ROWS} rows, got {rows}, of which table "
                f"{largest.name!r} has {largest.rows}"
            )
        if self.shards < 1:
            raise ValueError(f"shards must be at least 1, got {shards}")
        self._counts = np.array([t.rows for t in self.tables], dtype=np.int64)
        self.offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(self._counts)])
        self.n_rows = int(self.offsets[-1])
        self.dtypes = tuple(np.dtype(t.dtype) for t in self.tables)
        self.row_bytes = tuple(t.cols * d.itemsize for t, d in zip(self.tables, self.dtypes, strict=True))
        self._index = {name: i for i, name in enumerate(names)}

    # Made when first asked for: a layout must cost nothing before it is known that the run fits in memory.

    @cached_property
    def table_of_row(self) -> npt.NDArray[np.uint8]:
        """Table of each global row (n_rows,)."""
        return np.repeat(np.arange(len(self.tables), dtype=np.uint8), self._counts)

    @cached_property
    def bytes_of_row(self) -> npt.NDArray[np.int32]:
        """Payload bytes of each global row (n_rows,)."""
        return np.repeat(np.array(self.row_bytes, np.int32), self._counts)

    def table_index(self, name: str) -> int:
        """Index of the table called ``name``; KeyError names the known tables."""
        try:
            return self._index[name]
        except KeyError:
            raise KeyError(f"no table {name!r}; this application has {sorted(self._index)}") from None

    def shard_rows(self, shard: int) -> int:
        """Number of rows that ``shard`` keeps."""
        return (self.n_rows - shard + self.shards - 1) // self.shards

    def payload_bytes(self, rows: RowIds) -> int:
        """Bytes of the values of ``rows`` (n,) on the wire, without ids or header."""
        if len(self.tables) == 1:
            return len(rows) * self.row_bytes[0]
        return int(self.bytes_of_row[rows].sum())

    def split_by_shard(self, rows: RowIds) -> list[tuple[int, RowIds]]:
        """Cut ascending ``rows`` (n,) into ``(shard, rows of it)``, only shards with rows."""
        if self.shards == 1:
            return [(0, rows)] if len(rows) else []
        owner = rows % self.shards
        return [(int(j), rows[owner == j]) for j in np.unique(owner)]


def _checked(given: Any) -> TableSpec:
    """A table with its sizes as plain integers."""
    try:
        return TableSpec(*(() if isinstance(given, str) else given))
    except TypeError:  # nothing, or too much, to make one of
        raise TableError(f"a table is a TableSpec(name, rows, cols, dtype), got {given!r:.80}") from None

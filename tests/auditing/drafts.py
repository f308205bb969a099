"""Copies of a trace that a forger may change."""

import copy
from itertools import pairwise
from typing import Any

import numpy as np

from pskit import Trace
from pskit.trace.schema import MESSAGE_KINDS


class Draft:
    """A trace whose manifest, columns and tables can be changed in place.

    Attributes
    ----------
    manifest : dict
    columns : dict of dict of array
    tables : dict of array
    """

    def __init__(self, trace: Trace) -> None:
        self.manifest: dict[str, Any] = copy.deepcopy(dict(trace.manifest))
        self.columns = {
            name: {key: values.copy() for key, values in trace.columns(name).items()} for name in trace.names
        }
        self.clients = self.manifest["config"]["cluster"]["clients"]
        names = [table["name"] for table in self.manifest["layout"]["tables"]]
        self.tables = {
            f"{which}:{name}": trace.table(name, which).copy()
            for which in ("final", "initial", "incs")
            for name in names
        }

    def trace(self) -> Trace:
        return Trace(self.manifest, self.columns, self.tables)

    def __getitem__(self, table: str) -> dict[str, np.ndarray]:
        return self.columns[table]

    # -- lines ---------------------------------------------------------------------------------------

    def remove(self, table: str, line: int) -> None:
        """Take a line out."""
        for name, values in self[table].items():
            self[table][name] = np.delete(values, line, axis=0)

    def repeat(self, table: str, line: int) -> None:
        """Add a copy of a line at the end."""
        for name, values in self[table].items():
            self[table][name] = np.append(values, values[line : line + 1], axis=0)

    def remove_message(self, line: int) -> None:
        """Take a message out so that numbers and totals still agree."""
        m, totals = self["messages"], self["message_totals"]
        cell = np.flatnonzero(totals["kind"] == m["kind"][line])[0]
        for total, amount in (("count", 1), ("bytes", m["bytes"][line]), ("rows", m["rows"][line])):
            totals[total][cell] -= amount
        m["id"][m["id"] > m["id"][line]] -= 1
        self.remove("messages", line)
        for amount in ("kept", "total"):
            self.manifest["trace"]["sampling"]["messages"][amount] -= 1

    def shift(self, shard: int, index: int, by: int) -> None:
        """Renumber what ``shard`` applied from number ``index`` on."""
        u = self["updates"]
        u["apply_index"][(u["shard"] == shard) & (u["apply_index"] >= index)] += by

    # -- finding places ------------------------------------------------------------------------------

    def update(self, shard: int, index: int) -> int:
        """Line of what ``shard`` applied as number ``index``."""
        u = self["updates"]
        return int(np.flatnonzero((u["shard"] == shard) & (u["apply_index"] == index))[0])

    def newest_in(self, read: int) -> int | None:
        """Line of the newest update in the copy that was read, None in an initial one."""
        r = self["reads"]
        version = int(r["version"][read])
        return self.update(int(r["shard"][read]), version - 1) if version else None

    def next_after(self, read: int) -> int | None:
        """Line of the first update that is not in the copy that was read."""
        r, u = self["reads"], self["updates"]
        shard, version = int(r["shard"][read]), int(r["version"][read])
        known = np.count_nonzero(u["shard"] == shard)
        return self.update(shard, version) if version < known else None

    def raises_clock(self, update: int) -> bool:
        """Whether an update, of a time when nobody has left, completes a clock of its shard."""
        u = self["updates"]
        shard = u["shard"] == u["shard"][update]
        counts = [
            np.bincount(u["worker"][shard & (u["apply_index"] < upto)], minlength=3).min()
            for upto in (u["apply_index"][update], u["apply_index"][update] + 1)
        ]
        return bool(counts[0] < counts[1])

    def neighbours(self, fits) -> tuple[int, int]:
        """Lines of the first two successive updates of shard 0 for which ``fits(a, b)``."""
        count = np.count_nonzero(self["updates"]["shard"] == 0)
        lines = [self.update(0, index) for index in range(count)]
        return next((a, b) for a, b in pairwise(lines) if fits(a, b))

    def sent_while_newest(self, update: int, client: int) -> np.ndarray:
        """Mask of replies and pushes to ``client`` while the update in this line was its shard's newest."""
        u, m = self["updates"], self["messages"]
        shard = u["shard"] == u["shard"][update]
        after = u["t_applied"][shard & (u["apply_index"] == u["apply_index"][update] + 1)]
        sent = (m["src"] == self.clients + u["shard"][update]) & (m["dst"] == client)
        sent &= m["t_send"] >= u["t_applied"][update]
        return sent & (m["t_send"] <= after) if len(after) else sent

    def only_it_brought(self, message: int) -> bool:
        """Whether nothing but the reply or push in this line can have brought a version that was read."""
        u, r, m = self["updates"], self["reads"], self["messages"]
        shard, client = m["src"][message] - self.clients, m["dst"][message]
        applied = (u["shard"] == shard) & (u["t_applied"] <= m["t_send"][message])
        version = np.count_nonzero(applied)
        if not version:
            return False
        ways = self.sent_while_newest(self.update(shard, version - 1), client)
        read = (r["shard"] == shard) & (r["worker"] == client) & (r["version"] == version)
        return bool(ways.sum() == 1 and read.any())

    def reads_of_same_row(self, read: int) -> np.ndarray:
        """Mask of the reads of the same row by the same worker."""
        r = self["reads"]
        keys = [r[name] == r[name][read] for name in ("worker", "table", "row")]
        return np.logical_and.reduce(keys)

    def read_copy_of(self, read: int, other: int) -> None:
        """Let a read return the copy that the ``other`` read of the row returned, with all its marks."""
        r = self["reads"]
        r["version"][read], r["own_from"][read] = r["version"][other], r["own_from"][other]
        r["age"][read] = r["clock"][read] - (r["clock"][other] - r["age"][other])

    def read_where(self, fits) -> int:
        """The first read late enough in the run for which ``fits(line)``."""
        lines = range(len(self["reads"]["t"]) // 3, len(self["reads"]["t"]))
        return next(line for line in lines if fits(line))

    def message_where(self, kind: str, fits=lambda line: True) -> int:
        """The first message of a kind, in the middle of the run, for which ``fits(line)``."""
        lines = np.flatnonzero(self["messages"]["kind"] == MESSAGE_KINDS.index(kind))
        return next(int(line) for line in lines[len(lines) // 2 :] if fits(int(line)))

"""What each process of a run takes down, and how the launcher makes one trace of it."""

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.core.layout import Layout
from pskit.runtime.base import Tables
from pskit.trace.kernels import mix64
from pskit.trace.recorder import READ_CAP, Recorder
from pskit.trace.schema import as_columns
from pskit.trace.starts import merged

Columns = dict[str, dict[str, npt.NDArray[Any]]]


class Pace(NamedTuple):
    """How well a process kept its times.

    Attributes
    ----------
    lateness : (n,) int64, ns emulated
        For each message: consumed, after it was visible and the receiver ready for it.
    overshoot : (m,) int64, ns emulated
        For each computation: noticed to be over, after its modelled end.
    overran : int
        Clocks with a computation whose real work took longer than its modelled time.
    cpu_seconds : float
    """

    lateness: npt.NDArray[np.int64]
    overshoot: npt.NDArray[np.int64]
    overran: int
    cpu_seconds: float


class Flow(NamedTuple):
    """What happened because a ring was full.

    Attributes
    ----------
    delayed : int
        Messages that waited in their process.
    pauses : int
        Times that a client waited until the server had made room.
    put_off : int
        Pushes for which there was no room; the server's only.
    caught_up : int
        Pushes that were sent in the place of those; the server's only.
    """

    delayed: int
    pauses: int
    put_off: int = 0
    caught_up: int = 0


class Part(NamedTuple):
    """What one process hands back at the end.

    Attributes
    ----------
    columns : dict
        Of its own recorder.
    sampling : dict
        Of that recorder.
    schedule_hash : str
        Of that recorder.
    messages : (n, 9) int64
        See `pskit.runtime.live.transport.LOG_WIDTH`.
    diverged : bool
        It found that the run diverged.
    pace : Pace
    events : int
        Events that it handled.
    flow : Flow
    peak_bytes : int
    tables : dict of (rows, cols) arrays
        Of a client the sums of its INCs, by ``incs:NAME``, and which rows those are, ``rows:NAME``; of the
        server all values at the start and at the end, ``initial:NAME`` and ``final:NAME``, and what it
        applied of clients that died, ``incs:NAME``.
    ended : int, ns
        When a worker was last taken out of a shard; the server's only.
    gate : tuple of dict and bool
        Under a policy with a gate: what it would cost, see `pskit.runtime.gate`, and whether it reserves.
    """

    columns: Columns
    sampling: dict[str, dict[str, float | int]]
    schedule_hash: str
    messages: npt.NDArray[np.int64]
    diverged: bool
    pace: Pace
    events: int
    flow: Flow
    peak_bytes: int
    tables: Tables
    ended: int
    gate: tuple[dict[str, list[int]], bool] | None = None


def read_keys(seed: int, worker: npt.NDArray[Any], clock: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Sampling keys of reads, as `pskit.trace.kernels.record_get` derives them: (n,) uint64."""
    base = mix64(np.array([seed % 2**64], np.uint64) + np.uint64(1))
    keys: npt.NDArray[np.uint64] = mix64(mix64(base + worker.astype(np.uint64)) + clock.astype(np.uint64))
    return keys


class MergedTrace:
    """The parts of all processes as one trace, to be asked like a `Recorder`.

    Parameters
    ----------
    layout : Layout
    workers : int
    mode : {"summary", "full"}
    seed : int
    parts : sequence of Part
        Those of the clients that did not die, then the server's.
    faults : sequence of tuple
        Lines of the table ``faults`` that no process took down.

    Notes
    -----
    Messages are numbered in the order of sending. The schedule hash says what happened, as in virtual time,
    but a live run never happens twice.
    """

    def __init__(
        self,
        layout: Layout,
        workers: int,
        mode: str,
        seed: int,
        parts: Sequence[Part],
        read_cap: int = READ_CAP,
        faults: Sequence[tuple[int, str, int, int, str, int, str]] = (),
    ) -> None:
        self.layout, self.workers, self.mode = layout, workers, mode
        self._recorder = Recorder(layout, workers, mode, seed)
        for fault in faults:
            self._recorder.fault(*fault)
        self._replay([p.columns for p in parts], np.concatenate([p.messages for p in parts]))
        self._merge_reads(parts, seed, read_cap if mode == "summary" else None)
        self._columns = self._recorder.finish() | self._read_tables
        for name in ("views", "gradients", "row_updates"):
            if name in parts[0].columns:
                table = _concatenated([part.columns[name] for part in parts])
                order = np.argsort(table["t" if "t" in table else "clock"], kind="stable")
                self._columns[name] = {key: values[order] for key, values in table.items()}
        logs = [part.columns for part in parts if "starts" in part.columns]
        if logs:
            initial = {t.name: parts[-1].tables[f"initial:{t.name}"] for t in layout.tables}
            self._columns |= merged(logs, layout, initial)
        if "moments" in parts[0].columns:
            self._columns["moments"] = _concatenated([part.columns["moments"] for part in parts])
        hashes = [self._recorder.schedule_hash, *(p.schedule_hash for p in parts)]
        self.schedule_hash = hashlib.sha256("".join(hashes).encode()).hexdigest()

    @property
    def sampling(self) -> dict[str, dict[str, float | int]]:
        """As of `Recorder.sampling`."""
        return {"reads": self._read_sampling, "messages": self._recorder.sampling["messages"]}

    def finish(self) -> Columns:
        """All tables of the schema, as columns."""
        return self._columns

    def _replay(self, parts: Sequence[Columns], messages: npt.NDArray[np.int64]) -> None:
        """Tell the recorder of everything but the reads, in the order in which it happened."""
        to, joined = self._recorder, {}
        for name in ("clocks", "updates", "members", "metrics", "faults"):
            joined[name] = _concatenated([part[name] for part in parts])
        messages = messages[np.lexsort((messages[:, 2], messages[:, 1], messages[:, 0]))]
        clocks = joined["clocks"]
        order = np.argsort(clocks["t_end"], kind="stable")
        rows = np.stack([values[order] for values in clocks.values()], axis=1).tolist()
        # A clock ends before its oplogs are sent: messages of the same time come after it.
        before = np.searchsorted(messages[:, 0], clocks["t_end"][order]).tolist()
        facts = messages[:, 3:].tolist()
        sent = messages[:, 0].tolist()
        done = 0
        for row, upto in [*zip(rows, before, strict=True), (None, len(sent))]:
            for i in range(done, upto):
                kind, src, dst, t_deliver, nbytes, n = facts[i]
                to.message(i, kind, src, dst, sent[i], t_deliver, nbytes, n)
            done = upto
            if row is not None:
                to.clock(*row)
        for record, name, time in (
            (to.update, "updates", "t_applied"),
            (to.member, "members", "t"),
            (to.metric, "metrics", "t"),
            (to.fault, "faults", "t"),
        ):
            columns = joined[name]
            order = np.argsort(columns[time], kind="stable")
            for line in zip(*(values[order].tolist() for values in columns.values()), strict=True):
                record(*line)

    def _merge_reads(self, parts: Sequence[Part], seed: int, cap: int | None) -> None:
        tables = [part.columns for part in parts]
        reads = _concatenated([t["reads"] for t in tables])
        share = min(float(part.sampling["reads"]["share"]) for part in parts)
        if cap is not None:  # parts may have been thinned differently, and may be too many together
            keys = read_keys(seed, reads["worker"], reads["clock"])
            kept = keys <= np.uint64(int(share * 2**64) - 1)
            while np.count_nonzero(kept) > cap:
                fewer = kept & (keys <= np.uint64(int(share / 2 * 2**64) - 1))
                if not fewer.any():
                    break
                kept, share = fewer, share / 2
            reads = {k: values[kept] for k, values in reads.items()}
        histogram, totals = _summed(tables, "histogram", 2), _summed(tables, "read_totals", 1)
        self._read_tables = {
            name: as_columns(name, columns)
            for name, columns in (("reads", reads), ("histogram", histogram), ("read_totals", totals))
        }
        total = int(histogram["count"].sum())
        self._read_sampling: dict[str, float | int] = {
            "share": share, "kept": len(reads["t"]), "total": total,
        }  # fmt: skip


def _concatenated(tables: Sequence[dict[str, npt.NDArray[Any]]]) -> dict[str, npt.NDArray[Any]]:
    return {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}


def _summed(tables: Sequence[Columns], name: str, n_keys: int) -> dict[str, npt.NDArray[Any]]:
    """Add up the lines with equal keys, the first ``n_keys`` columns."""
    names = list(tables[0][name])
    lines = np.concatenate([np.stack([t[name][k].astype(np.int64) for k in names], axis=1) for t in tables])
    keys, where = np.unique(lines[:, :n_keys], axis=0, return_inverse=True)
    sums = np.zeros((len(keys), len(names) - n_keys), np.int64)
    np.add.at(sums, where.reshape(-1), lines[:, n_keys:])
    return dict(zip(names, np.column_stack([keys, sums]).T, strict=True))

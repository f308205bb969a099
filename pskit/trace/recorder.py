"""Takes down what happens in a run, cheaply, and turns it into the columns of a run folder.

Exact whatever the volume: the histogram of ages, the totals of reads and messages, the schedule hash,
all updates, clocks, members, metrics and faults. Under ``summary`` the raw lines of reads and messages
are a keyed sample (`pskit.trace.sampling`); a sampled GET keeps all its rows, and a sampled worker
clock all its GETs, so that the auditor can check it whole.
"""

from array import array
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.core.layout import Layout
from pskit.trace.buffers import RecordBuffer
from pskit.trace.hashing import ScheduleHash
from pskit.trace.kernels import (
    AGE_BEYOND_TABLE,
    HEAD_HASHED,
    HEAD_WIDTH,
    MISALIGNED,
    ROW_WIDTH,
    mix64,
    record_get,
    unpack_rows,
)
from pskit.trace.sampling import KeyedSample
from pskit.trace.schema import MESSAGE_KINDS, SCHEMA, as_columns
from pskit.trace.starts import StartLog
from pskit.trace.steps import RowLog, StepLog

READ_CAP = 2_000_000
MESSAGE_CAP = 500_000

_BLOCK_GETS = 4096
_BLOCK_ROWS = 1 << 16

_UPDATE_INTS = 8
_MESSAGE_WIDTH = len(SCHEMA["messages"])
_CLOCK_WIDTH = len(SCHEMA["clocks"])


class Recorder:
    """Trace of one run, while it runs.

    Parameters
    ----------
    layout : Layout
        Says table and shard of every global row.
    workers : int
        Workers of the run; the clock of a message total is the mean finished clock of these.
    mode : {"summary", "full"}
        ``full`` keeps every raw read and message.
    seed : int
        Keys the sample; the schedule hash does not depend on it.
    read_cap, message_cap : int
        Largest number of raw read rows and raw messages under ``summary``.

    Notes
    -----
    `finish` and `schedule_hash` may be asked at any time, so an interrupted run has a trace too.
    Integers may be Python or NumPy ints; arrays are copied, so the caller may use them again.
    """

    def __init__(
        self,
        layout: Layout,
        workers: int,
        mode: str = "summary",
        seed: int = 0,
        *,
        read_cap: int = READ_CAP,
        message_cap: int = MESSAGE_CAP,
    ) -> None:
        if mode not in ("summary", "full"):
            raise ValueError(f"mode must be 'summary' or 'full', got {mode!r}")
        if workers < 1:
            raise ValueError(f"workers must be at least 1, got {workers}")
        self.layout = layout
        self.workers = workers
        self.mode = mode
        self._hash = ScheduleHash()
        bounded = mode == "summary"
        base = mix64(np.array([seed % 2**64], np.uint64) + np.array([1, 2], np.uint64))
        self._message_base = base[1]

        # Reads: a block of GET heads and packed rows, filled by the kernel and sealed when full.
        self._reads = KeyedSample(read_cap if bounded else None, HEAD_WIDTH, ROW_WIDTH)
        self._sampling = np.array([base[0], self._reads.threshold], np.uint64)
        self._heads = np.empty((_BLOCK_GETS, HEAD_WIDTH), np.int64)
        self._filled = np.zeros(2, np.int64)  # lines in use of the two
        self._packed = np.empty((_BLOCK_ROWS, ROW_WIDTH), np.uint64)
        self._counts = np.zeros((64, 16), np.int64)
        self._read_totals = np.zeros((64, 4), np.int64)
        self.moved = 0  # how often one of `read_arrays`, or the scratch, was replaced
        self.scratch: tuple[npt.NDArray[Any], ...] = ()  # of who calls `record_get` itself

        self._messages = KeyedSample(message_cap if bounded else None, 0, _MESSAGE_WIDTH)
        self._message_totals = np.zeros((64, len(MESSAGE_KINDS), 3), np.int64)
        self._message_buffer = RecordBuffer(_MESSAGE_WIDTH)
        self._rounds = array("q")  # messages recorded before the mean clock reached 1, 2, ...

        self._clock_chunks: list[npt.NDArray[np.int64]] = []
        self._clock_buffer = RecordBuffer(_CLOCK_WIDTH)
        self._to_next_round = workers

        self._update_chunks: list[npt.NDArray[np.int64]] = []
        self._update_buffer = RecordBuffer(_UPDATE_INTS, floats=2)
        self._norms: list[npt.NDArray[np.float64]] = []

        self.steps: StepLog | None = None  # attached by a runtime, see `pskit.runtime.recording`
        self.rows: RowLog | None = None
        self.starts: StartLog | None = None
        self._metrics: list[tuple[Any, ...]] = []
        self._members: list[tuple[Any, ...]] = []
        self._faults: list[tuple[Any, ...]] = []

    # --- what the runtimes call -----------------------------------------------------------------

    def read(
        self,
        t: int,
        worker: int,
        clock: int,
        rows: npt.NDArray[np.int32],
        version: npt.NDArray[np.int64],
        own_from: npt.NDArray[np.int32],
        own_upto: int,
        age: npt.NDArray[np.int32],
        hit: npt.NDArray[np.bool_],
        waited: int,
    ) -> None:
        """Record that a GET returned to ``worker``, at its clock ``clock``.

        Parameters
        ----------
        t : int
            Time of return, ns.
        rows : (n,) int32
            Global row ids.
        version, own_from, age, hit : (n,) int64, int32, int32, bool
            Aligned with ``rows``; see "What a trace records".
        own_upto : int
        waited : int
            How long the GET took, ns.

        Raises
        ------
        ValueError
            When the arrays are not aligned, or an age or the clock is negative.
        """
        self.make_room(rows.size, clock)
        arguments = (t, worker, clock, rows, version, own_from, own_upto, age, hit, waited)
        kept = record_get(
            self._counts,
            self._read_totals,
            self._heads,
            self._filled[0],
            self._packed,
            self._filled[1],
            self._sampling,
            *arguments,
        )
        if kept < 0:
            if kept == AGE_BEYOND_TABLE:
                self._counts = _grown(self._counts, 1, int(age.max()))
                self.moved += 1
                self.read(*arguments)
                return
            reason = "arrays of unequal length" if kept == MISALIGNED else "a negative age or clock"
            raise ValueError(f"read of worker {worker} at clock {clock}, {rows.size} rows: {reason}")
        self._filled += (1, kept)

    def make_room(self, n: int, clock: int) -> None:
        """Have room for a GET of ``n`` rows at ``clock``."""
        if self._filled[0] == _BLOCK_GETS or self._filled[1] + n > len(self._packed):
            self._seal_reads(n)
        if clock >= len(self._counts):
            self._counts = _grown(self._counts, 0, clock)
            self._read_totals = _grown(self._read_totals, 0, clock)
            self.moved += 1

    def read_arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """For who calls `record_get`: counts, totals, heads, packed, sampling; valid until ``moved`` changes.

        The last one, (2,) int64, says how many lines of heads and packed are in use; the caller moves it on.
        """
        return self._counts, self._read_totals, self._heads, self._packed, self._sampling, self._filled

    def update(
        self,
        worker: int,
        clock: int,
        shard: int,
        seq: int,
        apply_index: int,
        t_inc: int,
        t_sent: int,
        t_applied: int,
        l2: float,
        linf: float,
    ) -> None:
        """Record that ``shard`` applied an oplog as its number ``apply_index``, with its two norms."""
        if self._update_buffer.add(
            worker, clock, shard, seq, apply_index, t_inc, t_sent, t_applied, l2, linf
        ):
            self._take_updates()

    def update_room(self) -> npt.NDArray[np.int64]:
        """Room for the next updates: a row for each, with the arguments of `update`, the norms as bits."""
        return self._update_buffer.room()

    def updated(self, n: int) -> None:
        """Record the updates that were written into the first ``n`` rows of `update_room`."""
        if self._update_buffer.filled(n):
            self._take_updates()

    def clock(self, worker: int, clock: int, t_begin: int, t_end: int, t_compute: int, t_wait: int) -> None:
        """Record that ``worker`` finished ``clock``: from, to, and ns of it computing and waiting."""
        full = self._clock_buffer.add(worker, clock, t_begin, t_end, t_compute, t_wait)
        if self._to_next_round == 1:
            self._to_next_round = self.workers
            self._rounds.append(len(self._message_buffer))
        else:
            self._to_next_round -= 1
        if full:
            self._take_clocks()

    def message(
        self,
        message_id: int,
        kind: int,
        src: int,
        dst: int,
        t_send: int,
        t_deliver: int,
        nbytes: int,
        rows: int,
    ) -> None:
        """Record a message; ``kind`` is its place in `MESSAGE_KINDS`."""
        if self._message_buffer.add(message_id, kind, src, dst, t_send, t_deliver, nbytes, rows):
            self._take_messages()

    def messages(
        self,
        first_id: int,
        kinds: int | list[int],
        src: int,
        dsts: npt.NDArray[np.int64],
        t_send: int,
        t_deliver: npt.NDArray[np.int64],
        sizes: npt.NDArray[np.int64],
    ) -> None:
        """Record n messages that leave ``src`` together; ``sizes`` (n, 2) holds bytes and rows of each."""
        records = np.empty((len(dsts), _MESSAGE_WIDTH), np.int64)
        records[:, 0] = np.arange(first_id, first_id + len(dsts))
        records[:, 1] = kinds
        records[:, 2], records[:, 4] = src, t_send
        records[:, 3], records[:, 5] = dsts, t_deliver
        records[:, 6:] = sizes
        while len(records):
            room = self._message_buffer.room()
            n = min(len(records), len(room))
            room[:n], records = records[:n], records[n:]
            if self._message_buffer.filled(n):
                self._take_messages()

    def metric(self, t: int, clock: int, name: str, value: float) -> None:
        """Record the objective ``name`` (``loss`` is the training loss) at a worker clock."""
        self._metrics.append((t, clock, name, value))

    def member(self, t: int, worker: int, shard: int, clock: int, apply_index: int, event: str) -> None:
        """Record that ``worker`` ``"joined"`` or ``"left"`` ``shard``, or was ``"lost"`` to it."""
        if event not in ("joined", "left", "lost"):
            raise ValueError(f"event must be 'joined', 'left' or 'lost', got {event!r}")
        self._members.append((t, worker, shard, clock, apply_index, event))

    def fault(self, t: int, what: str, worker: int, clock: int, table: str, row: int, detail: str) -> None:
        """Record what went wrong; ``table`` is empty and ``row`` -1 where none is concerned."""
        self._faults.append((t, what, worker, clock, table, row, detail))

    # --- what comes out -------------------------------------------------------------------------

    @property
    def schedule_hash(self) -> str:
        """SHA-256 over all messages, clocks, updates' integers and read versions so far."""
        self._flush()
        return self._hash.hexdigest()

    @property
    def sampling(self) -> dict[str, dict[str, float | int]]:
        """For the raw reads and messages: the share of keys kept, the lines kept, and of how many."""
        self._flush()
        totals = {"reads": int(self._read_totals[:, 1].sum()), "messages": len(self._message_buffer)}
        samples = {"reads": self._reads, "messages": self._messages}
        return {k: {"share": s.share, "kept": s.rows, "total": totals[k]} for k, s in samples.items()}

    def finish(self) -> dict[str, dict[str, npt.NDArray[Any]]]:
        """Return all tables of `pskit.trace.schema.SCHEMA`, and those of attached logs, as columns."""
        self._flush()
        messages = self._messages.result()[2].view(np.int64)
        norms = np.concatenate([np.empty((0, 2)), *self._norms])
        clock, age = np.nonzero(self._counts)
        read_clock = np.flatnonzero(self._read_totals[:, 0])
        sent_clock, kind = np.nonzero(self._message_totals[:, :, 0])
        columns: dict[str, Any] = {
            "reads": self._read_columns(),
            "updates": _split("updates", _joined(self._update_chunks, _UPDATE_INTS), *norms.T),
            "clocks": _split("clocks", _joined(self._clock_chunks, _CLOCK_WIDTH)),
            "messages": _split("messages", messages),
            "metrics": _transposed("metrics", self._metrics),
            "members": _transposed("members", self._members),
            "faults": _transposed("faults", self._faults),
            "histogram": {"clock": clock, "age": age, "count": self._counts[clock, age]},
            "read_totals": _split(
                "read_totals", np.column_stack([read_clock, self._read_totals[read_clock]])
            ),
            "message_totals": _split(
                "message_totals", np.column_stack([sent_clock, kind, self._message_totals[sent_clock, kind]])
            ),
        }
        for log in (self.steps, self.rows, self.starts):
            if log is not None:
                columns |= log.columns()
        return {name: as_columns(name, table) for name, table in columns.items()}

    def _read_columns(self) -> dict[str, npt.NDArray[Any]]:
        sizes, heads, packed = self._reads.result()
        columns = unpack_rows(packed)
        rows = columns["row"]
        table = self.layout.table_of_row[rows]
        for i, name in enumerate(("t", "worker", "clock", "own_upto", "waited")):
            columns[name] = np.repeat(heads[:, i], sizes)
        columns["shard"] = rows % self.layout.shards
        columns["row"] = rows - self.layout.offsets[table]
        columns["table"] = table
        return columns

    # --- chunks ---------------------------------------------------------------------------------

    def _flush(self) -> None:
        self._seal_reads(0)
        self._take_messages()
        self._take_clocks()
        self._take_updates()

    def _seal_reads(self, room: int) -> None:
        """Hand the block on and start an empty one with room for a GET of ``room`` rows."""
        heads = self._heads[: self._filled[0]]
        self._hash.update("reads", heads[:, :HEAD_HASHED])
        keys = heads[:, HEAD_HASHED].view(np.uint64)
        kept = keys <= self._sampling[1]
        self._reads.add(
            keys[kept], heads[kept, HEAD_HASHED - 2], heads[kept], self._packed[: self._filled[1]].copy()
        )
        self._sampling[1] = self._reads.threshold
        self._filled[:] = 0
        if room > len(self._packed):
            self._packed = np.empty((room, ROW_WIDTH), np.uint64)
            self.moved += 1

    def _take_messages(self) -> None:
        chunk, _ = self._message_buffer.take()
        if not len(chunk):
            return
        self._hash.update("messages", chunk)
        last = self._message_buffer.taken
        # Rounds end rarely, messages come often: so the clock of a message is looked up here, in bulk.
        clock = np.searchsorted(self._rounds, np.arange(last - len(chunk), last), side="right")
        self._message_totals = _grown(self._message_totals, 0, int(clock[-1]))
        amounts = np.column_stack([np.ones(len(chunk), np.int64), chunk[:, 6], chunk[:, 7]])
        np.add.at(self._message_totals, (clock, chunk[:, 1]), amounts)
        keys = mix64(chunk[:, 0].view(np.uint64) ^ self._message_base)
        kept = keys <= np.uint64(self._messages.threshold)
        size = int(kept.sum())
        rows = chunk[kept].view(np.uint64)
        self._messages.add(keys[kept], np.ones(size, np.int64), np.empty((size, 0), np.int64), rows)

    def _take_clocks(self) -> None:
        chunk, _ = self._clock_buffer.take()
        self._hash.update("clocks", chunk)
        self._clock_chunks.append(chunk)

    def _take_updates(self) -> None:
        chunk, norms = self._update_buffer.take()
        self._hash.update("updates", chunk)
        self._update_chunks.append(chunk)
        self._norms.append(norms)


def _grown(counts: npt.NDArray[np.int64], axis: int, index: int) -> npt.NDArray[np.int64]:
    """Add zeros to ``counts`` along ``axis`` when ``index`` is beyond its end."""
    size = counts.shape[axis]
    if index < size:
        return counts
    shape = list(counts.shape)
    shape[axis] = max(index + 1, 2 * size)
    out = np.zeros(shape, np.int64)
    out[tuple(slice(n) for n in counts.shape)] = counts
    return out


def _joined(chunks: list[npt.NDArray[np.int64]], width: int) -> npt.NDArray[np.int64]:
    return np.concatenate([np.empty((0, width), np.int64), *chunks])


def _split(
    table: str, records: npt.NDArray[np.int64], *more: npt.NDArray[np.float64]
) -> dict[str, npt.NDArray[Any]]:
    """Columns of ``records`` (n, width), then ``more``, under the names of the schema."""
    return dict(zip(SCHEMA[table], (*np.ascontiguousarray(records.T), *more), strict=True))


def _transposed(table: str, records: list[tuple[Any, ...]]) -> dict[str, npt.NDArray[Any]]:
    """Columns of a list of records, each with the dtype of the schema (also when there is none)."""
    parts = zip(*records, strict=True) if records else ((),) * len(SCHEMA[table])
    return {
        name: np.array(values, dtype=np.dtype(dtype))
        for (name, dtype), values in zip(SCHEMA[table].items(), parts, strict=True)
    }

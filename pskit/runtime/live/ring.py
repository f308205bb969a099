"""A ring of records in shared memory, with one writer and one reader in different processes.

Rules it implements:

1. Records come out in the order in which they went in, each once, and never before they are complete.
2. Neither side waits for the other: a full ring refuses a record, an empty one has none.
3. Every record carries the time from which its reader may use it (``visible_at``).

``words[WRITTEN]`` and ``words[READ]`` count cells (of 8 bytes) from the start of the run and never go back;
each has one writer and its own cache line. The writer fills cells in front of ``WRITTEN`` and then moves
it with a release store; the reader loads it with acquire, so it sees complete records only. The same holds,
the other way round, for the cells that the reader gives back. Nothing else is shared, so no lock is needed
and a process that dies at any instruction leaves the ring valid for the other. (The bytes of a record are
written by NumPy: that call is over before `publish` is entered, and its stores precede the release store.)

A record is a head of two cells, length in bytes (and a flag) and ``visible_at``, and its bytes. It lies in
one piece: where the end of the ring is too near, a mark sends the reader back to the start. A record of more
than `largest_piece` bytes is cut in pieces; all but the last carry the flag ``MORE``.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.core.kernels import compiled
from pskit.runtime.live.atomics import load_acquire, store_release

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.int64]

CELL = 8
HEAD_CELLS = 2
WRITTEN, READ = 0, 8  # 64 bytes apart
HEADER_WORDS = 16
BACK_TO_START = -1
MORE = 1 << 40


@compiled
def room_for(words: Any, cells: Any, n: int) -> int:
    """Writer: first of ``n`` free cells in one piece, or -1; what is skipped for it stays skipped."""
    size = cells.size
    written = words[WRITTEN]
    free = size - (written - load_acquire(words, READ))
    at = written % size
    if at + n > size:
        if free < size - at:
            return -1
        cells[at] = BACK_TO_START
        store_release(words, WRITTEN, written + size - at)
        free -= size - at
        at = 0
    return at if n <= free else -1


@compiled
def publish(words: Any, n: int) -> int:
    """Writer: hand ``n`` filled cells over; cells in use now."""
    written = words[WRITTEN] + n
    store_release(words, WRITTEN, written)
    return int(written - load_acquire(words, READ))


@compiled
def front(words: Any, cells: Any) -> int:
    """Reader: first cell of the oldest record, or -1 when there is none."""
    size = cells.size
    while True:
        read = words[READ]
        if load_acquire(words, WRITTEN) == read:
            return -1
        at = read % size
        if cells[at] != BACK_TO_START:
            return int(at)
        store_release(words, READ, read + size - at)


@compiled
def give_back(words: Any, n: int) -> None:
    """Reader: the oldest ``n`` cells may be written again."""
    store_release(words, READ, words[READ] + n)


def ring_bytes(capacity: int) -> int:
    """Bytes of a ring with ``capacity`` bytes of cells, its words included."""
    return HEADER_WORDS * CELL + capacity


class Ring:
    """The memory of a ring, the same for its writer and its reader.

    Parameters
    ----------
    memory : (n,) uint8
        From `ring_bytes`, aligned to 64 bytes, zeros at the start of the run.
    """

    def __init__(self, memory: Bytes) -> None:
        self.words: Words = memory[: HEADER_WORDS * CELL].view(np.int64)
        self.data: Bytes = memory[HEADER_WORDS * CELL :]
        self.cells: Words = self.data.view(np.int64)
        self.largest_piece = (len(self.cells) // 4 - HEAD_CELLS) * CELL
        if self.largest_piece < CELL:
            raise ValueError(
                f"a ring of {len(self.data)} bytes is too small: a quarter must hold a piece of a record"
            )

    @property
    def is_empty(self) -> bool:
        """Whether the reader has taken everything (a snapshot)."""
        return bool(self.words[WRITTEN] == self.words[READ])


def _cells_of(nbytes: int) -> int:
    return HEAD_CELLS + -(-nbytes // CELL)


class RingWriter:
    """The writing end. What finds no room waits in a backlog, in order, so the writer never blocks.

    Attributes
    ----------
    backlog : deque of (visible_at, bytes, offset)
        Records not, or only in part, in the ring.
    waiting : int
        Bytes of these records.
    delayed : int
        Records that ever waited there.
    """

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self.backlog: deque[tuple[int, Bytes, int]] = deque()
        self.waiting = 0
        self.delayed = 0

    def has_room(self, nbytes: int) -> bool:
        """Whether a record of ``nbytes`` bytes would not wait behind others, nor as a whole."""
        ring = self._ring
        if self.backlog:
            return False
        piece = min(nbytes, ring.largest_piece)
        return int(room_for(ring.words, ring.cells, _cells_of(piece))) >= 0

    def give_up(self) -> None:
        """Forget what waits: the reader is gone."""
        self.backlog.clear()
        self.waiting = 0

    def post(self, visible_at: int, nbytes: int, fill: Callable[[Bytes], None]) -> bool:
        """Write a record of ``nbytes`` bytes that ``fill`` puts into place.

        Returns
        -------
        bool
            True when the reader should look soon because the ring is filling up.
        """
        ring = self._ring
        if nbytes <= ring.largest_piece and not self.backlog:
            n = _cells_of(nbytes)
            at = room_for(ring.words, ring.cells, n)
            if at >= 0:
                begin = (at + HEAD_CELLS) * CELL
                fill(ring.data[begin : begin + nbytes])
                ring.cells[at], ring.cells[at + 1] = nbytes, visible_at
                return bool(2 * publish(ring.words, n) > len(ring.cells))
        record = np.empty(nbytes, np.uint8)
        fill(record)
        self.backlog.append((visible_at, record, 0))
        self.waiting += nbytes
        self.delayed += 1
        self.flush()
        return True

    def flush(self) -> bool:
        """Move what fits from the backlog to the ring; True when the backlog is empty."""
        ring = self._ring
        while self.backlog:
            visible_at, record, done = self.backlog.popleft()
            piece = record[done : done + ring.largest_piece]
            n = _cells_of(len(piece))
            at = room_for(ring.words, ring.cells, n)
            if at < 0:
                self.backlog.appendleft((visible_at, record, done))
                return False
            done += len(piece)
            begin = (at + HEAD_CELLS) * CELL
            ring.data[begin : begin + len(piece)] = piece
            ring.cells[at] = len(piece) | (MORE if done < len(record) else 0)
            ring.cells[at + 1] = visible_at
            publish(ring.words, n)
            self.waiting -= len(piece)
            if done < len(record):
                self.backlog.appendleft((visible_at, record, done))
        return True


class RingReader:
    """The reading end."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self._pieces: list[Bytes] = []

    def take(self, use: Callable[[int, Bytes], None]) -> bool:
        """Hand the oldest record to ``use(visible_at, bytes)``, which must copy what it keeps.

        Returns
        -------
        bool
            False when there is none, or only a part of one so far.
        """
        ring = self._ring
        while True:
            at = front(ring.words, ring.cells)
            if at < 0:
                return False
            head, visible_at = int(ring.cells[at]), int(ring.cells[at + 1])
            nbytes = head & (MORE - 1)
            begin = (at + HEAD_CELLS) * CELL
            piece = ring.data[begin : begin + nbytes]
            whole = not head & MORE
            if whole and not self._pieces:
                use(visible_at, piece)
            else:
                self._pieces.append(piece.copy())
            give_back(ring.words, _cells_of(nbytes))
            if not whole:
                continue
            if self._pieces:
                record = np.concatenate(self._pieces)
                self._pieces = []
                use(visible_at, record)
            return True

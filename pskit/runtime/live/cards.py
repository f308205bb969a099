"""Network cards that processes share: a client and a shard on one machine send through the same one."""

from typing import Any

import numba

from pskit.emulation.network import Cards
from pskit.runtime.live.atomics import compare_and_swap, load_acquire
from pskit.runtime.live.plan import LINE, Words
from pskit.runtime.live.timebase import NEVER


@numba.njit(cache=True, nogil=True)
def occupy(words: Any, at: int, now: int, duration: int) -> int:
    """Move the word ``at``, until when a card is busy, on by one message; when that has left."""
    while True:
        free = load_acquire(words, at)
        departure = max(now, free) + duration
        if compare_and_swap(words, at, free, departure):
            return int(departure)


class SharedCards(Cards):
    """The cards of all machines, in the arena.

    Parameters
    ----------
    words : (machines * 8,) int64
        Until when each card is busy, ns emulated; one word per cache line.
    """

    __slots__ = ("_words",)

    def __init__(self, words: Words) -> None:
        self._words = words

    def occupy(self, card: int, now: int, duration: int) -> int:
        """Queue a message at a card, see `Cards.occupy`.

        Raises
        ------
        OverflowError
            When the card would be busy for longer than any run: beyond that words would wrap around.
        """
        departure = int(occupy(self._words, card * LINE, now, duration)) if now + duration < NEVER else NEVER
        if departure >= NEVER:
            raise OverflowError(f"a network card would be busy until {now + duration} ns or longer")
        return departure

"""Contents of reliable FIFO links, numbered."""

from collections.abc import Callable
from typing import NamedTuple

from pskit.explore.memo import Memo, Numbers

EMPTY = 0


class Arrival(NamedTuple):
    """Something that can happen on a link: what, the link's content after, and what its end gets.

    ``what`` is unique among all that can happen to one content.
    """

    what: str
    rest: int
    messages: tuple[int, ...]


class Queues:
    """Every content of a FIFO link that was met: message numbers, the oldest first. Number 0 is empty.

    Attributes
    ----------
    arrivals : mapping of int to tuple of Arrival
        What can happen to a content: the oldest message arrives.
    """

    def __init__(self) -> None:
        self._contents = Numbers[tuple[int, ...]]()
        self._contents.of(())
        self.arrivals = Memo(self._arrivals)

    def append(self, content: int, message: int) -> int:
        """Content once ``message`` was sent."""
        return self._contents.of((*self._contents[content], message))

    def is_quiet(self, content: int) -> bool:
        """Whether nothing is under way."""
        return content == EMPTY

    def rename(self, content: int, message: Callable[[int], int]) -> int:
        """The same content with other messages."""
        return self._contents.of(tuple(message(m) for m in self._contents[content]))

    def _arrivals(self, content: int) -> tuple[Arrival, ...]:
        if content == EMPTY:
            return ()
        first, *rest = self._contents[content]
        return (Arrival("arrives", self._contents.of(tuple(rest)), (first,)),)

"""Contents of reliable FIFO links, numbered."""

from collections.abc import Callable
from typing import NamedTuple

EMPTY = 0


class Arrival(NamedTuple):
    """Something that can happen on a link: what, the link's content after, and what its end gets."""

    what: str
    rest: int
    messages: tuple[int, ...]


class Queues:
    """Every content of a link that was met. Number 0 is the empty one."""

    def __init__(self) -> None:
        self._contents: list[tuple[int, ...]] = [()]
        self._numbers: dict[tuple[int, ...], int] = {(): EMPTY}
        self._appended: dict[tuple[int, int], int] = {}
        self._arrivals: list[tuple[Arrival, ...] | None] = [()]

    def append(self, content: int, message: int) -> int:
        """Content once ``message`` was sent."""
        longer = self._appended.get((content, message))
        if longer is None:
            longer = self._appended[content, message] = self._number((*self._contents[content], message))
        return longer

    def arrivals(self, content: int) -> tuple[Arrival, ...]:
        """What can happen: the oldest message arrives."""
        found = self._arrivals[content]
        if found is None:
            first, *rest = self._contents[content]
            found = self._arrivals[content] = (Arrival("arrives", self._number(tuple(rest)), (first,)),)
        return found

    def is_quiet(self, content: int) -> bool:
        """Whether nothing is under way."""
        return content == EMPTY

    def rename(self, content: int, message: Callable[[int], int]) -> int:
        """The same content with other messages."""
        return self._number(tuple(message(m) for m in self._contents[content]))

    def _number(self, messages: tuple[int, ...]) -> int:
        number = self._numbers.get(messages)
        if number is None:
            number = self._numbers[messages] = len(self._contents)
            self._contents.append(messages)
            self._arrivals.append(None)
        return number

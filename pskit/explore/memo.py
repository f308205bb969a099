"""A function's values, each worked out once."""

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Memo(dict[K, V], Generic[K, V]):
    """``memo[key]`` is ``make(key)``; later look-ups are as cheap as a dictionary's.

    Parameters
    ----------
    make : callable
    """

    def __init__(self, make: Callable[[K], V]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: K) -> V:
        value = self[key] = self._make(key)
        return value


class Numbers(Generic[K]):
    """Numbers things in the order in which they are first met.

    Attributes
    ----------
    things : list
    """

    def __init__(self) -> None:
        self.things: list[K] = []
        self._numbers: dict[K, int] = {}

    def __getitem__(self, number: int) -> K:
        return self.things[number]

    def __len__(self) -> int:
        return len(self.things)

    def of(self, thing: K) -> int:
        """Number of ``thing``."""
        number = self._numbers.get(thing)
        if number is None:
            number = self._numbers[thing] = len(self.things)
            self.things.append(thing)
        return number

"""The vector clock of a shard: one count per member, and their minimum in O(1).

A member's count is the number of its clocks received in full. The minimum over the members is the
shard's clock. It never goes back: a member that would enter below it is refused, a member that leaves
can only raise it, and with no member left it stays.
"""


class VectorClock:
    """Counts of finished clocks per worker, with their minimum.

    Parameters
    ----------
    members : iterable of int
        Workers present from clock 0 on.
    """

    __slots__ = ("_at", "minimum", "received")

    def __init__(self, members: "list[int] | range") -> None:
        self.received: dict[int, int] = dict.fromkeys(members, 0)
        self._at: dict[int, int] = {0: len(self.received)}  # how many members stand at a count
        self.minimum = 0

    def __len__(self) -> int:
        return len(self.received)

    def tick(self, worker: int) -> bool:
        """Count one more finished clock of ``worker``; True when the minimum rose (amortised O(1))."""
        count = self.received[worker]
        self.received[worker] = count + 1
        at = self._at
        at[count + 1] = at.get(count + 1, 0) + 1
        left = at[count] - 1
        if left:
            at[count] = left
            return False
        del at[count]
        return self._raise() if count == self.minimum else False

    def remove(self, worker: int) -> bool:
        """Take ``worker`` out; True when the minimum of the others rose."""
        count = self.received.pop(worker)
        left = self._at[count] - 1
        if left:
            self._at[count] = left
            return False
        del self._at[count]
        return self._raise() if count == self.minimum else False

    def _raise(self) -> bool:
        if not self._at:
            return False
        while self.minimum not in self._at:
            self.minimum += 1
        return True

"""One representative of all states that differ only in names (see `pskit.explore.symmetry`)."""

import sys

from pskit.explore.memo import Memo
from pskit.explore.sides import Side
from pskit.explore.space import Space, State
from pskit.explore.symmetry import Renaming, renamings


class Orbits:
    """Chooses the representative: the least tuple that any renaming gives.

    Parameters
    ----------
    space : Space
    """

    def __init__(self, space: Space) -> None:
        self._space, self._n_clients = space, space.n_clients
        every = [Renaming.trivial(space.system), *renamings(space.system)]
        self._named = [_Names(space, r) for r in every]
        self._from = [
            (*r.old_clients, *(space.n_clients + j for j in r.old_shards)) for r in every
        ]  # by renaming, the old place of each component
        self._sides: Memo[int, tuple[int, ...]] = Memo(
            lambda side: tuple(names.side(side) for names in self._named)
        )
        self._shards: Memo[int, tuple[int, ...]] = Memo(
            lambda shard: tuple(names.states[shard] for names in self._named)
        )
        self._leads = Memo(self._lead)

    def __len__(self) -> int:
        return len(self._named)

    def representative(self, state: State) -> State:
        """The least image of ``state``."""
        n, sides, shards, leads = self._n_clients, self._sides, self._shards, self._leads
        images = [*[sides[side] for side in state[:n]], *[shards[shard] for shard in state[n:]]]
        # The least image has the least first component: only renamings that give that one are tried.
        first = [leads[side] for side in state[:n]]
        least = min(first)[0]
        candidates = [
            tuple([images[place][i] for place in self._from[i]])
            for lead, which in first
            if lead == least
            for i in which
        ]
        return min(candidates) if len(candidates) > 1 else candidates[0]

    def _lead(self, side: int) -> tuple[int, tuple[int, ...]]:
        """The least image of a side that comes first, and the renamings that give it."""
        client = self._space.machines.client(self._space.sides.sides[side].client).client
        images = self._sides[side]
        candidates = [i for i, places in enumerate(self._from) if places[0] == client]
        least = min((images[i] for i in candidates), default=sys.maxsize)  # some clients never come first
        return least, tuple(i for i in candidates if images[i] == least)


class _Names:
    """What a renaming makes of numbers."""

    def __init__(self, space: Space, renaming: Renaming) -> None:
        self._sides, self._old_shards = space.sides.sides, renaming.old_shards
        self.states: Memo[int, int] = Memo(lambda number: space.machines.rename_state(renaming, number))
        messages: Memo[int, int] = Memo(lambda number: space.machines.rename_message(renaming, number))
        self._contents: Memo[int, int] = Memo(
            lambda number: space.sides.links.rename(number, messages.__getitem__)
        )

    def side(self, number: int) -> int:
        """Number of a side under the new names."""
        client, up, down = self._sides[number]
        links = (tuple(self._contents[contents[j]] for j in self._old_shards) for contents in (up, down))
        return self._sides.of(Side(self.states[client], *links))

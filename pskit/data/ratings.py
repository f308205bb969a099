"""Ratings in memory: three columns with ids numbered from 0 without gaps."""

import hashlib
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class Triples(NamedTuple):
    """Ratings as three columns.

    Parameters
    ----------
    user, item : (n,) int32
    value : (n,) float32
    """

    user: NDArray[np.int32]
    item: NDArray[np.int32]
    value: NDArray[np.float32]

    def select(self, which: Any) -> "Triples":
        """The ratings at ``which``: anything that indexes an array."""
        return Triples(self.user[which], self.item[which], self.value[which])


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """A sparse matrix of ratings, each pair of user and item at most once, in the order of the source.

    Attributes
    ----------
    triples : Triples
        Users and items from 0 without gaps (every one occurs), finite values.
    user_ids, item_ids : (n_users,), (n_items,) int64
        The source's own ids, ascending.
    source : str
        Name of the data set or file, for captions.
    sha256 : str
        Hash of the content: the three columns of ``triples``, little-endian.
    """

    triples: Triples
    user_ids: NDArray[np.int64]
    item_ids: NDArray[np.int64]
    source: str
    sha256: str

    @property
    def user(self) -> NDArray[np.int32]:
        """User of each rating (n,)."""
        return self.triples.user

    @property
    def item(self) -> NDArray[np.int32]:
        """Item of each rating (n,)."""
        return self.triples.item

    @property
    def value(self) -> NDArray[np.float32]:
        """Ratings (n,)."""
        return self.triples.value

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.item_ids)

    def __len__(self) -> int:
        return len(self.triples.value)

    @classmethod
    def from_ids(cls, triples: Triples, source: str) -> Self:
        """Number the ids of a source from 0 without gaps, in ascending order.

        Parameters
        ----------
        triples : Triples
            With the source's own ids; no pair may repeat (see `first_repeated_pair`).
        source : str
        """
        user_ids, item_ids = np.unique(triples.user), np.unique(triples.item)
        numbered = Triples(
            np.searchsorted(user_ids, triples.user).astype("<i4"),
            np.searchsorted(item_ids, triples.item).astype("<i4"),
            triples.value.astype("<f4", copy=False),
        )
        ids = user_ids.astype(np.int64), item_ids.astype(np.int64)
        return cls(numbered, *ids, source, content_hash(*numbered))


def content_hash(*columns: NDArray[Any]) -> str:
    """Hex sha256 over the bytes of the columns, one after another."""
    digest = hashlib.sha256()
    for column in columns:
        digest.update(np.ascontiguousarray(column).data)
    return digest.hexdigest()


def first_repeated_pair(triples: Triples) -> tuple[int, int] | None:
    """The first position that repeats an earlier pair of ids, as (earlier, position); None without any.

    Parameters
    ----------
    triples : Triples
        With ids from 0 to below 2^31.
    """
    pair = triples.user.astype(np.int64)
    pair <<= 31
    pair |= triples.item
    ordered = np.sort(pair)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    order = np.argsort(pair, kind="stable")
    again = np.flatnonzero(pair[order[1:]] == pair[order[:-1]])
    first = again[np.argmin(order[again + 1])]
    return int(order[first]), int(order[first + 1])

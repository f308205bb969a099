"""Ratings in memory: three columns with ids numbered from 0 without gaps."""

import hashlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Values = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """A sparse matrix of ratings, each pair of user and item at most once, in the order of the source.

    Attributes
    ----------
    user, item : (n,) int32
        From 0 without gaps: every user and every item occurs.
    value : (n,) float32
        Finite.
    user_ids, item_ids : (n_users,), (n_items,) int64
        The source's own ids, ascending.
    source : str
        Name of the data set or file, for captions.
    sha256 : str
        Hash of the content: user, item and value, little-endian.
    """

    user: Ids
    item: Ids
    value: Values
    user_ids: NDArray[np.int64]
    item_ids: NDArray[np.int64]
    source: str
    sha256: str

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.item_ids)

    def __len__(self) -> int:
        return len(self.value)

    @classmethod
    def from_ids(cls, user: NDArray[Any], item: NDArray[Any], value: Values, source: str) -> Self:
        """Number the ids of a source from 0 without gaps, in ascending order.

        Parameters
        ----------
        user, item : (n,) integers
            The source's own ids; no pair may repeat (see `first_repeated_pair`).
        value : (n,) float32
        source : str
        """
        user_ids, item_ids = np.unique(user), np.unique(item)
        compact_user = np.searchsorted(user_ids, user).astype(np.int32)
        compact_item = np.searchsorted(item_ids, item).astype(np.int32)
        sha256 = content_hash((compact_user, "<i4"), (compact_item, "<i4"), (value, "<f4"))
        ids = user_ids.astype(np.int64), item_ids.astype(np.int64)
        return cls(compact_user, compact_item, value, *ids, source, sha256)


def content_hash(*columns: tuple[NDArray[Any], str]) -> str:
    """Hex sha256 over the columns, each converted to the dtype beside it."""
    digest = hashlib.sha256()
    for column, dtype in columns:
        digest.update(np.ascontiguousarray(column, dtype=dtype).data)
    return digest.hexdigest()


def first_repeated_pair(user: NDArray[Any], item: NDArray[Any]) -> tuple[int, int] | None:
    """The first position that repeats an earlier pair of ids, as (earlier, position); None without repetition.

    Parameters
    ----------
    user, item : (n,) integers from 0 to below 2^31
    """
    pair = user.astype(np.int64) << 31 | item
    ordered = np.sort(pair)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    order = np.argsort(pair, kind="stable")
    again = np.flatnonzero(pair[order[1:]] == pair[order[:-1]])
    first = again[np.argmin(order[again + 1])]
    return int(order[first]), int(order[first + 1])

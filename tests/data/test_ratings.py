import hashlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pskit.data.ratings import Ratings, Triples, content_hash, first_repeated_pair


def triples(user: list[int], item: list[int], value: list[float] | None = None) -> Triples:
    values = np.ones(len(user)) if value is None else np.array(value)
    return Triples(np.array(user, np.int32), np.array(item, np.int32), values.astype(np.float32))


def test_ids_are_numbered_in_ascending_order_and_the_order_of_ratings_is_kept() -> None:
    ratings = Ratings.from_ids(triples([70, 3, 70], [9, 8, 2**31 - 1], [1, 2, 3]), "here")
    assert ratings.user.tolist() == [1, 0, 1]
    assert ratings.item.tolist() == [1, 0, 2]
    assert ratings.value.tolist() == [1, 2, 3]
    assert ratings.user_ids.tolist() == [3, 70]
    assert ratings.item_ids.tolist() == [8, 9, 2**31 - 1]
    assert (len(ratings), ratings.n_users, ratings.n_items, ratings.source) == (3, 2, 3, "here")
    assert (ratings.user.dtype, ratings.value.dtype) == (np.int32, np.float32)


def test_the_hash_is_of_the_columns_and_of_nothing_else() -> None:
    a = Ratings.from_ids(triples([5, 6], [1, 2]), "a")
    b = Ratings.from_ids(triples([50, 60], [1, 2]), "b")
    c = Ratings.from_ids(triples([50, 60], [2, 1]), "b")
    assert a.sha256 == b.sha256 != c.sha256
    assert a.sha256 == content_hash(*a.triples)
    assert content_hash(np.array([1], "<i4")) == hashlib.sha256(b"\1\0\0\0").hexdigest()


def test_select_takes_the_same_ratings_of_each_column() -> None:
    chosen = triples([1, 2, 3], [4, 5, 6], [7, 8, 9]).select(np.array([False, True, True]))
    assert [column.tolist() for column in chosen] == [[2, 3], [5, 6], [8, 9]]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 2**31 - 1]))))
def test_first_repeated_pair_is_the_first_in_the_order_of_the_file(pairs: list[tuple[int, int]]) -> None:
    expected = next(
        ((pairs.index(pair), again) for again, pair in enumerate(pairs) if pair in pairs[:again]), None
    )
    found = first_repeated_pair(triples([u for u, _ in pairs], [i for _, i in pairs]))
    assert found == expected

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.apps.partition import Partition, balanced_owner
from pskit.data import load_ratings

users = st.lists(st.integers(0, 9), max_size=60).map(lambda u: np.array(u, np.int32))


@given(users, st.integers(1, 20))
def test_every_rating_has_one_worker_and_every_user_too(user: np.ndarray, workers: int) -> None:
    parts = list(Partition(user, 10, workers))
    assert len(parts) == workers
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(user)))
    owners = [set(user[part].tolist()) for part in parts]
    assert sum(map(len, owners)) == len(set(user.tolist()))
    assert all(part.tolist() == sorted(part.tolist()) for part in parts)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30), st.integers(1, 40))
def test_loads_are_balanced_to_within_the_largest_user(counts: list[int], workers: int) -> None:
    owner = balanced_owner(np.array(counts), workers)
    loads = np.bincount(owner, weights=counts, minlength=workers)
    assert loads.max() <= sum(counts) / workers + max(counts)


def test_ties_go_to_the_lower_user_and_worker() -> None:
    assert balanced_owner(np.array([1, 5, 5, 1, 1]), 3).tolist() == [2, 0, 1, 2, 2]


def test_workers_without_users_own_nothing() -> None:
    partition = Partition(np.array([0, 1, 0], np.int32), 2, 5)
    assert [len(part) for part in partition] == [2, 1, 0, 0, 0]
    with pytest.raises(IndexError, match="worker 5 of 5"):
        partition[5]


def test_ml_small_is_shared_out_evenly() -> None:
    ratings = load_ratings("ml-small")
    sizes = [len(part) for part in Partition(ratings.user, ratings.n_users, 16)]
    assert max(sizes) - min(sizes) <= 20

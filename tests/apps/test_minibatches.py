from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.apps import minibatches as module
from pskit.apps.minibatches import Minibatch, minibatches
from pskit.data.ratings import Triples
from pskit.emulation.streams import Stream


def stream(*key: Any) -> Stream:
    return Stream(3, *key)


def ratings(n: int) -> Triples:
    """n ratings, each known by its value."""
    draw = Stream(1, "ratings")
    user, item = draw.integers(n, 6).astype(np.int32) * 2, draw.integers(n, 9).astype(np.int32)
    return Triples(user, item, np.arange(n, dtype=np.float32))


def clocks(n: int, fraction: float, count: int) -> list[Minibatch]:
    return list(minibatches(ratings(n), fraction, count, stream))


def values(batches: list[Minibatch]) -> list[float]:
    return [value for batch in batches for value in batch.value.tolist()]


@settings(deadline=None)
@given(st.integers(0, 50), st.sampled_from([1.0, 0.7, 0.5, 1 / 3, 0.1, 0.03, 1e-4]), st.integers(1, 30))
def test_a_batch_holds_its_ratings_and_the_rows_they_touch(n: int, fraction: float, count: int) -> None:
    own = ratings(n)
    batches = clocks(n, fraction, count)
    assert len(batches) == count
    share = Fraction(fraction).limit_denominator(10**9)
    assert np.cumsum([len(b.value) for b in batches]).tolist() == [
        int(n * share * (c + 1)) for c in range(count)
    ]
    for batch in batches:
        which = batch.value.astype(int)
        assert batch.users[batch.user].tolist() == own.user[which].tolist()
        assert batch.items[batch.item].tolist() == own.item[which].tolist()
        assert batch.users.tolist() == sorted(set(own.user[which].tolist()))
        assert batch.items.tolist() == sorted(set(own.item[which].tolist()))
        assert {array.dtype for array in batch[:4]} == {np.dtype(np.int32)}


@pytest.mark.parametrize("per_epoch", [1, 2, 3, 7, 10, 100])
def test_an_epoch_is_cut_exactly_and_reshuffled(per_epoch: int) -> None:
    n = 64
    batches = clocks(n, 1 / per_epoch, 3 * per_epoch)
    epochs = [values(batches[e * per_epoch : (e + 1) * per_epoch]) for e in range(3)]
    for e, epoch in enumerate(epochs):
        assert epoch == Stream(3, "epoch", e).permutation(n).tolist()
    assert epochs[0] != epochs[1] != epochs[2]
    sizes = [len(batch.value) for batch in batches]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("fraction", [0.7, 0.3, 0.01, 1.0])
def test_planning_ahead_does_not_matter(fraction: float, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = values(clocks(30, fraction, 20))
    monkeypatch.setattr(module, "_LONGEST_PLAN", 1)
    assert values(clocks(30, fraction, 20)) == planned


def test_more_clocks_only_append() -> None:
    assert values(clocks(30, 0.3, 7)) == values(clocks(30, 0.3, 11))[: 7 * 9]


def test_a_share_below_one_rating_gives_empty_batches() -> None:
    assert [len(batch.value) for batch in clocks(5, 0.1, 10)] == [0, 1] * 5


def test_a_worker_without_ratings_has_empty_batches() -> None:
    assert [len(batch.users) + len(batch.value) for batch in clocks(0, 0.1, 4)] == [0, 0, 0, 0]

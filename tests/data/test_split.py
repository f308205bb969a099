import numpy as np
import pytest

from pskit.data import Ratings, load_ratings
from pskit.data.split import held_out


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return load_ratings("ml-small")


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.99])
def test_about_the_share_is_held_out(ratings: Ratings, share: float) -> None:
    n = len(ratings)
    sd = np.sqrt(n * share * (1 - share))
    assert abs(held_out(ratings, share).sum() - n * share) < 4 * sd


def test_a_share_of_0_holds_nothing_out(ratings: Ratings) -> None:
    assert not held_out(ratings, 0.0).any()


def test_a_larger_share_contains_a_smaller_one(ratings: Ratings) -> None:
    small, large = held_out(ratings, 0.1), held_out(ratings, 0.2)
    assert not (small & ~large).any()


def test_the_choice_is_the_same_everywhere(ratings: Ratings) -> None:
    assert np.flatnonzero(held_out(ratings, 0.1))[:5].tolist() == [10, 17, 23, 33, 54]
